"""The list of well-known shapes. If two fit a file equally well, the first one is taken."""

from typing import Final

from amudai.sources.logs.shape import LogShape
from amudai.sources.logs.shapes.applications import APPLICATIONS
from amudai.sources.logs.shapes.containers import CONTAINERS
from amudai.sources.logs.shapes.keyed import KEYED
from amudai.sources.logs.shapes.servers import SERVERS
from amudai.sources.logs.shapes.syslog import SYSLOG

__all__ = ["SHAPES"]

SHAPES: Final[tuple[LogShape, ...]] = (*SERVERS, *APPLICATIONS, *SYSLOG, *CONTAINERS, *KEYED)
