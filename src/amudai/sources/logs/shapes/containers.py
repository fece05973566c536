"""Logs of containers and services: Kubernetes, Docker, systemd."""

from typing import Final

from amudai.sources.logs.shape import SEVERITIES, LogShape
from amudai.sources.logs.shapes.times import CLOCK, ISO_ZONE

__all__ = ["CONTAINERS"]

_PRIORITIES: Final = {str(number): name for number, name in enumerate(SEVERITIES)}


def _json(key: str, field: str, content: str = "%q") -> str:
    return rf'(^.*?"{key}"\s*:\s*"{{{field}={content}}}")?'


def _json_text(key: str, field: str) -> str:
    """A text, or an array in its place, with all that follows it."""
    return rf'(^.*?"{key}"\s*:\s*("{{{field}=%q}}"|{{{field}=\[.*}}))?'


def _export(key: str, field: str, content: str = r"[^\n]*") -> str:
    return rf"(^.*?\n{key}={{{field}={content}}})?"


def _export_text(key: str, field: str) -> str:
    """A text, or its size and its bytes below its name, with all that follows them."""
    return rf"(^.*?\n{key}\n{{{field}=.*}}|^.*?\n{key}={{{field}=[^\n]*}})?"


CONTAINERS: Final = (
    LogShape(name="cri", template=rf"{ISO_ZONE} {{stream=(stdout|stderr)}} {{tag=[FP]}}( {{message=.*}})?"),
    LogShape(
        name="docker json",
        template=rf'\{{"log":"{{message=%q}}",("stream":"{{stream=[a-z]+}}",)?.*?"time":"{ISO_ZONE}"',
        goes_on=False,
        has_escapes=True,
    ),
    LogShape(
        name="klog",
        template=rf"{{level=[IWEF]}}%m%d {CLOCK}\.%f\s+{{pid:int}} {{source=[^\]\s]+}}\] {{message=.*}}",
    ),
    LogShape(
        name="glog",
        template=rf"{{level=[IWEF]}}%Y%m%d {CLOCK}\.%f\s+{{pid:int}} {{source=[^\]\s]+}}\] {{message=.*}}",
    ),
    LogShape(
        name="journald export",
        begins="__CURSOR=",
        template=r"__CURSOR=.*?\n__REALTIME_TIMESTAMP=%E"
        + _export("PRIORITY", "level")
        + _export("_HOSTNAME", "host")
        + _export("SYSLOG_IDENTIFIER", "process")
        + _export("_PID", "pid:int", r"\d{1,18}")
        + _export("_SYSTEMD_UNIT", "unit")
        + _export_text("MESSAGE", "message"),
        levels=_PRIORITIES,
        has_sizes=True,
    ),
    LogShape(
        name="journald json",
        template=r'\{.*?"__REALTIME_TIMESTAMP"\s*:\s*"%E"'
        + _json("PRIORITY", "level")
        + _json_text("_HOSTNAME", "host")
        + _json_text("SYSLOG_IDENTIFIER", "process")
        + _json("_PID", "pid:int", r"\d{1,18}")
        + _json_text("_SYSTEMD_UNIT", "unit")
        + _json_text("MESSAGE", "message"),
        levels=_PRIORITIES,
        goes_on=False,
        has_escapes=True,
        has_arrays=True,
    ),
)
