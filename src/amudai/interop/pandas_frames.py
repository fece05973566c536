"""Shards as frames of pandas, and back."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from amudai.api import Shard, Tabular, Where, write
from amudai.interop.opening import opened
from amudai.interop.packages import required

__all__ = ["AmudaiAccessor", "install_pandas_accessor", "read_pandas"]


def read_pandas(
    source: Tabular | str | os.PathLike[str],
    columns: Sequence[str] | None = None,
    where: Where | None = None,
    **options: Any,
) -> Any:
    """Read a shard or a folder of shards into a pandas `DataFrame`. Needs `pip install amudai[pandas]`.

    After the first call, frames have `frame.amudai.write(path)`, which takes the options of `amudai.write`.

    Parameters
    ----------
    source
        A shard, a dataset, or the path or URL of one.
    columns, where
        As for `Shard.scan`.
    options
        Options of `pyarrow.Table.to_pandas`, such as `types_mapper`.

    Examples
    --------
    >>> frame = amudai.read_pandas("tests/fixtures/sample.amudai.shard", ["level", "status"], "status >= 500")
    >>> frame.shape
    (11, 2)
    >>> frame.amudai.write("errors.amudai.shard", overwrite=True).num_rows
    11
    """
    required("pandas", "read_pandas")
    install_pandas_accessor()
    return opened(source).to_pandas(columns, where, **options)


class AmudaiAccessor:
    """What frames of pandas can do with shards: `frame.amudai.write(path)`."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def write(self, location: str | os.PathLike[str], **options: Any) -> Shard:
        """Write the frame as a shard. `options` are those of `amudai.write`. An index with a name becomes a column."""
        import pyarrow as pa

        table = pa.Table.from_pandas(self._frame, preserve_index=None)
        return write(table, location, **options)


def install_pandas_accessor() -> None:
    """Give frames of pandas the attribute `amudai`, once."""
    pandas = required("pandas", "read_pandas")
    if not hasattr(pandas.DataFrame, "amudai"):
        pandas.api.extensions.register_dataframe_accessor("amudai")(AmudaiAccessor)
