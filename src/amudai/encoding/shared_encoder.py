"""Compression with a dictionary that all blocks of a buffer share, and the training of such dictionaries."""

from __future__ import annotations

from threading import local
from typing import Any

import numpy as np
import zstandard

from amudai import _kernels
from amudai.encoding.codec import zstd_parameters
from amudai.format import checksum, encode_shared
from amudai.lazy import lazy

__all__ = ["SharedEncoder"]


class SharedEncoder:
    """Zstandard and LZ4 with a dictionary, whose bytes are `content`."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.checksum = checksum(content)
        self._threads = local()

    def buffer(self) -> bytes:
        """The buffer that holds the dictionary."""
        return encode_shared(self.content)

    def compress_lz4(self, data: Any) -> bytes:
        """One LZ4 block without a frame, by the kernels' thorough search."""
        return self._lz4.compress(np.frombuffer(data, np.uint8))

    def compress_zstd(self, data: Any, level: int) -> bytes:
        """One Zstandard frame that states its size but not its dictionary, which the block names."""
        compressors: dict[int, zstandard.ZstdCompressor] | None = getattr(self._threads, "zstd", None)
        if compressors is None:
            compressors = self._threads.zstd = {}
        if level not in compressors:
            parameters = zstd_parameters(level, write_dict_id=False)
            digested = zstandard.ZstdCompressionDict(self.content)
            digested.precompute_compress(compression_params=parameters)
            compressors[level] = zstandard.ZstdCompressor(dict_data=digested, compression_params=parameters)
        return bytes(compressors[level].compress(data))

    @lazy
    def _lz4(self) -> _kernels.Lz4Dictionary:
        return _kernels.Lz4Dictionary(np.frombuffer(self.content, np.uint8))
