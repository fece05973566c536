"""Shards and datasets from what users of engines pass: paths, URLs, or what is open already.

Tasks of engines run in many short processes. So that they start soon, nothing that writes is imported here.
"""

from __future__ import annotations

import os

from amudai.api import Tabular, dataset
from amudai.api import open as open_shard
from amudai.arguments import path_text
from amudai.datasets import SHARD_SUFFIX
from amudai.errors import MissingFile
from amudai.storage import open_store

__all__ = ["opened"]


def opened(source: Tabular | str | os.PathLike[str]) -> Tabular:
    """A shard or dataset, opened if it is a path or URL. A folder is a dataset."""
    if isinstance(source, Tabular):
        return source
    text = path_text(source, "source")
    if text.endswith("/"):
        return dataset(source)
    store, url = open_store(source)
    if store.capabilities.local_path:
        return dataset(source) if os.path.isdir(store.local_path(url)) else open_shard(source)
    try:
        return open_shard(source)  # a shard may have any name
    except MissingFile:
        if text.endswith(SHARD_SUFFIX):
            raise
        return dataset(source)
