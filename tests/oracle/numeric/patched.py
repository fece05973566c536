"""Patched: distances from a reference in few bits, and exceptions, which need more."""

from tests.oracle import bits
from tests.oracle.common import INTEGERS, bits_of, header_size, make_header, read_header, require, take, unsigned, wrap

CODE = 0x8001
TYPES = INTEGERS
FIELDS = {"1": "BBIBB", "2": "BBIHH", "4": "BBIII", "8": "BBIQQ"}  # widths, exceptions, reference, least


def join(numbers: list[int], width: int) -> bytes:
    """Numbers of `width` bits, one after the other, lowest bit first."""
    joined = sum(number << (at * width) for at, number in enumerate(numbers))
    return joined.to_bytes((len(numbers) * width + 7) // 8, "little")


def cut(data: bytes, count: int, width: int) -> list[int]:
    """What `join` has joined."""
    joined = int.from_bytes(data, "little")
    return [joined >> (at * width) & ((1 << width) - 1) for at in range(count)]


def decode(section: bytes, count: int, dtype: str, offset: int = 0) -> list[int]:
    """Reference plus distance; where there is an exception, the least value plus its distance."""
    fields = FIELDS[dtype[1]]
    width, excess, exceptions, reference, least = read_header(section, CODE, fields)
    require(width <= bits_of(dtype), f"patched width: expected up to {bits_of(dtype)}, found {width}")
    require(excess <= bits_of(dtype), f"patched excess: expected up to {bits_of(dtype)}, found {excess}")
    require(exceptions <= count, f"patched exceptions: expected up to {count}, found {exceptions}")
    at, whole, left = header_size(fields), count // bits.CHUNK, count % bits.CHUNK
    distances = [0] * (whole * bits.CHUNK)
    if width and whole:
        distances = bits.unpack_all(take(section, at, whole * 128 * width), whole * bits.CHUNK, width, dtype)
    parts = []
    at += whole * 128 * width
    for numbers, size in ((left, width), (exceptions, (count - 1).bit_length()), (exceptions, excess)):
        length = (numbers * size + 7) // 8
        parts.append(cut(take(section, at, length), numbers, size))
        at += length
    require(at == len(section), f"patched: expected {at} bytes, found {len(section)}")
    tail, positions, far = parts
    values = [wrap(reference + distance, dtype) for distance in distances + tail]
    require(positions == sorted(set(positions)), "patched positions: expected ascending ones")
    require(not positions or positions[-1] < count, f"patched position: expected below {count}")
    for position, distance in zip(positions, far, strict=True):
        values[position] = wrap(least + distance, dtype)
    return values


def encode(values: list[int], dtype: str, reference: int | None = None, width: int | None = None) -> bytes:
    """Values from `reference` on that `width` bits hold, by default half as many as all need; others as exceptions."""
    least = min(values)
    excess = (max(values) - least).bit_length()
    reference = least if reference is None else reference
    width = excess // 2 if width is None else width
    distances = [wrap(value - reference, unsigned(dtype)) for value in values]
    positions = [at for at, distance in enumerate(distances) if distance >= 1 << width]
    near = [0 if distance >= 1 << width else distance for distance in distances]
    header = make_header(
        CODE,
        FIELDS[dtype[1]],
        width,
        excess,
        len(positions),
        wrap(reference, unsigned(dtype)),
        wrap(least, unsigned(dtype)),
    )
    whole = len(values) // bits.CHUNK * bits.CHUNK
    packed = bits.pack_all(near[:whole], width, dtype) if width and whole else b""
    places = join(positions, (len(values) - 1).bit_length())
    return header + packed + join(near[whole:], width) + places + join([values[at] - least for at in positions], excess)
