"""Binary streams, such as standard input, copied to a file so that they can be read more than once."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from amudai.sources.content import LocalContent, Workspace
from amudai.sources.files import InputFile

__all__ = ["BinaryStream", "spooled"]


@runtime_checkable
class BinaryStream(Protocol):
    """A stream of bytes. If it has a `name`, errors and the rows of logs show it."""

    def read(self, size: int, /) -> bytes:
        """The next bytes, at most `size`; none at the end."""


def spooled(stream: BinaryStream, workspace: Workspace) -> InputFile:
    """The content of a stream as a file. Its format and compression are not known yet: its name tells nothing."""
    content = LocalContent(workspace.copy(stream), lasting=False)
    name = getattr(stream, "name", None)
    return InputFile(name if isinstance(name, str) else "<stream>", "", None, content)
