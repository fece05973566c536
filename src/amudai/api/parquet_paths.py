"""The Parquet files that paths, folders, patterns, URLs and Arrow datasets mean."""

from __future__ import annotations

import fnmatch
import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from amudai.arguments import path_text, shown
from amudai.errors import InvalidArgument, MissingFile
from amudai.storage import Store, container, file_url, open_store

__all__ = ["ParquetInputs", "ParquetPath", "parquet_paths"]

# What a caller passes: paths, folders, patterns, URLs, or a dataset of `pyarrow.dataset`.
ParquetInputs: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | Any"

_ENDINGS: Final = (".parquet", ".pq", ".parq")


@dataclass(frozen=True, slots=True)
class ParquetPath:
    """A Parquet file.

    Attributes
    ----------
    store, url
        Where it is.
    path
        Its name as the caller gave it, or as its folder lists it. Folders such as `year=2024` give columns.
    values
        What an Arrow dataset says about the columns that folders give; None if the names of folders tell.
    """

    store: Store
    url: str
    path: str
    values: Mapping[str, object] | None = field(default=None)


def parquet_paths(files: ParquetInputs, store: object | None) -> tuple[list[ParquetPath], list[str]]:
    """The files in the order of their names, and the patterns by which they are found again.

    Raises MissingFile if there are none.
    """
    if hasattr(files, "get_fragments") and hasattr(files, "files"):
        return _of_dataset(files, store), []
    given = [files] if isinstance(files, str | os.PathLike) else files
    if not isinstance(given, Sequence) or not given:
        raise InvalidArgument(f"files: expected paths of Parquet files or an Arrow dataset, found {shown(files)}")
    found: dict[str, ParquetPath] = {}
    patterns = []
    for each in given:
        if not isinstance(each, str | os.PathLike):
            raise InvalidArgument(f"files: expected paths of Parquet files, found {shown(each)}")
        text = path_text(each, "files")
        local = store is None and ("://" not in text or text.startswith("file://"))
        patterns.append(os.path.abspath(text) if local and "://" not in text else text)
        for path in _local(text) if local else _stored(text, store):
            found.setdefault(path.url, path)
    return list(found.values()), patterns


def _local(text: str) -> Iterator[ParquetPath]:
    store, url = open_store(text)
    path = store.local_path(url) if text.startswith("file://") else text
    if os.path.isdir(path):
        names = [
            os.path.join(folder, name)
            for folder, _, within in os.walk(path)
            for name in within
            if name.endswith(_ENDINGS) and not _is_hidden(os.path.relpath(os.path.join(folder, name), path))
        ]
    elif os.path.exists(path) or not glob.has_magic(path):
        names = [path]
    else:
        names = [name for name in glob.glob(path, recursive=True) if os.path.isfile(name)]
    if not names:
        raise MissingFile("files: expected Parquet files, found none", file=text)
    for name in sorted(names):
        yield ParquetPath(store, file_url(name), name)


def _stored(text: str, store: object | None) -> Iterator[ParquetPath]:
    found, url = open_store(f"{text}_" if text.endswith("/") else text, store)
    if not glob.has_magic(text) and text.endswith(_ENDINGS):
        yield ParquetPath(found, url, text)
        return
    # A pattern's folder is what comes before its first sign.
    plain = url if not glob.has_magic(url) else url[: min(url.find(sign) for sign in "*?[" if sign in url)]
    folder = container(plain) if glob.has_magic(text) or text.endswith("/") else f"{url}/"
    listed = sorted(each.url for each in found.files_below(folder))
    names = [
        name
        for name in listed
        if (fnmatch.fnmatchcase(name, url) if glob.has_magic(text) else name.endswith(_ENDINGS))
        and not _is_hidden(name[len(folder) :])
    ]
    if not names:
        raise MissingFile("files: expected Parquet files, found none", url=text)
    for name in names:
        yield ParquetPath(found, name, name)


def _is_hidden(path: str) -> bool:
    return any(part[:1] in (".", "_") for part in path.split(os.sep))


def _of_dataset(dataset: Any, store: object | None) -> list[ParquetPath]:
    from pyarrow import fs
    from pyarrow.dataset import get_partition_keys

    found = []
    for fragment in dataset.get_fragments():
        if fragment.format.default_extname != "parquet":
            name = fragment.format.default_extname
            raise InvalidArgument(f"files: expected a dataset of Parquet files, found one of {name}")
        values = get_partition_keys(fragment.partition_expression)
        if isinstance(fragment.filesystem, fs.LocalFileSystem) and store is None:
            local, _ = open_store(fragment.path)
            found.append(ParquetPath(local, file_url(fragment.path), fragment.path, values))
        else:
            opened, url = open_store(fragment.path, fragment.filesystem if store is None else store)
            found.append(ParquetPath(opened, url, fragment.path, values))
    if not found:
        raise MissingFile("files: expected a dataset with files, found none")
    return found
