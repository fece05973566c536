"""The store of a `pyarrow.fs.FileSystem`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from amudai.errors import MissingFile, StorageError, UnsupportedFeature
from amudai.storage.contract import Store, StoreCapabilities
from amudai.storage.foreign import FOLDER, MISSING, translated
from amudai.storage.recent import Recent

__all__ = ["ArrowStore"]

MAX_OPEN: Final = 64
PARALLEL: Final = 8  # Arrow reads one range per call; over a network their waiting times must overlap


class ArrowStore(Store):
    """Files of a `pyarrow.fs.FileSystem`; a URL is a path in it. It reads only: Arrow has no create-only write."""

    capabilities = StoreCapabilities()

    def __init__(self, filesystem: Any) -> None:
        super().__init__()
        self._filesystem = filesystem
        self._files: Recent[Any] = Recent(MAX_OPEN)  # opening asks S3 for the size again

    def forget(self, url: str) -> None:
        """Let go of one file, if it is open: another file has its name by now."""
        self._files.drop(url)

    def close(self) -> None:
        """Let go of all files."""
        self._files.clear()

    def _size(self, url: str) -> int:
        with translated():
            info = self._filesystem.get_file_info(url)
        if not info.is_file:
            raise MissingFile(MISSING) if info.type.name == "NotFound" else StorageError(FOLDER)
        return int(info.size)

    def _fetch(self, url: str, ranges: Sequence[tuple[int, int]]) -> Sequence[bytes]:
        with translated():
            file = self._files.get(url, self._filesystem.open_input_file)
            if len(ranges) == 1:
                return [_read(file, ranges[0])]
            with ThreadPoolExecutor(PARALLEL) as pool:
                return list(pool.map(lambda each: _read(file, each), ranges))

    def _put(self, url: str, parts: Iterable[bytes]) -> None:  # noqa: ARG002 - refused before it is looked at
        raise UnsupportedFeature(
            "writing: expected a store that creates a file only where there is none, found a pyarrow file system, "
            "which cannot; write to a local path, or pass an obstore store"
        )


def _read(file: Any, part: tuple[int, int]) -> bytes:
    start, end = part
    content: bytes = file.read_at(end - start, start)
    return content
