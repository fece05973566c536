"""Zstandard frames, raw LZ4 and Snappy blocks and pages of Pco, as numeric and binary blocks hold them."""

from typing import Any

import lz4.block
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash
import zstandard

from tests.oracle.common import OracleError, require, size_of

# What the format's readers accept; the library's own default.
MAX_WINDOW = 1 << 27

# What all shared regions of the tests are compressed with: words of the values that tests make, and others.
DICTIONARY = b"lorem ipsum dolor sit amet GET /api/v1/items?id= error: connection to host timed out after ms " * 3
_DIGEST = xxhash.xxh3_64_intdigest(DICTIONARY)
DICTIONARY_CHECKSUM = _DIGEST >> 32 ^ _DIGEST & 0xFFFFFFFF


def zstd_compress(data: bytes, level: int = 3) -> bytes:
    """One frame without content size: streams do not know it, and files in the wild come from streams."""
    compressor = zstandard.ZstdCompressor(level=level, write_content_size=False).compressobj()
    return compressor.compress(data) + compressor.flush()


def zstd_decompress(payload: bytes, size: int) -> bytes:
    """The `size` bytes of one or more whole frames with nothing behind them."""
    require(len(payload) > 0, "zstd: expected a frame, found no bytes")
    data = bytearray()
    while payload:
        frame = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW).decompressobj()
        try:
            data += frame.decompress(payload)
        except zstandard.ZstdError as error:
            raise OracleError(f"zstd: {error}") from error
        require(frame.eof, "zstd: expected a whole frame, found its beginning only")
        payload = frame.unused_data
    require(len(data) == size, f"zstd: expected {size} bytes, found {len(data)}")
    return bytes(data)


def lz4_compress(data: bytes) -> bytes:
    """The size as u32, then a raw LZ4 block."""
    return len(data).to_bytes(4, "little") + lz4.block.compress(data, store_size=False)


def lz4_decompress(payload: bytes, size: int) -> bytes:
    """The `size` bytes of a raw LZ4 block that stands behind their number."""
    require(len(payload) >= 4, f"lz4: expected a size of 4 bytes, found {len(payload)}")
    stated = int.from_bytes(payload[:4], "little")
    require(stated == size, f"lz4: expected {size} bytes, found a stated size of {stated}")
    try:
        data = lz4.block.decompress(payload[4:], uncompressed_size=size)
    except lz4.block.LZ4BlockError as error:
        raise OracleError(f"lz4: {error}") from error
    require(len(data) == size, f"lz4: expected {size} bytes, found {len(data)}")
    return bytes(data)


def shared_zstd_compress(data: bytes) -> bytes:
    """One frame that needs the dictionary, which the frame does not name."""
    known = zstandard.ZstdCompressionDict(DICTIONARY)
    return zstandard.ZstdCompressor(dict_data=known, write_dict_id=False).compress(data)


def shared_zstd_decompress(payload: bytes, size: int) -> bytes:
    """The `size` bytes of one whole frame that needs the dictionary."""
    known = zstandard.ZstdCompressionDict(DICTIONARY)
    frame = zstandard.ZstdDecompressor(dict_data=known, max_window_size=MAX_WINDOW).decompressobj()
    try:
        data = frame.decompress(payload)
    except zstandard.ZstdError as error:
        raise OracleError(f"zstd: {error}") from error
    require(frame.eof and not frame.unused_data, "zstd: expected one whole frame")
    require(len(data) == size, f"zstd: expected {size} bytes, found {len(data)}")
    return bytes(data)


def shared_lz4_compress(data: bytes) -> bytes:
    """The size as u32, then a raw LZ4 block that needs the dictionary."""
    return len(data).to_bytes(4, "little") + lz4.block.compress(data, store_size=False, dict=DICTIONARY)


def shared_lz4_decompress(payload: bytes, size: int) -> bytes:
    """The `size` bytes of a raw LZ4 block whose matches may begin in the dictionary."""
    require(len(payload) >= 4, f"lz4: expected a size of 4 bytes, found {len(payload)}")
    stated = int.from_bytes(payload[:4], "little")
    require(stated == size, f"lz4: expected {size} bytes, found a stated size of {stated}")
    data, at = bytearray(DICTIONARY), 4

    def length(found: int) -> int:
        nonlocal at
        more = 255 if found == 15 else 0
        while more == 255:
            require(at < len(payload), "lz4: ends inside a length")
            more, at = payload[at], at + 1
            found += more
        return found

    while True:
        require(at < len(payload), "lz4: ends before its values do")
        token, at = payload[at], at + 1
        literals = length(token >> 4)
        require(at + literals <= len(payload), "lz4: ends inside literals")
        data += payload[at : at + literals]
        at += literals
        if at == len(payload):
            break
        require(at + 2 <= len(payload), "lz4: ends inside a distance")
        distance, at = int.from_bytes(payload[at : at + 2], "little"), at + 2
        require(0 < distance <= len(data), f"lz4: a distance of {distance} after {len(data)} bytes")
        for _ in range(length(token & 15) + 4):
            data.append(data[-distance])
        require(len(data) - len(DICTIONARY) <= size, f"lz4: expected {size} bytes, found more")
    require(len(data) - len(DICTIONARY) == size, f"lz4: expected {size} bytes, found {len(data) - len(DICTIONARY)}")
    return bytes(data[len(DICTIONARY) :])


def snappy_compress(data: bytes) -> bytes:
    """One Snappy block."""
    return pa.compress(data, codec="snappy", asbytes=True)  # type: ignore[no-any-return]


def snappy_decompress(payload: bytes, size: int) -> bytes:
    """The `size` bytes of one Snappy block: a size in groups of seven bits, then literals and copies."""
    stated = at = 0
    for shift in range(0, 35, 7):
        require(at < len(payload), "snappy: ends inside its size")
        stated |= (payload[at] & 0x7F) << shift
        at += 1
        if payload[at - 1] < 0x80:
            break
    else:
        raise OracleError("snappy: a size of more than five bytes")
    require(stated == size, f"snappy: expected {size} bytes, found a stated size of {stated}")

    def number(count: int) -> int:
        nonlocal at
        require(at + count <= len(payload), "snappy: ends inside an element")
        at += count
        return int.from_bytes(payload[at - count : at], "little")

    data = bytearray()
    while at < len(payload):
        tag = number(1)
        if tag & 3 == 0:
            length = (tag >> 2 if tag >> 2 < 60 else number((tag >> 2) - 59)) + 1
            require(at + length <= len(payload), "snappy: ends inside literals")
            data += payload[at : at + length]
            at += length
        else:
            short = tag & 3 == 1
            length = (tag >> 2 & 7) + 4 if short else (tag >> 2) + 1
            distance = tag >> 5 << 8 | number(1) if short else number(2 * (tag & 3) - 2)
            require(0 < distance <= len(data), f"snappy: a distance of {distance} after {len(data)} bytes")
            for _ in range(length):
                data.append(data[-distance])
        require(len(data) <= size, f"snappy: expected {size} bytes, found more")
    require(len(data) == size, f"snappy: expected {size} bytes, found {len(data)}")
    return bytes(data)


def pco_compress(values: npt.NDArray[Any]) -> bytes:
    """Header, metadata of a chunk, and a page of all values."""
    from pcodec import ChunkConfig, PagingSpec
    from pcodec.wrapped import FileCompressor

    file = FileCompressor()
    chunk = file.chunk_compressor(values, ChunkConfig(paging_spec=PagingSpec.exact_page_sizes([len(values)])))
    return bytes(file.write_header() + chunk.write_meta() + chunk.write_page(0))


def pco_decompress(payload: bytes, count: int, dtype: str) -> bytes:
    """The raw values of one page with nothing behind it."""
    from pcodec.wrapped import FileDecompressor

    values = np.empty(count, dtype)
    try:
        file, at = FileDecompressor.new(payload)
        chunk, size = file.chunk_decompressor(payload[at:], dtype=f"{dtype[0]}{8 * size_of(dtype)}")
        at += size
        progress, size = chunk.read_page_into(payload[at:], page_n=count, dst=values)
    except RuntimeError as error:
        raise OracleError(f"pco: {error}") from error
    require(progress.finished and progress.n_processed == count, f"pco: expected {count} values")
    require(at + size == len(payload), f"pco: expected {at + size} bytes, found {len(payload)}")
    return values.tobytes()
