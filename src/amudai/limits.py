"""How much may a file cost?

A small file can claim to hold a lot. `Limits` says how much memory and work a shard may take before it is refused with
`LimitExceeded`. Each limit is checked before the memory is taken or the work is done.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Final

from amudai.arguments import whole_number
from amudai.errors import LimitExceeded

__all__ = ["DEFAULT_LIMITS", "Limits", "usable_memory"]

# A part of the memory is left for the rest of the process.
_SHARE: Final = (3, 4)
# Buffers of fewer values are decoded in a moment, however small they are.
_MANY_VALUES: Final = 1 << 27


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much memory and work a shard may take. What needs more raises `LimitExceeded`, which names the limit.

    Attributes
    ----------
    memory
        Bytes that the values of one call may take. None for three quarters of the memory that the process may use:
        that of its container (cgroup), of `ulimit -v`, or of the machine, whichever is least.
    block_memory
        Bytes that the values of one block may take after they are decompressed. Never more than a quarter of `memory`.
    values_per_byte
        Values that a column may hold for each byte of its blocks. Columns of up to 2^27 values are not counted. The
        same holds for the rows and bytes of a shard whose rows are all read to write or index them.
    entries
        Messages inside of a message of the metadata, such as the indexes of a shard. One more is allowed for every
        16 bytes.

    Examples
    --------
    >>> shard = amudai.open("tests/fixtures/sample.amudai.shard", limits=amudai.Limits(memory=1000))
    >>> shard.read(["status"])
    Traceback (most recent call last):
    amudai.errors.LimitExceeded: memory: expected at most 1000 bytes for ..., found ...
    >>> shard.read(["status"], rows=slice(0, 2)).to_pydict()
    {'status': [200, 200]}
    """

    memory: int | None = None
    block_memory: int = 1 << 30
    values_per_byte: int = 1 << 14
    entries: int = 1 << 16

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if value is not None or each.name != "memory":
                object.__setattr__(self, each.name, whole_number(value, each.name, 1))

    @property
    def most_memory(self) -> int:
        """`memory`, or the default for this process."""
        return usable_memory() if self.memory is None else self.memory

    def require_memory(self, count: int, bits: int) -> None:
        """Raise LimitExceeded if `count` values of `bits` bits take more than `memory`.

        Allocating them is no test: systems promise more memory than they have, and kill the process that uses it.
        """
        most = usable_memory() if self.memory is None else self.memory
        if count * bits // 8 > most:
            found = f"{count} values of {bits} bits, which do not fit into memory: read fewer"
            raise LimitExceeded(f"memory: expected at most {most} bytes for values, found {found}")

    @property
    def most_block_memory(self) -> int:
        """`block_memory`, or a quarter of the memory if that is less."""
        share = (usable_memory() if self.memory is None else self.memory) // 4
        return share if share < self.block_memory else self.block_memory

    def require_block(self, size: int) -> None:
        """Raise LimitExceeded if a block decompresses to more than `block_memory`."""
        most = self.most_block_memory
        if size > most:
            raise LimitExceeded(f"block_memory: expected at most {most} bytes of values in a block, found {size}")

    def require_payload(self, size: int, stored: int) -> None:
        """The same for a block that may not be compressed. `stored` bytes are in memory already."""
        if size > stored:
            self.require_block(size)

    def require_values(self, values: int, size: int) -> None:
        """Raise LimitExceeded if a buffer of `size` bytes has more values than `values_per_byte` allows."""
        if values > _MANY_VALUES and values > self.values_per_byte * size:
            most = max(_MANY_VALUES, self.values_per_byte * size)
            found = f"{values} values in {size} bytes"
            raise LimitExceeded(f"values_per_byte: expected at most {most} values, found {found}")


DEFAULT_LIMITS: Final = Limits()


@cache
def usable_memory() -> int:
    """Three quarters of the memory that this process may use, as far as the system says."""
    over, under = _SHARE
    return min(_stated_memory()) * over // under


def _stated_memory() -> Iterator[int]:
    yield sys.maxsize
    # Not every system says all of this.
    with suppress(AttributeError, OSError, ValueError):
        yield os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(ImportError, OSError, ValueError):
        import resource

        allowed, _ = resource.getrlimit(resource.RLIMIT_AS)
        if allowed != resource.RLIM_INFINITY:
            yield allowed
    yield from container_memory(Path("/"))


def container_memory(root: Path) -> Iterator[int]:
    """The memory limits of the control groups of this process. `root` is the root of the file system."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return
    for line in lines:
        # Number, controllers, path. Version 2 has one line, without controllers.
        _, controllers, group = line.split(":", 2)
        if not controllers:
            yield from _of_groups(root / "sys/fs/cgroup", group, "memory.max")
        elif "memory" in controllers.split(","):
            yield from _of_groups(root / "sys/fs/cgroup/memory", group, "memory.limit_in_bytes")


def _of_groups(folder: Path, group: str, name: str) -> Iterator[int]:
    """The limits of a group and of those around it. Inside a container only the outermost folder may be visible."""
    steps = [step for step in group.split("/") if step not in ("", "..")]
    for count in range(len(steps) + 1):
        try:
            text = folder.joinpath(*steps[:count], name).read_text().strip()
        except OSError:
            continue
        if text.isdecimal():  # otherwise "max": no limit
            yield int(text)
