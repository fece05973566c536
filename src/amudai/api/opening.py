"""Opening a shard for reading."""

from __future__ import annotations

import os
from collections.abc import Mapping

import pyarrow as pa

from amudai.api.shard import Shard
from amudai.arguments import flag, is_one_of, shown
from amudai.column import Prefer
from amudai.errors import InvalidArgument
from amudai.limits import DEFAULT_LIMITS, Limits
from amudai.shard import ShardReader, unpack_footer
from amudai.storage import Allow, Allowed, open_store

__all__ = ["open"]


def open(  # noqa: A001 - amudai.open reads as the builtin does
    location: str | os.PathLike[str],
    *,
    store: object | None = None,
    schema: Mapping[str, pa.DataType] | pa.Schema | None = None,
    verify: bool = True,
    threads: int | None = None,
    allow: Allow | Allowed = (),
    limits: Limits = DEFAULT_LIMITS,
    prefer: Prefer = "cheaper",
    trust_indexes: bool = False,
    footer: bytes | None = None,
) -> Shard:
    """Open a shard for reading.

    This reads the last 64 KiB of the file and nothing else; schema, statistics and values are read when they are asked
    for.

    Parameters
    ----------
    location
        A path, a `file://` URL, or the URL of an object such as `s3://bucket/logs.amudai.shard`.
    store
        Where the shard lives if not in local files: an obstore store, an fsspec or pyarrow file system.
    schema
        Arrow types to read some columns as, instead of those that the shard suggests:
        `{"price": pa.decimal128(20, 2)}`. Or a whole `pyarrow.Schema`: then the shard has exactly these columns, in
        this order. Columns that are not stored are null, and stored ones that the schema leaves out are not seen.
    verify
        Whether checksums are compared. Without this, damage may go unnoticed.
    threads
        How many threads read; None for `AMUDAI_THREADS`, or else the number of cores.
    allow
        Where files outside of the shard's folder may be, to which the shard refers by absolute URLs: prefixes of URLs
        or local folders, or a mapping of prefixes to the stores that serve them. Such a store finds a file by the rest
        of its URL after the prefix. A function may decide for each URL. Other absolute URLs are refused.
    limits
        How much memory and work the shard may take before `LimitExceeded` is raised.
    prefer
        What is read of columns that are stored twice, in the shard and in Parquet files: `"native"`, `"parquet"`, or
        each time the `"cheaper"` one, of which fewer bytes must be fetched from a remote store. Local shards read the
        native one.
    trust_indexes
        Whether indexes of other writers are used even if they do not say that they have every value. If they lack some,
        scans miss rows. Such an index is otherwise ignored, because a value that it does not have proves nothing.
    footer
        What `Shard.footer` gave for this shard: then opening reads nothing, if its store has tags.

    Examples
    --------
    >>> shard = amudai.open("tests/fixtures/sample.amudai.shard")
    >>> shard.num_rows
    400
    >>> shard.read(columns=["level", "status"], rows=slice(0, 2)).to_pydict()
    {'level': ['INFO', 'INFO'], 'status': [200, 200]}
    >>> schema = pa.schema([("level", pa.string()), ("region", pa.string())])
    >>> amudai.open("tests/fixtures/sample.amudai.shard", schema=schema).head(1).to_pydict()
    {'level': ['INFO'], 'region': [None]}
    """
    if not isinstance(limits, Limits):
        raise InvalidArgument(f"limits: expected amudai.Limits, found {shown(limits)}")
    if not is_one_of(prefer, ("cheaper", "native", "parquet")):
        raise InvalidArgument(f"prefer: expected 'cheaper', 'native' or 'parquet', found {shown(prefer)}")
    tail = None
    if footer is not None:
        if not isinstance(footer, bytes):
            raise InvalidArgument(f"footer: expected bytes, found {shown(footer)}")
        store, url = open_store(location, store)
        location, (file, content) = url, unpack_footer(footer, url)
        # Without a tag nobody would notice that another file has its place by now.
        tail = None if file.tag is None else (file, content)
    reader = ShardReader(
        location,
        store,
        verify=flag(verify, "verify"),
        allow=allow,
        limits=limits,
        prefer=prefer,
        trust_indexes=flag(trust_indexes, "trust_indexes"),
        tail=tail,
    )
    return Shard(reader, schema, threads)
