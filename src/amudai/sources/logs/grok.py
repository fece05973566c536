"""Grok patterns: names for common regular expressions."""

from __future__ import annotations

import re
from typing import Final

from amudai.errors import InvalidArgument
from amudai.sources.logs.template import Kind

__all__ = ["NAMES", "expanded", "is_grok"]

_REFERENCE: Final = re.compile(r"%\{(\w+)(?::([^:}]+))?(?::(\w+))?\}")
_KINDS: Final[dict[str, Kind]] = {"int": "int", "long": "int", "float": "float", "double": "float", "string": "text"}
_DEEPEST: Final = 20

_OCTET: Final = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_H16: Final = "[0-9A-Fa-f]{1,4}"

NAMES: Final[dict[str, str]] = {
    # texts
    "WORD": r"\b\w+\b",
    "NOTSPACE": r"\S+",
    "SPACE": r"\s*",
    "DATA": r".*?",
    "GREEDYDATA": r".*",
    "GREEDYMULTILINE": r"(?s:.*)",
    "QUOTEDSTRING": r"(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')",
    "QS": "%{QUOTEDSTRING}",
    "UUID": r"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}",
    "USERNAME": r"[a-zA-Z0-9._\-]+",
    "USER": "%{USERNAME}",
    "EMAILLOCALPART": r"[a-zA-Z0-9!#$%&'*+/=?^_`{|}~.\-]+",
    "EMAILADDRESS": "%{EMAILLOCALPART}@%{HOSTNAME}",
    # numbers
    "INT": r"[+-]?\d+",
    "POSINT": r"\b[1-9]\d*\b",
    "NONNEGINT": r"\b\d+\b",
    "BASE10NUM": r"[+-]?(?:\d+(?:\.\d+)?|\.\d+)",
    "NUMBER": "%{BASE10NUM}",
    "BASE16NUM": r"(?:0[xX])?[0-9A-Fa-f]+",
    "BASE16FLOAT": r"[+-]?(?:0[xX])?(?:[0-9A-Fa-f]+(?:\.[0-9A-Fa-f]*)?|\.[0-9A-Fa-f]+)",
    # networks
    "IPV4": rf"\b(?:{_OCTET}\.){{3}}{_OCTET}\b",
    "IPV6": rf"(?:(?:{_H16}:){{7}}{_H16}|(?:{_H16}:){{0,6}}{_H16}?::(?:{_H16}:){{0,6}}{_H16}?"
    rf"|::(?:{_H16}:){{0,6}}{_H16}?)(?:%\w+)?",
    "IP": "(?:%{IPV6}|%{IPV4})",
    "HOSTNAME": r"\b[0-9A-Za-z][0-9A-Za-z\-]{0,62}(?:\.[0-9A-Za-z][0-9A-Za-z\-]{0,62})*\.?",
    "HOST": "%{HOSTNAME}",
    "IPORHOST": "(?:%{IP}|%{HOSTNAME})",
    "HOSTPORT": "%{IPORHOST}:%{POSINT}",
    "MAC": r"(?:[0-9A-Fa-f]{2}[:\-]){5}[0-9A-Fa-f]{2}|(?:[0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4}",
    # paths
    "UNIXPATH": r"(?:/[\w%!$@:.,+~\-]*)+",
    "WINPATH": r"(?:[A-Za-z]:|\\)(?:\\[^\\?*\s]*)+",
    "PATH": "(?:%{UNIXPATH}|%{WINPATH})",
    "TTY": r"/dev/(?:pts|tty(?:[pq])?)(?:\w+)?/?(?:\d+)",
    "URIPROTO": r"[A-Za-z][A-Za-z0-9+\-.]*",
    "URIHOST": "%{IPORHOST}(?::%{POSINT})?",
    "URIPATH": r"(?:/[A-Za-z0-9$.+!*'(){},~:;=@#%&_\-]*)+",
    "URIPARAM": r"\?[A-Za-z0-9$.+!*'|(){},~@#%&/=:;_?\-\[\]<>]*",
    "URIPATHPARAM": "%{URIPATH}(?:%{URIPARAM})?",
    "URI": "%{URIPROTO}://(?:%{USER}(?::[^@]*)?@)?(?:%{URIHOST})?(?:%{URIPATHPARAM})?",
    # dates and times
    "MONTH": r"\b(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:tember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b",
    "MONTHNUM": r"(?:0?[1-9]|1[0-2])",
    "MONTHNUM2": r"(?:0[1-9]|1[0-2])",
    "MONTHDAY": r"(?:0[1-9]|[12]\d|3[01]|[1-9])",
    "DAY": r"(?:Mon(?:day)?|Tue(?:sday)?|Wed(?:nesday)?|Thu(?:rsday)?|Fri(?:day)?|Sat(?:urday)?|Sun(?:day)?)",
    "YEAR": r"(?:\d\d){1,2}",
    "HOUR": r"(?:2[0123]|[01]?\d)",
    "MINUTE": r"(?:[0-5]\d)",
    "SECOND": r"(?:[0-5]?\d|60)(?:[:.,]\d+)?",
    "TIME": "%{HOUR}:%{MINUTE}(?::%{SECOND})?",
    "DATE_US": "%{MONTHNUM}[/-]%{MONTHDAY}[/-]%{YEAR}",
    "DATE_EU": "%{MONTHDAY}[./-]%{MONTHNUM}[./-]%{YEAR}",
    "DATE": "(?:%{DATE_US}|%{DATE_EU})",
    "DATESTAMP": "%{DATE}[- ]%{TIME}",
    "TZ": "(?:[A-Z]{3,4})",
    "ISO8601_TIMEZONE": r"(?:Z|[+-]\d\d(?::?\d\d)?)",
    "TIMESTAMP_ISO8601": r"\d{4}-%{MONTHNUM}-%{MONTHDAY}[T ]%{HOUR}:?%{MINUTE}(?::?%{SECOND})?%{ISO8601_TIMEZONE}?",
    "SYSLOGTIMESTAMP": "%{MONTH} +%{MONTHDAY} %{TIME}",
    "HTTPDATE": r"%{MONTHDAY}/%{MONTH}/%{YEAR}:%{TIME} [+-]\d{4}",
    "DATESTAMP_RFC822": "%{DAY} %{MONTH} %{MONTHDAY} %{YEAR} %{TIME} %{TZ}",
    "DATESTAMP_RFC2822": "%{DAY}, %{MONTHDAY} %{MONTH} %{YEAR} %{TIME} %{ISO8601_TIMEZONE}",
    "DATESTAMP_EVENTLOG": r"\d{4}\d\d\d\d\d\d\d\d\d\d",
    # logs
    "LOGLEVEL": r"(?i:trace|debug|verbose|notice|info(?:rmation)?|warn(?:ing)?|err(?:or)?|crit(?:ical)?|fatal|severe"
    r"|alert|emerg(?:ency)?|panic)",
    "PROG": r"[\x21-\x5a\x5c\x5e-\x7e]+",
    "SYSLOGPROG": r"%{PROG:program}(?:\[%{POSINT:pid}\])?",
    "SYSLOGHOST": "%{IPORHOST}",
    "SYSLOGFACILITY": r"<%{NONNEGINT:facility}.%{NONNEGINT:priority}>",
    "SYSLOGBASE": r"%{SYSLOGTIMESTAMP:timestamp} (?:%{SYSLOGFACILITY} )?%{SYSLOGHOST:logsource} %{SYSLOGPROG}:",
    "SYSLOGLINE": "%{SYSLOGBASE} %{GREEDYDATA:message}",
    "HTTPDUSER": "(?:%{EMAILADDRESS}|%{USER})",
    "COMMONAPACHELOG": r"%{IPORHOST:clientip} %{HTTPDUSER:ident} %{HTTPDUSER:auth} \[%{HTTPDATE:timestamp}\] "
    r"\"(?:%{WORD:verb} %{NOTSPACE:request}(?: HTTP/%{NUMBER:httpversion})?|%{DATA:rawrequest})\" "
    r"%{NUMBER:response:int} (?:%{NUMBER:bytes:int}|-)",
    "COMBINEDAPACHELOG": r"%{COMMONAPACHELOG} %{QS:referrer} %{QS:agent}",
    "JAVACLASS": r"(?:[a-zA-Z$_][a-zA-Z$_0-9]*\.)*[a-zA-Z$_][a-zA-Z$_0-9]*",
    "JAVAFILE": r"(?:[a-zA-Z$_0-9. \-]+)",
    "JAVAMETHOD": r"(?:<init>|[a-zA-Z$_][a-zA-Z$_0-9]*)",
}


def is_grok(pattern: str) -> bool:
    """Whether a pattern has references such as `%{IP:client}`."""
    return _REFERENCE.search(pattern) is not None


def expanded(pattern: str) -> tuple[str, list[tuple[str, Kind]]]:
    """The regular expression of a grok pattern, with groups `g0`, `g1`, ..., and the name and kind of each group."""
    groups: list[tuple[str, Kind]] = []

    def replaced(reference: re.Match[str], depth: int) -> str:
        name, field, kind = reference.groups()
        if name not in NAMES or depth > _DEEPEST:
            raise InvalidArgument(f"pattern: expected a known grok name, found {name!r} in {pattern!r}")
        if kind is not None and kind not in _KINDS:
            raise InvalidArgument(
                f"pattern: expected int, float or string after {field!r}, found {kind!r} in {pattern!r}"
            )
        if field is not None:
            groups.append((field.strip("[]").replace("][", "."), _KINDS.get(kind or "", "guess")))
            number = len(groups) - 1
        inner = _REFERENCE.sub(lambda each: replaced(each, depth + 1), NAMES[name])
        return f"(?P<g{number}>{inner})" if field is not None else f"(?:{inner})"

    return _REFERENCE.sub(lambda each: replaced(each, 0), pattern), groups
