"""Logs of applications: Java, Python, Go, .NET and others that begin with a date."""

from typing import Final

from amudai.sources.logs.shape import LogShape
from amudai.sources.logs.shapes.times import BEHIND_CLOCK, CLOCK, ISO, WEEKDAY

__all__ = ["APPLICATIONS"]

_BEGIN: Final = rf"%Y-%m-%d[T ]{CLOCK}([.,:]%f)?{BEHIND_CLOCK}"
_START: Final = rf"\[?{_BEGIN}\]?"
_COMPONENT: Final = r"({component=[\w.$/\-]+}\s*: )?"
# Since Java 20, the space before AM is not that of ASCII.
_JAVA_BEGIN: Final = "%b %-d, %Y %-H:%M:%S[ \x80-\xff]{1,3}%p "

APPLICATIONS: Final = (
    LogShape(
        name="spark",
        template=rf"%y/%m/%d {CLOCK} {{level=[A-Z]+}} {_COMPONENT}{{message=.*}}",
    ),
    LogShape(
        name="hdfs",
        template=rf"%y%m%d %H%M%S {{pid:int}} {{level=[A-Z]+}} {_COMPONENT}{{message=.*}}",
    ),
    LogShape(
        name="openstack",
        template=rf"({ISO}|{{logfile=[^\s\[]+}} {ISO}) {{pid:int}} {{level=%L}} {{component}}"
        r"( \[{request=[^\]]*}\])?( {message=.*})?",
    ),
    LogShape(
        name="windows cbs",
        template=rf"%Y-%m-%d {CLOCK}, {{level=\w+}}\s+({{component=[A-Z]+}}\s+)?{{message=.*}}",
    ),
    LogShape(
        name="zookeeper",
        template=rf"{ISO} (\[myid:{{myid=[^\]]*}}\] )?- {{level=%L}}\s+"
        r"\[({node=.*?}:)?{component=.*?}@{id:int}\] - {message=.*}",
    ),
    LogShape(
        name="spring boot",
        template=rf"{ISO}\s+{{level=%L}}\s+{{pid:int}} --- (\[{{application=[^\]]*}}\] "
        rf"\[\s*{{thread=[^\]]*}}\]|\[\s*{{thread=[^\]]*}}\]) {{component}}\s*: {{message=.*}}",
    ),
    LogShape(
        name="iso, thread, level",
        template=rf"{_START}\s+\[{{thread=.*?}}\][\s\-]*\[?{{level=%L}}\]?:?[\s\-]+(({{component=[\w.$/\-]+}}( - |\s*: "
        rf"))?{{message=.*}})?",
    ),
    LogShape(
        name="iso, name, level",
        template=rf"{_START} - {{component=[^\s]+}} - {{level=%L}} - {{message=.*}}",
    ),
    LogShape(
        name="iso, brackets",
        template=rf"\[{_BEGIN}\](\[{{pid:int}}\])?\[{{level=%L}}\s*\]\[{{component=[^\]\s]+}}\s*\]\s*{{message=.*}}",
    ),
    LogShape(
        name="monolog",
        template=rf"\[{_BEGIN}\] {{component=[\w\-]+}}\.{{level=%L}}: {{message=.*}}",
    ),
    LogShape(
        name="iso, level",
        template=rf"{_START}([\s|:\-]*\[?{{level=%L}}\]?:?)?"
        r"([\s|\-]+(\[{thread=.*?}\]\s+)?({component=[\w.$/\-]+}( - |\s*: ))?{message=.*}|{message=\S.*})?",
    ),
    LogShape(
        name="level, iso",
        template=rf"\[?{{level=%L}}\]?[\s:|\-]+{_START}([\s:|,\-]+(\[{{thread=.*?}}\]\s+)?"
        r"({component=[\w.$/\-]+}( - |\s*: ))?{message=.*})?",
    ),
    LogShape(
        name="slash date, level",
        template=rf"(\[{{pid:int}}\] )?\[?%Y/%m/%d {CLOCK}([.,:]%f)?{BEHIND_CLOCK}\]?"
        r"([\s|:\-]*\[?{level=%L}\]?:?)?([\s|:\-]+{message=.*})?",
    ),
    LogShape(
        name="day first, level",
        template=rf"\[?({WEEKDAY},? )?%-d(\.%m\.|[./\- ]%b[./\- ])%Y(:|,? ){CLOCK}([.,:]%f)?{BEHIND_CLOCK}\]?"
        r"([\s|:\-]*\[?{level=%L}\]?:?)?([\s|:\-]+{message=.*})?",
    ),
    LogShape(
        name="weekday, level",
        template=rf"[\[(]?{WEEKDAY},? %b %e (%Y {CLOCK}([.,]%f)?( %Z)?|{CLOCK}([.,:]%f)?( %Z| [A-Z]+)? %Y( %Z)?)[\])]?"
        r"([\s|:\-]*\[?{level=%L}\]?:?)?([\s|:\-]+{message=.*})?",
    ),
    LogShape(
        name="epoch, level",
        # Ten digits that begin with a 1 are a time since 2001. Other numbers of as many digits are none.
        template=r"\[?1\d{9}^\[?%E([.,]%f)?\]?[\s|:,;]\s*(\[?{level=%L}\]?:?)?[\s|:\-]*{message=.*}",
        is_loose=True,
    ),
    LogShape(
        name="java util logging",
        begins=_JAVA_BEGIN,
        template=_JAVA_BEGIN + r"{component=[^\s\n]+}( {method=[^\n]+})?(\n{level=[A-Z]+}: {message=.*})?",
    ),
    LogShape(
        name="health app",
        template=r"%Y%m%d-%-H:%-M:%-S:%-f\|{component=[^|]*}\|{pid:int}\|{message=.*}",
    ),
    LogShape(name="proxifier", template=rf"\[%m\.%d {CLOCK}\] {{program=.*?}} - {{message=.*}}"),
    LogShape(
        name="logcat",
        template=rf"%m-%d {CLOCK}\.%f\s+{{pid:int}}\s+{{tid:int}} {{level=[VDIWEFS]}} "
        r"({component=[^\s:]+}\s*: ?|{component=.*?}: |){message=.*}",
    ),
    LogShape(
        name="logcat, year",
        template=rf"%Y-%m-%d {CLOCK}\.%f(\s?%z)?\s+{{pid:int}}\s+{{tid:int}} {{level=[VDIWEFS]}} "
        r"({component=[^\s:]+}\s*: ?|{component=.*?}: |){message=.*}",
    ),
    LogShape(
        name="logcat, time",
        template=rf"%m-%d {CLOCK}\.%f {{level=[VDIWEFS]}}/{{component=[^(]*}}\(\s*{{pid:int}}\): {{message=.*}}",
    ),
    LogShape(
        name="logcat, brief",
        template=r"{level=[VDIWEFS]}/{component=[^(]*}\(\s*{pid:int}\): {message=.*}",
    ),
    LogShape(
        name="redis",
        template=rf"{{pid:int}}:{{role=[A-Z]}} %d %b %Y {CLOCK}(\.%f)? {{level=[.\-*#]}} {{message=.*}}",
    ),
    LogShape(
        name="redis, no year",
        template=rf"({{pid:int}}:{{role=[A-Z]}} |\[{{pid:int}}\] )?%d %b {CLOCK}(\.%f)? {{level=[.\-*#]}} "
        r"{message=.*}",
    ),
    LogShape(
        name="postgresql",
        # Before a client has said who it is, its user and database are `[unknown]`. Amazon RDS has colons.
        template=rf"%Y-%m-%d {CLOCK}(\.%f)? (%Z|%z|[A-Z]+)(:{{client=[^:]*}}:{{user=[^@:]*}}@{{database=[^:]*}}:"
        r"\[{pid:int}\]:| (\[{pid:int}\]:? )?(\[{session=[^\]]*}\] )?"
        r"({user=(\[unknown\]|[^\s@:\[]+)}@{database=\S+} )?){level=[A-Z]+\d?}:\s+{message=.*}",
    ),
    LogShape(
        name="mysql",
        template=rf"%Y-%m-%dT{CLOCK}(\.%f)?%z {{thread:int}} \[{{level=\w+}}\] "
        r"(\[{code=[^\]]*}\] )?(\[{component=[^\]]*}\] )?{message=.*}",
    ),
    LogShape(
        name="mariadb",
        template=r"(%Y-%m-%d +%-H:%M:%S +{thread:int} \[{level=\w+}\] |%y%m%d +%-H:%M:%S\s+(\[{level=\w+}\] )?)"
        r"{message=.*}",
    ),
    LogShape(
        name="mongodb",
        template=rf"{ISO} {{level=[FEWID]\d?}} {{component=[A-Z\-]+}}\s+\[{{thread=[^\]]*}}\] {{message=.*}}",
    ),
    LogShape(
        name="ruby",
        template=rf"[A-Z], \[{ISO} #{{pid:int}}\]\s+{{level=[A-Z]+}} -- ({{component=[^:\s].*?}}: |: ?){{message=.*}}",
    ),
    LogShape(
        name="python",
        template=r"{level=%L}:{component=[^\s:]+}:{message=.*}",
        is_loose=True,
    ),
)
