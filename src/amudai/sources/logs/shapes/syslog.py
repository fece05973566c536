"""Syslog, and the logs of clusters that are based on it."""

from typing import Final

from amudai.sources.logs.shape import LogShape
from amudai.sources.logs.shapes.times import CLOCK, ISO, ISO_ZONE

__all__ = ["SYSLOG"]

# A program: `sshd[12]: `, `sshd(pam_unix)[12]: `, `Microsoft Word[7]: `, `syslogd 1.4.1: `, `sandboxd[12] ([34]): `
_PROCESS: Final = r"({process=[^\[:]+}\[{pid:int}\]|{process=[^\s\[:]+( \d[\d.]*)?})( \({address=[^)]*}\))?: ?"

# Structured data: `[id name="value" ...]`. A bracket in a value is no end.
_ELEMENT: Final = r"\[[^\]\"]*" + r'("%q"[^\]"]*)?' * 24 + r"\]"

SYSLOG: Final = (
    LogShape(
        name="syslog", template=rf"(<{{priority:int}}>)?%b %e {CLOCK}(\.%f)? {{host}}( {_PROCESS}| |){{message=.*}}"
    ),
    LogShape(
        name="syslog, year",
        template=rf"(<{{priority:int}}>)?%b %e (%Y {CLOCK}(\.%f)?|{CLOCK}(\.%f)? %Y):? {{host}}( {_PROCESS}| "
        rf"|){{message=.*}}",
    ),
    LogShape(
        name="syslog, iso",
        template=rf"(<{{priority:int}}>)?{ISO_ZONE} {{host=[\w.\-]+}} {_PROCESS}{{message=.*}}",
    ),
    LogShape(
        name="syslog, rfc 5424",
        template=rf"<{{priority:int}}>\d\d? ({ISO}|-) {{host}} {{process}} {{pid}} {{message_id}} "
        rf"({{structured_data={_ELEMENT}({_ELEMENT})?({_ELEMENT})?({_ELEMENT})?}} ?|- ?|){{message=.*}}",
        null="-",
    ),
    LogShape(
        name="blue gene",
        template=r"{label} {epoch:int=%E} {date=%Y.%m.%d} {node} {time=%Y-%m-%d-%H.%M.%S.%f} {node_repeat} "
        r"{type} {component} {level} {message=.*}",
    ),
    LogShape(
        name="thunderbird",
        template=rf"{{label}} {{epoch:int=%E}} {{date=%Y.%m.%d}} {{user}} {{time=%b %e {CLOCK}}} {{location}} "
        rf"({_PROCESS}|){{message=.*}}",
    ),
    LogShape(
        name="hpc",
        template=r"{id:int} {node} {component} {state} {epoch:int=%E} {flag:int=-?\d{1,18}} {message=.*}",
        goes_on=False,
    ),
)
