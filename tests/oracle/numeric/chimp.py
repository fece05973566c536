"""Chimp: the bits in which each float differs from the one before it."""

from tests.oracle.common import FLOATS, bits_of, header_size, make_header, read_header, require

CODE = 0x8002
TYPES = FLOATS
FIELDS = ""

LEADING = (0, 8, 12, 16, 18, 20, 22, 24)
SIZE_BITS = {"f4": 5, "f8": 6}


class Bits:
    """A string of bits, lowest first, that is read from its beginning."""

    def __init__(self, data: bytes) -> None:
        self.joined, self.size, self.at = int.from_bytes(data, "little"), 8 * len(data), 0

    def take(self, count: int) -> int:
        require(self.at + count <= self.size, f"chimp: expected {count} bits at {self.at}, found {self.size} in all")
        found = self.joined >> self.at & ((1 << count) - 1)
        self.at += count
        return found


def decode(section: bytes, count: int, dtype: str, offset: int = 0) -> list[int]:
    """The first value, then each value as its predecessor with some bits changed."""
    read_header(section, CODE, FIELDS)
    width, stream = bits_of(dtype), Bits(section[header_size(FIELDS) :])
    values, leading = [stream.take(width)], None
    while len(values) < count:
        kind, changed = stream.take(2), 0
        if kind == 1:
            zeros, size = LEADING[stream.take(3)], stream.take(SIZE_BITS[dtype])
            require(1 <= size <= width - zeros, f"chimp: expected 1..{width - zeros} bits, found {size}")
            changed = stream.take(size) << (width - zeros - size)
        elif kind >= 2:
            leading = LEADING[stream.take(3)] if kind == 3 else leading
            require(leading is not None, "chimp: expected leading zeros before, found none")
            assert leading is not None
            changed = stream.take(width - leading)
        leading = leading if kind >= 2 else None
        values.append(values[-1] ^ changed)
    require((stream.at + 7) // 8 * 8 == stream.size, f"chimp: expected {stream.at} bits, found {stream.size}")
    return values


def encode(values: list[int], dtype: str) -> bytes:
    """The shortest form of each difference, as Chimp chooses it."""
    width = bits_of(dtype)
    joined, at, before, leading = values[0], width, values[0], None

    def put(number: int, count: int) -> None:
        nonlocal joined, at
        joined |= number << at
        at += count

    for value in values[1:]:
        changed, before = value ^ before, value
        if changed == 0:
            put(0, 2)
            leading = None
            continue
        index = max(i for i, zeros in enumerate(LEADING) if zeros <= width - changed.bit_length())
        kept, trailing = width - LEADING[index], (changed & -changed).bit_length() - 1
        if trailing > 6:
            put(1 | index << 2, 5)
            put(kept - trailing, SIZE_BITS[dtype])
            put(changed >> trailing, kept - trailing)
            leading = None
        elif index == leading:
            put(2, 2)
            put(changed, kept)
        else:
            put(3 | index << 2, 5)
            put(changed, kept)
            leading = index
    return make_header(CODE, FIELDS) + joined.to_bytes((at + 7) // 8, "little")
