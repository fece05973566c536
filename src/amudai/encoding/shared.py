"""Decompression with a dictionary that all blocks of a buffer share."""

from __future__ import annotations

from threading import local
from typing import Final

import zstandard

from amudai.format import SharedDictionary
from amudai.lazy import lazy

__all__ = ["SharedDecoder"]

_WINDOW: Final = 1 << 27  # as for frames without a dictionary


class SharedDecoder:
    """Zstandard with a dictionary. Threads share the digested dictionary, and each has a decompressor of its own."""

    def __init__(self, dictionary: SharedDictionary) -> None:
        self.dictionary = dictionary
        self._threads = local()

    def decompressor(self) -> zstandard.ZstdDecompressor:
        """The decompressor of this thread."""
        found: zstandard.ZstdDecompressor | None = getattr(self._threads, "zstd", None)
        if found is None:
            found = zstandard.ZstdDecompressor(dict_data=self._digested, max_window_size=_WINDOW)
            self._threads.zstd = found
        return found

    @lazy
    def _digested(self) -> zstandard.ZstdCompressionDict:
        return zstandard.ZstdCompressionDict(self.dictionary.content)
