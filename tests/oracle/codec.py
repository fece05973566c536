"""Zstandard frames and raw LZ4 blocks, as both numeric and binary blocks hold them."""

import lz4.block
import zstandard

from tests.oracle.common import OracleError, require

# What the format's readers accept; the library's own default.
MAX_WINDOW = 1 << 27


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
