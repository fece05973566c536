"""The shards of a folder, of a prefix of URLs, or of a list."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias
from urllib.parse import unquote

from amudai.arguments import path_text, shown
from amudai.errors import InvalidArgument, MissingFile, located
from amudai.storage import Store, StoredFile, open_store

__all__ = ["CATALOG_NAME", "SHARD_SUFFIX", "Found", "FoundShard", "Locations", "find_shards"]

SHARD_SUFFIX: Final = ".amudai.shard"
# Names that begin with `_` or `.` are no shards of a dataset, and neither is anything in folders with such names.
CATALOG_NAME: Final = "_catalog.amudai.shard"

Locations: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]"


@dataclass(frozen=True, slots=True)
class FoundShard:
    """A shard that was found.

    Attributes
    ----------
    name
        The name of the shard in its dataset: its path below the folder, or its URL if the dataset is a list.
    size, modified
        Facts by which the file is recognised in a catalog; None if nobody asked the store for them.
    """

    name: str
    url: str
    size: int | None = None
    modified: int | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The shards of a dataset, in the order of their names, or in the order of the list.

    Attributes
    ----------
    folder
        The URL of the folder, with a slash at its end; None for a list.
    catalog
        The URL of the catalog in the folder, if there is one.
    """

    store: Store
    folder: str | None
    shards: tuple[FoundShard, ...]
    catalog: str | None = None


def find_shards(locations: Locations, store: object | None = None) -> Found:
    """The shards at these places.

    A folder has the shards below it whose names end in `.amudai.shard`, but none with a hidden name (`_` or `.` at the
    beginning of the name or of a folder). A list has shards and folders.
    """
    if isinstance(locations, str | os.PathLike):
        return _at(locations, store)
    if not isinstance(locations, Sequence) or not locations:
        raise InvalidArgument(
            f"locations: expected a folder, or a list with at least one shard, found {shown(locations)}"
        )
    found = [_at(each, store) for each in locations]
    shards = [shard for each in found for shard in (each.shards if each.folder is None else _by_url(each))]
    twice = {shard.url for shard in shards if sum(shard.url == other.url for other in shards) > 1} if shards else set()
    if len({shard.url for shard in shards}) < len(shards):
        raise InvalidArgument(f"locations: expected each shard once, found {sorted(twice)[0]} twice")
    return Found(found[0].store, None, tuple(shards))


def _by_url(found: Found) -> tuple[FoundShard, ...]:
    return tuple(FoundShard(shard.url, shard.url, shard.size, shard.modified) for shard in found.shards)


def _at(location: str | os.PathLike[str], store: object | None) -> Found:
    try:
        text = path_text(location, "locations")
    except TypeError as error:
        raise InvalidArgument(f"locations: expected a path or a URL, found {shown(location)}") from error
    if not text.endswith("/") and (text.endswith(SHARD_SUFFIX) or _is_local_file(text, store)):
        opened, url = open_store(location, store)
        return Found(opened, None, (FoundShard(url, url),))
    # A folder has no name to open: any name inside has its store.
    opened, inside = open_store(f"{text.rstrip('/')}/x" if text else "x", store)
    folder = inside[:-1]
    with located(url=folder):
        if not opened.capabilities.listable:
            raise InvalidArgument("locations: expected a list of shards, because this store lists no folder")
        files = sorted(opened.files_below(folder), key=lambda file: file.url)
    shards: list[FoundShard] = []
    catalog = None
    for file in files:
        name = _below(folder, file)
        if name == CATALOG_NAME:
            catalog = file.url
        elif name.endswith(SHARD_SUFFIX) and not any(part[:1] in ("_", ".") for part in name.split("/")):
            shards.append(FoundShard(name, file.url, file.size, file.modified))
    if not files and not _is_local_folder(opened, folder):
        raise MissingFile("folder: expected one with shards, found none", url=folder)
    return Found(opened, folder, tuple(shards), catalog)


def _below(folder: str, file: StoredFile) -> str:
    name = file.url.removeprefix(folder)
    return unquote(name) if folder.startswith("file://") else name


def _is_local_file(text: str, store: object | None) -> bool:
    return store is None and "://" not in text and os.path.isfile(text)


def _is_local_folder(store: Store, folder: str) -> bool:
    return store.capabilities.local_path and os.path.isdir(os.path.dirname(store.local_path(f"{folder}x", new=True)))
