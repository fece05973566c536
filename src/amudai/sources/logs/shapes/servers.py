"""Logs of web servers, proxies and load balancers."""

from typing import Final

from amudai.sources.logs.shape import LogShape
from amudai.sources.logs.shapes.times import CLOCK, ISO, WEEKDAY

__all__ = ["SERVERS"]

_REQUEST: Final = r'"({method=[A-Z]+} {path=[^\s"]+}( {protocol=[^\s"]+})?"|{request=%q}")'
_STATUS: Final = r"({status:int}|-)"
_ADDRESS: Final = r"({client=[\d.]+}:{client_port:int}|\[{client=[^\]]*}\]:{client_port:int}|{client})"

_COUNT: Final = r"\d{1,18}"
# Milliseconds, or -1 for what did not take place.
_TOOK: Final = r"-?\d{1,18}"
# What HAProxy writes about HTTP, and about TCP. A plus sign says that the connection was not closed yet.
_HAPROXY: Final = (
    rf"{{backend=[^\s/]+}}/{{server}} ("
    rf"{{request_time:int={_TOOK}}}/{{queue_time:int={_TOOK}}}/{{connect_time:int={_TOOK}}}/{{response_time:int={_TOOK}}}/"
    rf"\+?{{took:int={_TOOK}}} {{status:int={_TOOK}}} \+?{{size:int={_COUNT}}} "
    r"(- |{request_cookie} )(- |{response_cookie} ){termination} "
    rf"|{{queue_time:int={_TOOK}}}/{{connect_time:int={_TOOK}}}/\+?{{took:int={_TOOK}}} \+?{{size:int={_COUNT}}} "
    r"{termination} )"
    rf"{{connections:int={_COUNT}}}/{{frontend_connections:int={_COUNT}}}/{{backend_connections:int={_COUNT}}}/"
    rf"{{server_connections:int={_COUNT}}}/\+?{{retries:int={_COUNT}}} {{server_queue:int={_COUNT}}}/"
    rf"{{backend_queue:int={_COUNT}}}"
    rf"( \{{{{request_headers=[^}}]*}}\}})?( \{{{{response_headers=[^}}]*}}\}})?( {_REQUEST})?"
)

SERVERS: Final = (
    LogShape(
        name="apache error",
        template=rf"\[({WEEKDAY} )?%b %e {CLOCK}(\.%f)? %Y\] "
        rf"\[({{module=[\w.\-]*}}:)?{{level=[a-z]+\d?}}\]"
        r"( \[pid {pid:int}(:tid {tid:int})?\])?( \[client {client=[^\]]*}\])?( {message=.*})?",
    ),
    LogShape(
        name="access",
        template=rf"({{vhost=[^\s:]+}}:{{vhost_port:int}} )?{{client}} {{ident}} {{user=.*?}} \[%d/%b/%Y:{CLOCK} %z\]"
        rf'( {_REQUEST} {_STATUS} ({{size:int}}|-)( "{{referer=%q}}" "{{agent=%q}}")?.*)?',
        null="-",
        goes_on=False,
    ),
    LogShape(
        name="nginx error",
        template=rf"%Y/%m/%d {CLOCK} \[{{level=\w+}}\] {{pid:int}}#{{tid:int}}: (\*{{connection:int}} )?{{message=.*}}",
    ),
    LogShape(
        name="haproxy",
        template=rf"((<{{priority:int}}>)?%b %e {CLOCK} {{host}} )?haproxy\[{{pid:int}}\]: "
        # The port behind an address with colons is a part of it.
        rf"({{client=[^\s:]+}}:{{client_port:int}} |{{client}} )\[%d/%b/%Y:{CLOCK}\.%f\] {{frontend}} "
        rf"{{message=({_HAPROXY})?.*}}",
    ),
    LogShape(
        name="squid",
        template=r"%E\.%f\s+{took:int} {client} {result=[A-Z_]+}/{status:int} {size:int} {method} {url} "
        r"({user}|-) {hierarchy} {type}",
        null="-",
        goes_on=False,
    ),
    LogShape(
        name="aws alb",
        template=rf"{{type=[a-z]\w*}} {ISO} {{elb}} {_ADDRESS} {{target}} {{request_processing_time:float}} "
        r"{target_processing_time:float} {response_processing_time:float} ({status:int}|-) ({target_status:int}|-) "
        rf'{{received_bytes:int}} {{sent_bytes:int}} {_REQUEST} "{{agent=%q}}" {{ssl_cipher}} {{ssl_protocol}} '
        rf"{{target_group}}"
        r'( "{trace_id=%q}" "{domain=%q}" "{certificate=%q}" {rule_priority} {request_creation_time} "{actions=%q}"'
        r' "{redirect_url=%q}" "{error_reason=%q}")?',
        null="-",
        goes_on=False,
    ),
    LogShape(
        name="aws elb",
        template=rf"{ISO} {{elb}} {_ADDRESS} {{backend}} {{request_processing_time:float}} "
        r"{backend_processing_time:float} "
        rf"{{response_processing_time:float}} ({{status:int}}|-) ({{backend_status:int}}|-) {{received_bytes:int}} "
        rf"{{sent_bytes:int}} {_REQUEST}"
        r'( "{agent=%q}" {ssl_cipher} {ssl_protocol})?',
        null="-",
        goes_on=False,
    ),
)
