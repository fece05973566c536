"""Lines of keys and values, in any order: logfmt and JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from amudai.sources.logs.shape import LogShape
from amudai.sources.logs.shapes.times import BEHIND_CLOCK, CLOCK, ISO

__all__ = ["KEYED", "logfmt_with_keys"]

_LOGFMT_TIMES: Final = ("time", "ts", "timestamp", "t", "date")
_LOGFMT_LEVELS: Final = ("level", "lvl", "severity")
_JSON_TIMES: Final = (
    "@timestamp",
    "timestamp",
    "time",
    "ts",
    "datetime",
    "date",
    "@t",
    "Timestamp",
    "timeMillis",
    "asctime",
)
_JSON_LEVELS: Final = ("level", "severity", "lvl", "levelname", "log.level", "@l", "Level")
_TIME: Final = rf"%Y-%m-%d[T ]{CLOCK}([.,]%f)?{BEHIND_CLOCK}"
_MOST_KEYS: Final = 64
_KEY: Final = re.compile(r'(?:^|\s)([A-Za-z_@][\w.\-/]*)=(?:"(?:[^"\\]|\\.)*"|\S*)')


def _any(parts: Iterable[str]) -> str:
    return f"({'|'.join(parts)})"


def _logfmt_key(key: str) -> str:
    return rf"^({key}=|.*? {key}=)"


_LOGFMT_LEVEL: Final = rf'({_any(map(_logfmt_key, _LOGFMT_LEVELS))}"?{{level=\w+}})?'
_JSON_LEVEL: Final = "(" + _any(rf'^.*?"{key}"' for key in _JSON_LEVELS) + r'\s*:\s*("{level=\w+}|{level=-?\d+}))?'
_JSON_MESSAGE: Final = r'((^.*?"message"|^.*?"msg"|^.*?"@m")\s*:\s*"{message=%q}")?'


def _logfmt(name: str, time: str) -> LogShape:
    # `SET timestamp=1704164645;` of a text is no line of keys: those begin with one.
    template = rf'[\w@][\w.\-/@]*={_any(map(_logfmt_key, _LOGFMT_TIMES))}"?{time}{_LOGFMT_LEVEL}'
    return LogShape(name=name, template=template, has_escapes=True)


def _json(name: str, time: str) -> LogShape:
    keys = _any(rf'^.*?"{key}"' for key in _JSON_TIMES)
    template = rf"\s*\{{{keys}\s*:\s*{time}{_JSON_LEVEL}{_JSON_MESSAGE}"
    return LogShape(name=name, template=template, goes_on=False, has_escapes=True)


_MONGODB: Final = LogShape(
    name="mongodb json",
    template=rf'\{{"t":\s*\{{"\$date":\s*"{ISO}"\}},\s*"s":\s*"{{level=[A-Z]\d?}}",\s*"c":\s*"{{component=%q}}",\s*'
    r'"id":\s*{id:int},\s*"ctx":\s*"{thread=%q}"(^.*?"msg":\s*"{message=%q}")?',
    goes_on=False,
    has_escapes=True,
)

KEYED: Final = (
    _MONGODB,
    _logfmt("logfmt", _TIME),
    _logfmt("logfmt, seconds", r"%E(\.%f)?"),
    _json("json", f'"{_TIME}'),
    _json("json, seconds", r'"?%E(\.%f)?'),
)


def logfmt_with_keys(shape: LogShape, sample: Iterable[str]) -> LogShape:
    """A logfmt shape with a field for each key of the sample."""
    keys: dict[str, None] = {}
    for line in sample:
        keys.update(dict.fromkeys(_KEY.findall(line)))
    names = [key for key in keys if key not in (*_LOGFMT_TIMES, *_LOGFMT_LEVELS)][:_MOST_KEYS]
    fields = (rf'({_logfmt_key(re.escape(key))}("{{{key}:guess=%q}}"|{{{key}:guess=[^ ]*}}))?' for key in names)
    return replace(shape, template=shape.template + "".join(fields))
