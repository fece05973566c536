"""Entropy-coded numbers through the package `pcodec`, an extra.

A payload is what the package calls wrapped: its header, the metadata of one chunk, and one page. The number of values
is not in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from amudai.errors import CorruptedData, UnsupportedFeature

__all__ = ["compress_pco", "has_pco", "inflate_pco"]


def has_pco() -> bool:
    """Whether the package is installed."""
    try:
        import pcodec  # noqa: F401 - an extra
    except ImportError:
        return False
    return True


def compress_pco(raw: bytes, dtype: str) -> bytes:
    """The payload for raw values of this type; nothing if the package does not give them back bit by bit."""
    from pcodec import ChunkConfig, PagingSpec
    from pcodec.wrapped import FileCompressor

    values = np.frombuffer(raw, dtype)
    file = FileCompressor()
    chunk = file.chunk_compressor(values, ChunkConfig(paging_spec=PagingSpec.exact_page_sizes([len(values)])))
    payload = file.write_header() + chunk.write_meta() + chunk.write_page(0)
    back = np.empty(len(raw), np.uint8)
    inflate_pco(payload, dtype, back.data)
    return payload if back.tobytes() == raw else b""


def inflate_pco(payload: bytes, dtype: str, place: memoryview) -> None:
    """Fill `place` with the values of a payload. Raises UnsupportedFeature if the package is not installed."""
    try:
        from pcodec.wrapped import FileDecompressor
    except ImportError as error:
        message = "encoding pco: expected the package pcodec, found none: pip install 'amudai[pcodec]'"
        raise UnsupportedFeature(message) from error
    values = np.frombuffer(place, dtype)
    try:
        file, at = FileDecompressor.new(payload)
        chunk, size = file.chunk_decompressor(payload[at:], dtype=_NAMES[dtype])
        at += size
        progress, size = chunk.read_page_into(payload[at:], page_n=len(values), dst=values)
    except (RuntimeError, TypeError) as error:
        raise CorruptedData(f"pco section: {error}") from error
    except BaseException as error:
        raise _panic(error) from error
    if not progress.finished or progress.n_processed != len(values):
        raise CorruptedData(f"pco section: expected {len(values)} values, found {progress.n_processed}")
    if at + size != len(payload):
        raise CorruptedData(f"pco section: expected {at + size} bytes, found {len(payload)}")


def _panic(error: BaseException) -> BaseException:
    """What to raise for `error`: a broken assumption of the package about its input is damage."""
    return CorruptedData(f"pco section: {error}") if type(error).__name__ == "PanicException" else error


_NAMES: dict[str, Any] = {
    f"{kind}{width}": f"{kind}{8 * width}" for kind in "iuf" for width in (2, 4, 8) if (kind, width) != ("f", 2)
}
