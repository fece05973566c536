"""FSST: one stream of codes over the joined values; each code stands for a symbol of one to eight bytes."""

from collections import Counter

from tests.oracle.binary import offsets
from tests.oracle.common import Encoder, align8, header_size, make_header, pad8, read_header, require, rest, take

CODE = 15
FIELDS = "BIBB"  # symbols, bytes of the codes, offsets are nested, offset width
ESCAPE = 255


def decode(region: bytes, count: int, fixed_size: int | None, presence: list[bool]) -> list[bytes | None]:
    """The values cut from the decoded stream; symbols cross their borders freely."""
    symbol_count, codes_size, nested, width = read_header(region, CODE, FIELDS)
    offsets.require_width(width, fixed_size)
    at = header_size(FIELDS)
    table = take(region, at, 9 * symbol_count)
    lengths = table[8 * symbol_count :]
    for length in lengths:
        require(1 <= length <= 8, f"FSST symbol: expected 1..8 bytes, found {length}")
    symbols = [table[8 * i : 8 * i + length] for i, length in enumerate(lengths)]
    stream = take(region, at + 9 * symbol_count, codes_size)
    at += align8(9 * symbol_count + codes_size)
    found = offsets.decode(rest(region, at), count, fixed_size, bool(nested), at)
    return list(offsets.cut(_expand(stream, symbols), found))


def _expand(stream: bytes, symbols: list[bytes]) -> bytes:
    out, at = [], 0
    while at < len(stream):
        code = stream[at]
        if code == ESCAPE:
            out.append(take(stream, at + 1, 1))
            at += 2
        else:
            require(code < len(symbols), f"FSST code: expected below {len(symbols)}, found {code}")
            out.append(symbols[code])
            at += 1
    return b"".join(out)


def encode(
    values: list[bytes],
    fixed_size: int | None = None,
    symbols: list[bytes] | None = None,
    nested_offsets: Encoder | None = None,
) -> bytes:
    """The longest symbol that fits, step by step; bytes without a symbol are escaped."""
    data = b"".join(values)
    symbols = frequent(data) if symbols is None else symbols
    require(len(symbols) <= 255, f"FSST symbols: expected at most 255, found {len(symbols)}")
    require(all(1 <= len(symbol) <= 8 for symbol in symbols), "FSST symbols: expected 1..8 bytes each")
    stream, at = bytearray(), 0
    while at < len(data):
        matches = [symbol for symbol in symbols if data.startswith(symbol, at)]
        if matches:
            symbol = max(matches, key=len)
            stream.append(symbols.index(symbol))
            at += len(symbol)
        else:
            stream += bytes([ESCAPE, data[at]])
            at += 1
    table = b"".join(symbol.ljust(8, b"\0") for symbol in symbols) + bytes(len(symbol) for symbol in symbols)
    nested = fixed_size is None and nested_offsets is not None
    width = offsets.WIDTH if fixed_size is None else 0
    header = make_header(CODE, FIELDS, len(symbols), len(stream), nested, width)
    return header + pad8(table + stream) + offsets.encode(values, fixed_size, nested_offsets)


def frequent(data: bytes, limit: int = 255) -> list[bytes]:
    """A simple table: the most frequent pairs of bytes, then the most frequent bytes. Never empty."""
    pairs = Counter(data[i : i + 2] for i in range(len(data) - 1))
    singles = Counter(data[i : i + 1] for i in range(len(data)))
    found = [pair for pair, count in pairs.most_common(limit // 2) if count > 1]
    found += [single for single, _ in singles.most_common(limit - len(found))]
    return found or [b"\0"]
