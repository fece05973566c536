"""Which files earlier runs took into the shards of a folder."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Final

from amudai.format import Properties, source_mark, source_marks_of, source_marks_property
from amudai.shard import ShardReader
from amudai.sources.files import InputFile
from amudai.sources.remote import files_in
from amudai.storage import LocalStore, container

__all__ = ["TakenIn", "noted_files"]

_SHARD: Final = ".amudai.shard"


class TakenIn:
    """The files that the shards of a folder note as their sources.

    Parameters
    ----------
    folder
        A path or the URL of a folder in a store that can list its files.
    """

    def __init__(self, folder: str) -> None:
        self._folder = _folder(folder)
        self._marks: dict[int, str] = {}
        for location in _shards_in(self._folder):
            reader = ShardReader(location)
            try:
                for mark in source_marks_of(reader.properties):
                    self._marks[mark] = location
            finally:
                reader.close()

    def __call__(self, file: InputFile) -> str | None:
        """Why a file is left out; None if it is new, or has changed."""
        mark = _mark(file, self._folder)
        shard = None if mark is None else self._marks.get(mark)
        return None if shard is None else f"it is in {os.path.basename(shard)} already"


def noted_files(files: Iterable[InputFile], location: str | os.PathLike[str]) -> Properties:
    """The property with which a shard at `location` notes the files that it was made from."""
    folder = _folder(container(os.fsdecode(location)))
    marks = [_mark(file, folder) for file in files]
    return source_marks_property(mark for mark in marks if mark is not None)


def _folder(folder: str) -> str:
    if folder.startswith("file://"):
        folder = LocalStore().local_path(folder.rstrip("/"))
    return f"{folder.rstrip('/')}/" if "://" in folder else os.path.abspath(folder)


def _mark(file: InputFile, folder: str) -> int | None:
    """The mark of a file. A local file is known by its path from a local folder, so that both can be moved together."""
    identity = file.content.identity()
    if identity is None:
        return None
    if "://" not in identity and "://" not in folder:
        identity = os.path.relpath(identity, folder)
    return source_mark(identity, file.content.size(), file.content.modified())


def _shards_in(folder: str) -> list[str]:
    if "://" in folder:
        return [url for url, _ in files_in(folder) if container(url) == folder and url.endswith(_SHARD)]
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    return [os.path.join(folder, name) for name in names if name.endswith(_SHARD)]
