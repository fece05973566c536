"""Adding rows to shards and folders that are there."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, Literal

import pyarrow as pa

from amudai.api.dataset_writing import folder_path, new_shard_name
from amudai.api.datasets import Dataset, dataset
from amudai.api.merging import merged
from amudai.api.opening import open as open_shard
from amudai.api.outcome import Outcome
from amudai.api.requested import Bloom
from amudai.api.shard import Shard
from amudai.api.storing_options import options_for
from amudai.api.writing import write
from amudai.arrow import batches_of
from amudai.datasets import SHARD_SUFFIX, find_shards
from amudai.encoding import ProfileChoice
from amudai.errors import ReplacedFile, StorageError, UnsupportedFeature
from amudai.index import IndexSpec, specs_of
from amudai.sources import Source
from amudai.storage import MAX_READ, Allow, Size, Store, container, file_url, open_store

__all__ = ["append", "append_parts"]

# So often the root of a shard may be replaced by others while rows are added to it.
_MOST_CONFLICTS: Final = 100


def append(
    target: str | os.PathLike[str],
    data: Any,
    *,
    profile: ProfileChoice = "balanced",
    indexes: Sequence[IndexSpec] | None = None,
    bloom: Bloom = (),
    distinct: Sequence[str] = (),
    properties: Mapping[str, object] | None = None,
    memory_limit: Size = "512MB",
    store: object | None = None,
    threads: int | None = None,
    allow: Allow = (),
) -> Shard | Dataset:
    """Add rows to a folder of shards, or to one shard.

    A folder gets one more shard. A shard (`logs.amudai.shard`) stays one shard: the rows are written to a file beside
    it, and its root is replaced by one that refers to the old rows and to the new ones. No old value is read. Readers
    that have a local shard open keep the old rows. Appending to one shard from several processes at a time is safe: to
    a local shard, each waits for the one before; in an object store, the root is replaced only if nobody else did so
    meanwhile, and otherwise the rows are added to the newer root.

    Parameters
    ----------
    target
        A folder, or the path of a shard that exists.
    data
        As for `amudai.write`. A shard is given columns that it lacks; old rows have nulls there.
    indexes
        Indexes of the new rows. Adding to a shard, None builds the indexes that the shard has, and they are merged.
    profile, bloom, distinct, properties, memory_limit, store, threads
        As for `amudai.write`.
    allow
        Where files outside of the folder may be, as `amudai.open` takes it.

    Examples
    --------
    >>> shard = amudai.write({"n": [1, 2]}, "growing.amudai.shard", overwrite=True)
    >>> amudai.append("growing.amudai.shard", {"n": [3]}).read().to_pydict()
    {'n': [1, 2, 3]}
    """
    text = folder_path(target, "target", store)
    options: dict[str, Any] = {"profile": profile, "bloom": bloom, "distinct": distinct, "properties": properties}
    options |= {"memory_limit": memory_limit, "store": store, "threads": threads}
    if text.endswith(SHARD_SUFFIX):
        return _append_to_shard(text, data, indexes, options, allow)
    found = find_shards(text, store)
    if found.folder is None:
        return _append_to_shard(text, data, indexes, options, allow)
    write(data, f"{text.rstrip('/')}/{new_shard_name()}", indexes=() if indexes is None else indexes, **options)
    return dataset(text, store=store, threads=threads, allow=allow)


def append_parts(target: str, parts: Sequence[str], outcome: Outcome) -> Shard:
    """Add the rows of shards in the folder of a shard to that shard, by reference, and open it.

    Each part keeps its indexes. It is safe to do this from several processes at a time, as `append` is. All parts are
    still there afterwards. `outcome` knows which of them the shard refers to.
    """
    store, url = open_store(target)
    if not store.capabilities.local_path:
        _require_replaces(store, url)
        return _replaced(store, url, parts, "keep", open_shard(url, store=store), outcome)
    root = store.local_path(url)
    with _locked(os.path.dirname(root)):
        return _relinked(root, parts, "keep", outcome)


def _append_to_shard(
    path: str, data: Any, indexes: Sequence[IndexSpec] | None, options: Mapping[str, Any], allow: Allow
) -> Shard:
    store = options["store"]
    opened, url = open_store(path, store)
    if not isinstance(data, Source):
        # The columns decide how the new rows are stored. They may come from an iterator.
        data = pa.RecordBatchReader.from_batches(*batches_of(data))
    policy: Literal["merge", "keep"] = "merge" if indexes is None else "keep"
    outcome = Outcome()
    if not opened.capabilities.local_path:
        _require_replaces(opened, url)
        old = open_shard(url, store=opened, allow=allow)
        added = _hidden_beside(url)
        with outcome.removing(opened, [added]):
            how = options_for(data.schema, old)
            write(data, added, indexes=_specs(old, indexes), **{**options, **how, "store": opened})
            return _replaced(opened, url, [added], policy, old, outcome, allow)
    root = opened.local_path(url)
    with _locked(os.path.dirname(root)), open_shard(path, store=store, allow=allow) as old:
        # In the same folder, references stay relative.
        added = _hidden_beside(root)
        with outcome.removing(opened, [file_url(added)]):
            write(data, added, indexes=_specs(old, indexes), **options, **options_for(data.schema, old))
            return _relinked(root, [added], policy, outcome, allow)


def _specs(old: Shard, indexes: Sequence[IndexSpec] | None) -> Sequence[IndexSpec]:
    return specs_of([old._reader], with_stripes=True) if indexes is None else indexes


def _require_replaces(store: Store, url: str) -> None:
    if not store.capabilities.replaces:
        message = "append: expected a shard in local files or in a store that can replace files, or a folder of shards"
        raise UnsupportedFeature(message, url=url)


def _relinked(
    root: str, added: Sequence[str], policy: Literal["merge", "keep"], outcome: Outcome, allow: Allow = ()
) -> Shard:
    """Replace a local root by one that refers to its rows and to those of `added`. The caller has locked its folder."""
    kept = _hidden_beside(root)
    # The stripes of the old root may all be in other files. Then the copy goes.
    with outcome.removing(open_store(kept)[0], [file_url(kept)]):
        os.link(root, kept)
        return merged([kept, *added], root, overwrite=True, indexes=policy, allow=allow, outcome=outcome)


def _replaced(
    store: Store,
    url: str,
    added: Sequence[str],
    policy: Literal["merge", "keep"],
    old: Shard,
    outcome: Outcome,
    allow: Allow = (),
) -> Shard:
    """The same in a store without locks: the root is replaced if it is still the one that was read."""
    for _ in range(_MOST_CONFLICTS):
        kept = _hidden_beside(url)
        try:
            with outcome.removing(store, [kept]):
                root = old._reader.root
                steps = range(0, root.size, MAX_READ)
                store.put_if_absent(kept, (bytes(root.read(at, min(root.size, at + MAX_READ))) for at in steps))
                replaces = old._reader.stored
                return merged(
                    [kept, *added], url, store=store, indexes=policy, replaces=replaces, allow=allow, outcome=outcome
                )
        except StorageError as error:
            # The answer may have been lost, and others may have added rows to our root since.
            is_in_place = outcome.uses(added)
            if not (is_in_place or isinstance(error, ReplacedFile)):
                raise
            old = open_shard(url, store=store, allow=allow)
            if is_in_place:
                return old
    raise ReplacedFile(
        f"append: expected to replace the root in {_MOST_CONFLICTS} attempts, found it replaced", url=url
    )


def _hidden_beside(url: str) -> str:
    """A new name in the folder of a shard. Names with `_` are no shards of a dataset of the folder."""
    folder = container(url)
    return f"{folder}_{url[len(folder) :].removesuffix(SHARD_SUFFIX)}.{new_shard_name()}"


@contextmanager
def _locked(folder: str) -> Iterator[None]:
    """Wait until no other process appends to a shard of this folder."""
    import fcntl

    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
