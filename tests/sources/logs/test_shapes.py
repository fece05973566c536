"""Well-known lines: the shape that is recognised, the time, the level and the fields."""

from __future__ import annotations

import datetime
import gzip
import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest

from amudai.errors import CorruptedData
from amudai.sources import read_files
from amudai.sources.logs.shapes.catalog import SHAPES
from tests.sources.logs.files import read, rows, write

BESIDE = Path(__file__).resolve().parents[4] / "shared" / "data"
DATA = Path(os.environ.get("AMUDAI_TEST_DATA", BESIDE)) / "logs"
requires_logs = pytest.mark.skipif(not DATA.is_dir(), reason="no real logs: no folder ../shared/data/logs")


class Case(NamedTuple):
    """A line, and what must come out. A time with a zone ends in Z."""

    shape: str
    line: str
    time: str | None
    level: str | None
    fields: dict[str, Any]


SERVERS = [
    Case(
        "apache error",
        "[Sun Dec 04 04:47:44 2005] [error] [client 10.0.0.1] mod_jk child in error state 6",
        "2005-12-04 04:47:44",
        "error",
        {"client": "10.0.0.1", "message": "mod_jk child in error state 6"},
    ),
    Case(
        "apache error",
        "[Wed Oct 11 14:32:52.123456 2023] [core:warn] [pid 1:tid 17] x",
        "2023-10-11 14:32:52.123456",
        "warn",
        {"module": "core", "pid": 1, "tid": 17, "client": None, "message": "x"},
    ),
    Case("apache error", "[Dec 04 04:47:44 2005] [notice] no weekday", "2005-12-04 04:47:44", "notice", {}),
    Case(
        "access",
        '127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /a?b=1 HTTP/1.0" 200 2326',
        "2000-10-10 20:55:36Z",
        None,
        {"client": "127.0.0.1", "ident": None, "user": "frank", "method": "GET", "path": "/a?b=1", "status": 200},
    ),
    Case(
        "access",
        r'::1 - - [29/Feb/2024:00:00:00 +0530] "\x16\x03" 400 - "-" "curl/8 \"x\""',
        "2024-02-28 18:30:00Z",
        None,
        {"request": r"\x16\x03", "status": 400, "size": None, "referer": None, "agent": r"curl/8 \"x\""},
    ),
    Case(
        "nginx error",
        "2024/02/29 23:59:59 [crit] 7#8: *1 open() failed",
        "2024-02-29 23:59:59",
        "crit",
        {"pid": 7, "tid": 8, "connection": 1, "message": "open() failed"},
    ),
    Case(
        "haproxy",
        "haproxy[674]: 127.0.0.1:33319 [15/Oct/2003:08:31:57.250] relais-http Srv1 6502/-1/7/147/6723 200",
        "2003-10-15 08:31:57.25",
        None,
        {"pid": 674, "client": "127.0.0.1", "client_port": 33319, "frontend": "relais-http"}
        | {"message": "Srv1 6502/-1/7/147/6723 200", "backend": None, "status": None},
    ),
    Case(
        "haproxy",
        "Feb  6 12:14:14 localhost haproxy[14389]: 10.0.1.2:33317 [06/Feb/2009:12:14:14.655] http-in static/srv1 "
        '10/0/30/69/109 200 2750 - c=1 ---- 1/2/3/4/+5 6/7 {1wt.eu|x} {} "GET /index.html?a=b HTTP/1.1"',
        "2009-02-06 12:14:14.655",
        None,
        {"pid": 14389, "client": "10.0.1.2", "frontend": "http-in", "backend": "static", "server": "srv1"}
        | {"request_time": 10, "queue_time": 0, "connect_time": 30, "response_time": 69, "took": 109, "status": 200}
        | {"size": 2750, "request_cookie": None, "response_cookie": "c=1", "termination": "----", "connections": 1}
        | {"frontend_connections": 2, "backend_connections": 3, "server_connections": 4, "retries": 5}
        | {"server_queue": 6, "backend_queue": 7, "request_headers": "1wt.eu|x", "response_headers": ""}
        | {"method": "GET", "path": "/index.html?a=b", "protocol": "HTTP/1.1", "request": None, "host": "localhost"},
    ),
    Case(
        "haproxy",
        "<134>Feb  6 12:14:14 localhost haproxy[14389]: 10.0.1.2:33318 [06/Feb/2009:12:14:14.655] http-in "
        'http-in/<NOSRV> -1/-1/-1/-1/+5000 -1 +212 - - cR-- 1/1/0/0/0 0/0 "<BADREQ>"',
        "2009-02-06 12:14:14.655",
        "info",
        {"priority": 134, "server": "<NOSRV>", "request_time": -1, "response_time": -1, "took": 5000, "status": -1}
        | {"size": 212, "termination": "cR--", "request_headers": None, "method": None, "request": "<BADREQ>"},
    ),
    Case(
        "haproxy",
        "haproxy[14387]: 2001:470::1:33313 [06/Feb/2009:12:12:51.443] fnt bck/srv1 0/0/5007 212 -- 0/0/0/0/3 0/0",
        "2009-02-06 12:12:51.443",
        None,
        # Where the address ends and the port begins, only HAProxy knows.
        {
            "client": "2001:470::1:33313",
            "client_port": None,
            "backend": "bck",
            "server": "srv1",
            "queue_time": 0,
            "connect_time": 0,
            "took": 5007,
            "size": 212,
        }
        | {"termination": "--", "retries": 3, "backend_queue": 0, "status": None, "request_time": None}
        | {"message": "bck/srv1 0/0/5007 212 -- 0/0/0/0/3 0/0"},
    ),
    Case(
        "haproxy",
        "haproxy[14385]: 10.0.1.2:33314 [06/Feb/2009:12:14:14.655] http-in/1: SSL handshake failure",
        "2009-02-06 12:14:14.655",
        None,
        {"frontend": "http-in/1:", "message": "SSL handshake failure", "backend": None, "took": None},
    ),
    Case(
        "squid",
        "1286536308.779    180 192.168.0.224 TCP_MISS/200 411 GET http://x.org/a - DIRECT/1.2.3.4 text/html",
        "2010-10-08 11:11:48.779Z",
        None,
        {"took": 180, "status": 200, "size": 411, "url": "http://x.org/a", "user": None, "type": "text/html"},
    ),
    Case(
        "aws alb",
        "https 2018-07-02T22:23:00.186641Z app/my-lb/50dc 192.168.131.39:2817 10.0.0.1:80 0.086 0.048 0.037 200 - 0 57 "
        '"GET https://www.example.com:443/ HTTP/1.1" "curl/7.46.0" ECDHE-RSA-AES128 TLSv1.2 arn:aws:x',
        "2018-07-02 22:23:00.186641Z",
        None,
        {"client": "192.168.131.39", "client_port": 2817, "status": 200, "target_status": None, "sent_bytes": 57}
        | {"request_processing_time": 0.086, "method": "GET", "agent": "curl/7.46.0"},
    ),
    Case(
        "aws elb",
        "2015-05-13T23:39:43.945958Z my-elb 192.168.131.39:2817 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 0 29 "
        '"GET http://www.example.com:80/ HTTP/1.1" "curl/7.38.0" - -',
        "2015-05-13 23:39:43.945958Z",
        None,
        {"elb": "my-elb", "backend": "10.0.0.1:80", "response_processing_time": 0.000057, "ssl_cipher": None},
    ),
]
APPLICATIONS = [
    Case(
        "spark",
        "17/06/09 20:10:40 INFO executor.Backend: Registered",
        "2017-06-09 20:10:40",
        "INFO",
        {"component": "executor.Backend", "message": "Registered"},
    ),
    Case("spark", "99/12/31 23:59:59 WARN old.Thing: x", "1999-12-31 23:59:59", "WARN", {"message": "x"}),
    Case(
        "hdfs",
        "081109 203615 148 INFO dfs.DataNode$PacketResponder: x",
        "2008-11-09 20:36:15",
        "INFO",
        {"pid": 148, "component": "dfs.DataNode$PacketResponder", "message": "x"},
    ),
    Case(
        "openstack",
        "nova-api.log.1.2017-05-16_13:53:08 2017-05-16 00:00:00.008 25746 INFO nova.wsgi [req-1 a - -] GET x",
        "2017-05-16 00:00:00.008",
        "INFO",
        {"logfile": "nova-api.log.1.2017-05-16_13:53:08", "pid": 25746, "request": "req-1 a - -", "message": "GET x"},
    ),
    Case(
        "openstack",
        "2024-01-02 03:04:05.123 4711 ERROR nova.compute [-] pid first",
        "2024-01-02 03:04:05.123",
        "ERROR",
        {"logfile": None, "pid": 4711, "component": "nova.compute", "request": "-"},
    ),
    Case(
        "windows cbs",
        "2016-09-28 04:30:30, Info                  CBS    Loaded",
        "2016-09-28 04:30:30",
        "Info",
        {"component": "CBS", "message": "Loaded"},
    ),
    Case(
        "zookeeper",
        "2015-07-29 17:41:44,747 - INFO  [QuorumPeer[myid=1]/0:0:0:2181:FastLeaderElection@774] - Notification",
        "2015-07-29 17:41:44.747",
        "INFO",
        {"node": "QuorumPeer[myid=1]/0", "component": "0:0:2181:FastLeaderElection", "id": 774},
    ),
    Case(
        "spring boot",
        "2024-01-02T03:04:05.678+01:00  WARN 1234 --- [           main] o.s.b.Web  : Tomcat",
        "2024-01-02 02:04:05.678Z",
        "WARN",
        {"pid": 1234, "thread": "main", "component": "o.s.b.Web", "message": "Tomcat"},
    ),
    Case(
        "iso, thread, level",
        "2024-01-02 03:04:05,123 [main] FATAL com.example.App - log4j",
        "2024-01-02 03:04:05.123",
        "FATAL",
        {"thread": "main", "component": "com.example.App", "message": "log4j"},
    ),
    Case(
        "iso, name, level",
        "2024-01-02 03:04:05,123 - my.logger - WARNING - python",
        "2024-01-02 03:04:05.123",
        "WARNING",
        {"component": "my.logger", "message": "python"},
    ),
    Case(
        "iso, level",
        "2015-10-18 18:01:47,978 INFO [IPC Server handler 0] org.apache.App: Created: x",
        "2015-10-18 18:01:47.978",
        "INFO",
        {"thread": "IPC Server handler 0", "component": "org.apache.App", "message": "Created: x"},
    ),
    Case("iso, level", "2024-01-02T03:04:05+05:30 WARN east", "2024-01-01 21:34:05Z", "WARN", {"message": "east"}),
    Case("iso, level", "2024-01-02T03:04:05.5-0800 [DEBUG] west", "2024-01-02 11:04:05.5Z", "DEBUG", {}),
    Case("iso, level", "[2024-01-02 03:04:05] only a time", "2024-01-02 03:04:05", None, {"message": "only a time"}),
    Case(
        "slash date, level",
        "2009/01/23 01:23:23.123123 a line of a go program",
        "2009-01-23 01:23:23.123123",
        None,
        {"message": "a line of a go program"},
    ),
    Case("iso, level", "2024-01-02 03:04:05 PM INFO x", "2024-01-02 15:04:05", "INFO", {"message": "x"}),
    Case("iso, level", "2024-01-02 03:04:05.5 +01:00 [INF] x", "2024-01-02 02:04:05.5Z", "INF", {"message": "x"}),
    Case("iso, level", "2024-01-02T03:04:05Z WRN x", "2024-01-02 03:04:05Z", "WRN", {"message": "x"}),
    Case("iso, level", "2024-01-02 03:04:05,5:INFO:root:x", "2024-01-02 03:04:05.5", "INFO", {"message": "root:x"}),
    Case("iso, level", "2024-01-02 03:04:05 [INFO][main] x", "2024-01-02 03:04:05", "INFO", {"message": "[main] x"}),
    Case("iso, level", "2024-01-02 03:04:05 INFO", "2024-01-02 03:04:05", "INFO", {"message": None}),
    Case("iso, level", "2024-01-02 03:04:05:678 INFO x", "2024-01-02 03:04:05.678", "INFO", {"message": "x"}),
    Case("slash date, level", "2024/01/02 03:04:05:678 INFO x", "2024-01-02 03:04:05.678", "INFO", {"message": "x"}),
    Case("day first, level", "13.02.2024 03:04:05:678 INFO x", "2024-02-13 03:04:05.678", "INFO", {"message": "x"}),
    Case("iso, level", "2024-01-02 03:04:05 Log opened", "2024-01-02 03:04:05", None, {"message": "Log opened"}),
    Case("iso, level", "2024-01-02 03:04:05 config read", "2024-01-02 03:04:05", None, {"message": "config read"}),
    Case("iso, level", "2024-01-02 03:04:05 CONFIG x", "2024-01-02 03:04:05", "CONFIG", {"message": "x"}),
    Case("iso, level", "2024-01-02 12:04:05am: x", "2024-01-02 00:04:05", None, {}),
    Case("iso, level", "2024-01-02 03:04:05 AMQP closed", "2024-01-02 03:04:05", None, {"message": "AMQP closed"}),
    Case(
        "iso, thread, level",
        "[2024-01-02 03:04:05 +0100] [7] [INFO] x",
        "2024-01-02 02:04:05Z",
        "INFO",
        {"thread": "7", "message": "x"},
    ),
    Case("iso, level", "2024-01-02 03:04:05 UTC ERROR x", "2024-01-02 03:04:05Z", "ERROR", {"message": "x"}),
    Case("iso, level", "2024-01-02 03:04:05 -10 degrees", "2024-01-02 03:04:05", None, {}),
    Case("iso, level", "2024-01-02 03:04:05 UTCx", "2024-01-02 03:04:05", None, {"message": "UTCx"}),
    Case("slash date, level", "2024/01/02 03:04:05 PM INFO x", "2024-01-02 15:04:05", "INFO", {"message": "x"}),
    Case("slash date, level", "2024/01/02 03:04:05 - WARN - x", "2024-01-02 03:04:05", "WARN", {"message": "x"}),
    Case("slash date, level", "[7] 2024/01/02 03:04:05.5 [INF] x", "2024-01-02 03:04:05.5", "INF", {"pid": 7}),
    Case("day first, level", "02-Jan-2024 03:04:05 -05:30 INFO x", "2024-01-02 08:34:05Z", "INFO", {}),
    Case("day first, level", "02-Jan-2024 03:04:05.250 SEVERE [main] x", "2024-01-02 03:04:05.25", "SEVERE", {}),
    Case("day first, level", "02.01.2024 03:04:05 INFO x", "2024-01-02 03:04:05", "INFO", {"message": "x"}),
    Case(
        "day first, level",
        "Thu, 9 Nov 2023 10:00:00 +0100 WARN x",
        "2023-11-09 09:00:00Z",
        "WARN",
        {"message": "x"},
    ),
    Case("day first, level", "09 Nov 2023 10:00:00.25: x", "2023-11-09 10:00:00.25", None, {"message": "x"}),
    Case("weekday, level", "Sat Apr 27 03:33:07 EDT 2013 x", "2013-04-27 07:33:07Z", None, {"message": "x"}),
    Case("weekday, level", "Sat Apr 27 03:33:07 PDT 2013 ERROR: x", "2013-04-27 03:33:07", "ERROR", {"message": "x"}),
    Case("weekday, level", "Wed Oct  7 11:58:08 2020 +01:00", "2020-10-07 10:58:08Z", None, {"message": None}),
    Case("weekday, level", "(Tue Mar  3 06:03:46:120000 2015) [sssd] x", "2015-03-03 06:03:46.12", None, {}),
    Case("weekday, level", "[Tue Mar 31 06:03:46 2015] a fan stopped", "2015-03-31 06:03:46", None, {}),
    Case("weekday, level", "Thu Nov 19 2026 10:00:00 GMT+0100 (CET) x", "2026-11-19 09:00:00Z", None, {}),
    Case("epoch, level", "1704164645 ERROR x", "2024-01-02 03:04:05Z", "ERROR", {"message": "x"}),
    Case("epoch, level", "[1704164645.678901] INFO: x", "2024-01-02 03:04:05.678901Z", "INFO", {"message": "x"}),
    Case("epoch, level", "1704164645678\tx y", "2024-01-02 03:04:05.678Z", None, {"message": "x y"}),
    Case("day first, level", "[10/Aug/2018:09:45:56 +0200] 10.0.0.7 TLSv1.2", "2018-08-10 07:45:56Z", None, {}),
    Case(
        "level, iso",
        "INFO  [2024-01-02 03:04:05,678] shop.Cart: added",
        "2024-01-02 03:04:05.678",
        "INFO",
        {"component": "shop.Cart", "message": "added", "thread": None},
    ),
    Case(
        "level, iso",
        "WARN 2024-01-02 03:04:05Z [main] shop.Cart - x",
        "2024-01-02 03:04:05Z",
        "WARN",
        {"component": "shop.Cart", "message": "x", "thread": "main"},
    ),
    Case("level, iso", "ERROR - 2024-01-02 03:04:05 --> x", "2024-01-02 03:04:05", "ERROR", {"message": "> x"}),
    Case("level, iso", "[DEBUG 2024-01-02 03:04:05 main] x", "2024-01-02 03:04:05", "DEBUG", {"message": "main] x"}),
    Case("level, iso", "[INFO] 2024-01-02 03:04:05 x", "2024-01-02 03:04:05", "INFO", {"message": "x"}),
    Case(
        "health app",
        "20171223-0:5:29:67|Step_LSC|30002312|onStandStepChanged 3579",
        "2017-12-23 00:05:29.067",
        None,
        {"component": "Step_LSC", "pid": 30002312, "message": "onStandStepChanged 3579"},
    ),
    Case(
        "proxifier",
        "[10.30 16:49:06] chrome.exe *64 - proxy.x.org:5070 open through proxy",
        "2023-10-30 16:49:06",
        None,
        {"program": "chrome.exe *64", "message": "proxy.x.org:5070 open through proxy"},
    ),
    Case(
        "logcat",
        "03-09 16:13:38.811  1702  2395 D WindowManager: printFreezing: x",
        "2024-03-09 16:13:38.811",
        "D",
        {"pid": 1702, "tid": 2395, "component": "WindowManager", "message": "printFreezing: x"},
    ),
    Case(
        "logcat, year",
        "2023-03-17 16:13:38.811  1702  2395 D dalvikvm  : GC",
        "2023-03-17 16:13:38.811",
        "D",
        {"component": "dalvikvm", "message": "GC"},
    ),
    Case(
        "logcat, time",
        "03-09 16:13:38.811 E/AndroidRuntime( 1234): FATAL",
        "2024-03-09 16:13:38.811",
        "E",
        {"component": "AndroidRuntime", "pid": 1234, "message": "FATAL"},
    ),
    Case("logcat, brief", "W/My Tag(  99): no time", None, "W", {"component": "My Tag", "pid": 99}),
    Case(
        "redis",
        "1:M 02 Jan 2024 03:04:05.678 * Ready to accept connections",
        "2024-01-02 03:04:05.678",
        "*",
        {"pid": 1, "role": "M", "message": "Ready to accept connections"},
    ),
    Case(
        "postgresql",
        "2024-01-02 03:04:05.678 UTC [71] app@shop ERROR:  relation does not exist",
        "2024-01-02 03:04:05.678Z",
        "ERROR",
        {"pid": 71, "user": "app", "database": "shop", "message": "relation does not exist"},
    ),
    Case(
        "postgresql",
        "2024-01-02 03:04:05 UTC [71-1] [unknown]@[unknown] LOG:  incomplete startup packet",
        "2024-01-02 03:04:05Z",
        "LOG",
        {"session": "71-1", "user": "[unknown]", "database": "[unknown]", "message": "incomplete startup packet"},
    ),
    Case(
        "postgresql",
        "2024-01-02 03:04:05 UTC:10.0.0.7(49152):app@shop:[71]:ERROR:  relation does not exist",
        "2024-01-02 03:04:05Z",
        "ERROR",
        {"pid": 71, "client": "10.0.0.7(49152)", "user": "app", "database": "shop", "session": None},
    ),
    Case(
        "postgresql",
        "2024-01-02 03:04:05 UTC::@:[7]:LOG:  checkpoint starting: time",
        "2024-01-02 03:04:05Z",
        "LOG",
        {"pid": 7, "client": "", "message": "checkpoint starting: time"},
    ),
    Case(
        "mysql",
        "2024-01-02T03:04:05.678901Z 8 [Warning] [MY-010068] [Server] CA certificate",
        "2024-01-02 03:04:05.678901Z",
        "Warning",
        {"thread": 8, "code": "MY-010068", "component": "Server", "message": "CA certificate"},
    ),
    Case(
        "redis, no year",
        "4961:M 30 Jan 12:50:13.457 * Ready to accept connections",
        "2024-01-30 12:50:13.457",
        "*",
        {"pid": 4961, "role": "M", "message": "Ready to accept connections"},
    ),
    Case("redis, no year", "[2932] 31 Jan 04:32:08 # x", "2024-01-31 04:32:08", "#", {"pid": 2932, "role": None}),
    Case("redis, no year", "31 Jan 04:32:08 - x", "2024-01-31 04:32:08", "-", {"pid": None, "message": "x"}),
    Case(
        "mariadb",
        "2019-10-16  7:24:15 0 [Note] InnoDB: 10.4.8 started",
        "2019-10-16 07:24:15",
        "Note",
        {"thread": 0, "message": "InnoDB: 10.4.8 started"},
    ),
    Case("mariadb", "161209 14:18:50 [Warning] x", "2016-12-09 14:18:50", "Warning", {"thread": None, "message": "x"}),
    Case(
        "mariadb",
        "161209  4:18:50 mysqld_safe Starting",
        "2016-12-09 04:18:50",
        None,
        {"message": "mysqld_safe Starting"},
    ),
    Case(
        "mongodb",
        "2018-02-05T13:44:56.657+0100 I CONTROL  [initandlisten] git version: x",
        "2018-02-05 12:44:56.657Z",
        "I",
        {"component": "CONTROL", "thread": "initandlisten", "message": "git version: x"},
    ),
    Case(
        "ruby",
        "I, [2024-06-26T17:00:04.497736 #126554]  INFO -- : Completed 200 OK in 4ms",
        "2024-06-26 17:00:04.497736",
        "INFO",
        {"pid": 126554, "component": None, "message": "Completed 200 OK in 4ms"},
    ),
    Case(
        "ruby",
        "E, [2019-01-04 05:14:33 #7] ERROR -- Shop::Cart: failed: x",
        "2019-01-04 05:14:33",
        "ERROR",
        {"component": "Shop::Cart", "message": "failed: x"},
    ),
    Case(
        "iso, brackets",
        "[2018-05-17T08:29:12,177][INFO ][o.e.n.Node               ] [node_4] closing ...",
        "2018-05-17 08:29:12.177",
        "INFO",
        {"pid": None, "component": "o.e.n.Node", "message": "[node_4] closing ..."},
    ),
    Case(
        "iso, brackets",
        "[2018-06-13T07:44:22.647+0000][32376][info         ][gc,age      ] GC(28) - age",
        "2018-06-13 07:44:22.647Z",
        "info",
        {"pid": 32376, "component": "gc,age", "message": "GC(28) - age"},
    ),
    Case(
        "monolog",
        '[2025-08-31 06:49:00] local.ERROR: Something bad {"user_id":123}',
        "2025-08-31 06:49:00",
        "ERROR",
        {"component": "local", "message": 'Something bad {"user_id":123}'},
    ),
    Case("python", "WARNING:root:no time", None, "WARNING", {"component": "root", "message": "no time"}),
]
SYSLOG = [
    Case(
        "syslog",
        "Jun 14 15:16:01 combo sshd(pam_unix)[19939]: authentication failure; uid=0",
        "2023-06-14 15:16:01",
        None,
        {"host": "combo", "process": "sshd(pam_unix)", "pid": 19939, "message": "authentication failure; uid=0"},
    ),
    Case(
        "syslog", "<13>Mar  9 05:06:07 host app: x", "2024-03-09 05:06:07", "notice", {"priority": 13, "process": "app"}
    ),
    Case(
        "syslog", "Jun 19 04:09:11 h syslogd 1.4.1: restart.", "2023-06-19 04:09:11", None, {"process": "syslogd 1.4.1"}
    ),
    Case(
        "syslog",
        "Jul  1 09:00:55 mac Microsoft Word[14463] (com.x[1]): a b: c",
        "2023-07-01 09:00:55",
        None,
        {"process": "Microsoft Word", "pid": 14463, "address": "com.x[1]", "message": "a b: c"},
    ),
    Case("syslog", "<192>Mar  9 05:06:07 host app: x", "2024-03-09 05:06:07", None, {"priority": 192}),
    Case("syslog", "Jul  1 09:00:55 h no program here", "2023-07-01 09:00:55", None, {"message": "no program here"}),
    Case("syslog, year", "Jan  2 2024 03:04:05: fw %ASA-6-302013: x", "2024-01-02 03:04:05", None, {"host": "fw"}),
    Case(
        "syslog, iso",
        "2024-01-02T03:04:05.678901+01:00 web01 nginx[7]: started",
        "2024-01-02 02:04:05.678901Z",
        None,
        {"host": "web01", "process": "nginx", "pid": 7, "message": "started"},
    ),
    Case(
        "syslog, rfc 5424",
        '<165>1 2003-10-11T22:14:15.003Z host evntslog - ID47 [x@1 a="b"] An event',
        "2003-10-11 22:14:15.003Z",
        "notice",
        {"priority": 165, "process": "evntslog", "pid": None, "message_id": "ID47", "message": "An event"},
    ),
    Case(
        "syslog, rfc 5424",
        r'<1>1 2003-10-11T22:14:15Z h - - - [x@1 a="b \"c\] " d="]"][y@1] text [z] more',
        "2003-10-11 22:14:15Z",
        "alert",
        {"structured_data": '[x@1 a="b \\"c\\] " d="]"][y@1]', "message": "text [z] more", "process": None},
    ),
    Case(
        "syslog, rfc 5424",
        '<1>1 2003-10-11T22:14:15Z h - - - [x@1 a="b"]',
        "2003-10-11 22:14:15Z",
        "alert",
        {"structured_data": '[x@1 a="b"]', "message": ""},
    ),
    Case(
        "blue gene",
        "- 1117838570 2005.06.03 R02-M1 2005-06-03-15.42.50.675872 R02-M1 RAS KERNEL INFO parity error",
        "2005-06-03 22:42:50.675872Z",
        "INFO",
        {
            "label": "-",
            "epoch": 1117838570,
            "date": "2005.06.03",
            "node": "R02-M1",
            "type": "RAS",
            "component": "KERNEL",
        },
    ),
    Case(
        "thunderbird",
        "- 1131566461 2005.11.09 dn228 Nov 9 12:01:01 dn228/dn228 crond(pam_unix)[2915]: session closed",
        "2005-11-09 20:01:01Z",
        None,
        {
            "user": "dn228",
            "location": "dn228/dn228",
            "process": "crond(pam_unix)",
            "pid": 2915,
            "message": "session closed",
        },
    ),
    Case(
        "hpc",
        "2286759 full partition status 1061219795 -1 running",
        "2003-08-18 15:16:35Z",
        None,
        {"id": 2286759, "node": "full", "component": "partition", "state": "status", "flag": -1, "message": "running"},
    ),
]
CONTAINERS = [
    Case(
        "cri",
        "2024-01-02T03:04:05.678901234Z stdout F a line",
        "2024-01-02 03:04:05.678901234Z",
        None,
        {"stream": "stdout", "tag": "F", "message": "a line"},
    ),
    Case(
        "docker json",
        r'{"log":"caf\u00e9 \"x\"\n","stream":"stderr","time":"2024-01-02T03:04:05.5Z"}',
        "2024-01-02 03:04:05.5Z",
        None,
        {"message": 'café "x"', "stream": "stderr"},
    ),
    Case(
        "klog",
        "I0305 08:09:10.123456       1 controller.go:116] synced",
        "2024-03-05 08:09:10.123456",
        "I",
        {"pid": 1, "source": "controller.go:116", "message": "synced"},
    ),
    Case("glog", "W20240305 08:09:10.123456    77 a.cc:1] x", "2024-03-05 08:09:10.123456", "W", {"pid": 77}),
    Case(
        "journald json",
        '{"__CURSOR":"s=1","__REALTIME_TIMESTAMP":"1704164645678901","PRIORITY":"3","_PID":"7","MESSAGE":"oops"}',
        "2024-01-02 03:04:05.678901Z",
        "err",
        {"pid": 7, "message": "oops"},
    ),
]
KEYED = [
    Case(
        "logfmt",
        'ts=2024-01-02T03:04:05.006Z caller=main.go:1 level=info msg="a \\"b\\" c" took=1.5 n=3 code=007',
        "2024-01-02 03:04:05.006Z",
        "info",
        {"caller": "main.go:1", "msg": 'a "b" c', "took": 1.5, "n": 3, "code": "007"},
    ),
    Case("logfmt", 'level=warn time="2024-01-02T03:04:05+01:00" msg=x', "2024-01-02 02:04:05Z", "warn", {"msg": "x"}),
    Case("logfmt, seconds", "ts=1704164645.678 level=error msg=x", "2024-01-02 03:04:05.678Z", "error", {"msg": "x"}),
    Case("json", '{"time": "2024-01-02T03:04:05Z", "level": "INFO", "msg": "x"}', "2024-01-02 03:04:05Z", "INFO", {}),
    Case("logfmt", 'time="2024-01-02 03:04:05 -0500" level=info', "2024-01-02 08:04:05Z", "info", {}),
    Case("logfmt", "time=2024-01-02T03:04:05 level=info msg=x", "2024-01-02 03:04:05", "info", {"msg": "x"}),
    Case("json", '{"time":"2024-01-02 03:04:05 +0100","msg":"x"}', "2024-01-02 02:04:05Z", None, {"message": "x"}),
    Case("json", '{"time":"2024-01-02 03:04:05.5 UTC","msg":"x"}', "2024-01-02 03:04:05.5Z", None, {"message": "x"}),
    Case("json", '{"time":"2024-01-02 03:04:05 PM","msg":"x"}', "2024-01-02 15:04:05", None, {"message": "x"}),
    Case(
        "json",
        '{"severity":"ERROR","message":"a","@timestamp":"2024-01-02T03:04:05.120Z"}',
        "2024-01-02 03:04:05.12Z",
        "ERROR",
        {"message": "a"},
    ),
    Case(
        "mongodb json",
        r'{"t":{"$date":"2021-03-22T21:21:20.349+00:00"},"s":"I",  "c":"STORAGE",  "id":4615611, "ctx":"initandlisten",'
        r'"msg":"starting \"x\"","attr":{"pid":7}}',
        "2021-03-22 21:21:20.349Z",
        "I",
        {"component": "STORAGE", "id": 4615611, "thread": "initandlisten", "message": 'starting "x"'},
    ),
    Case(
        "json, seconds",
        '{"level":30,"time":1704164645678,"pid":7,"hostname":"h","msg":"x"}',
        "2024-01-02 03:04:05.678Z",
        "30",
        {"message": "x"},
    ),
    Case("json, seconds", '{"level":"WARN","timeMillis":1704164645678}', "2024-01-02 03:04:05.678Z", "WARN", {}),
    Case("json", '{"asctime":"2024-01-02 03:04:05,678","levelname":"INFO"}', "2024-01-02 03:04:05.678", "INFO", {}),
    Case("json", '{"Timestamp":"2024-01-02T03:04:05Z","Level":"Warning"}', "2024-01-02 03:04:05Z", "Warning", {}),
    Case("json, seconds", '{"level":"debug","ts":1704164645.25,"msg":"z"}', "2024-01-02 03:04:05.25Z", "debug", {}),
]
CASES = [*SERVERS, *APPLICATIONS, *SYSLOG, *CONTAINERS, *KEYED]


def moment(text: str | None) -> int | None:
    """Nanoseconds from 1970."""
    if text is None:
        return None
    whole, _, fraction = text.removesuffix("Z").partition(".")
    seconds = datetime.datetime.fromisoformat(whole).replace(tzinfo=datetime.UTC).timestamp()
    return int(seconds) * 10**9 + int(fraction.ljust(9, "0") if fraction else 0)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.shape}: {case.line[:30]}")
@pytest.mark.parametrize("extract", [False, True], ids=["time and level", "all fields"])
def test_well_known_lines(case: Case, extract: bool, tmp_path: Path) -> None:
    path = write(tmp_path, [case.line, case.line])
    source, found = read(path, extract=extract)
    assert [decision.value for decision in source.decisions[str(path)]] == [case.shape]
    kind = found.schema.field("timestamp").type
    assert kind.tz == ("UTC" if case.time is not None and case.time.endswith("Z") else None)
    scale = 1 if kind.unit == "ns" else 1000
    nanoseconds = [None if each is None else each * scale for each in found["timestamp"].cast(pa.int64()).to_pylist()]
    assert nanoseconds == [moment(case.time)] * 2
    assert found["level"].to_pylist() == [case.level] * 2
    assert found["line"].to_pylist() == [case.line] * 2
    assert found["line_number"].to_pylist() == [1, 2]
    if extract:
        assert {name: found[name][1].as_py() for name in case.fields} == case.fields
    else:
        assert found.column_names == ["line", "file", "line_number", "timestamp", "level"]


def test_every_shape_has_a_line_here() -> None:
    assert {case.shape for case in CASES} | {"journald export", "java util logging"} == {shape.name for shape in SHAPES}


def test_journald_export(tmp_path: Path) -> None:
    block = "__CURSOR=s={0}|__REALTIME_TIMESTAMP=170416464567890{0}|PRIORITY=6|_PID=7|_HOSTNAME=h|MESSAGE=hello {0}|"
    path = write(tmp_path, [line for number in range(3) for line in block.format(number).split("|")])
    source, found = read(path, extract=True)
    assert source.decisions[str(path)][0].value == "journald export"
    assert found["line_number"].to_pylist() == [1, 8, 15]
    assert found["message"].to_pylist() == ["hello 0", "hello 1", "hello 2"]
    assert found["level"].to_pylist() == ["info"] * 3
    assert found["pid"].to_pylist() == [7] * 3
    assert found["timestamp"].cast(pa.int64()).to_pylist() == [1704164645678900, 1704164645678901, 1704164645678902]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_java_util_logging(line_end: str, tmp_path: Path) -> None:
    lines = [
        "Jan 2, 2024 3:04:05 AM shop.Cart add",
        "INFO: added",
        "Dec 31, 2024 12:04:05\u202fPM shop.Cart <init>",
        "SEVERE: failed",
        "java.lang.NullPointerException",
        "Jan 1, 2025 12:00:00 AM shop.Cart",
    ]
    path = tmp_path / "a.log"
    path.write_text("".join(line + line_end for line in lines), encoding="utf-8", newline="")
    source, found = read(path, extract=True)
    assert source.decisions[str(path)][0].value == "java util logging"
    assert found["line_number"].to_pylist() == [1, 3, 6]
    assert "\n".join(found["line"].to_pylist()) == "\n".join(lines)
    assert found["timestamp"].to_pylist() == [
        datetime.datetime(2024, 1, 2, 3, 4, 5),
        datetime.datetime(2024, 12, 31, 12, 4, 5),
        datetime.datetime(2025, 1, 1),
    ]
    assert found["level"].to_pylist() == ["INFO", "SEVERE", None]
    assert found["component"].to_pylist() == ["shop.Cart"] * 3
    assert found["method"].to_pylist() == ["add", "<init>", None]
    assert found["message"].to_pylist() == ["added", "failed\njava.lang.NullPointerException", None]
    assert read(path)[1]["level"].to_pylist() == ["INFO", "SEVERE", None]


@pytest.mark.parametrize("separators", [(",", ":"), (", ", " : ")])
def test_messages_of_journald_that_are_no_plain_text(separators: tuple[str, str], tmp_path: Path) -> None:
    common = {"__CURSOR": "s", "__REALTIME_TIMESTAMP": "1704164645678901", "_PID": "7"}
    messages: dict[str, Any] = {
        "oops \\ ü": "oops \\ ü",
        "[104, 105]": "[104, 105]",  # a text that looks like an array
        "grün \x1b[1m": list("grün \x1b[1m".encode()),
        "\\xffA\nB": [255, 65, 10, 66],
        "": [],
        "a]\nb": ["a]", [98]],
        "[300]": [300],
        "[1.5]": [1.5],
    }
    lines = [
        json.dumps(common | {"MESSAGE": value, "_HOSTNAME": "h"}, separators=separators) for value in messages.values()
    ]
    lines += [json.dumps(common | {"MESSAGE": None}), json.dumps({"MESSAGE": [104, 105], **common})]
    source, found = read(write(tmp_path, lines), extract=True)
    assert next(iter(source.decisions.values()))[0].value == "journald json"
    assert found["message"].to_pylist() == [*messages, None, "hi"]
    assert found["host"].to_pylist() == ["h"] * len(messages) + [None, None]
    assert found["pid"].to_pylist() == [7] * len(lines)
    assert found["line"].to_pylist() == lines


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (b"two\nlines", "two\nlines"),
        (b"two\r\nlines \r", "two\r\nlines \r"),
        (b"", ""),
        (b"x" * 200 + b"\nMESSAGE=no\n", "x" * 200 + "\nMESSAGE=no"),
        (b"\xff\n\x00", "\\xff\n\x00"),
        (b"\r\n" * 1286 + b"x", "\r\n" * 1286 + "x"),  # its size has a carriage return and a line feed
    ],
)
def test_messages_of_the_export_format_that_have_a_size(message: bytes, expected: str, tmp_path: Path) -> None:
    sized = b"MESSAGE\n" + len(message).to_bytes(8, "little") + message + b"\n"
    head = b"__CURSOR=s\n__REALTIME_TIMESTAMP=1704164645678901\nPRIORITY=3\n"
    path = tmp_path / "a.log"
    path.write_bytes(
        b"\n".join([head + sized + b"_PID=7\n", head + b"MESSAGE=plain\n_PID=8\n", head + b"_PID=9\n" + sized])
    )
    source, found = read(path, extract=True)
    assert next(iter(source.decisions.values()))[0].value == "journald export"
    assert source.bad_records.count == 0
    assert found["message"].to_pylist() == [expected, "plain", expected]
    assert found["pid"].to_pylist()[1:] == [8, 9]
    assert found["level"].to_pylist() == ["err"] * 3


@pytest.mark.parametrize("separator", [" ", "\t"], ids=["iis", "cloudfront"])
def test_logs_with_a_header(separator: str, tmp_path: Path) -> None:
    names = ["date", "time", "c-ip", "cs-method", "sc-status", "cs(User-Agent)"]
    values = ["2024-01-02", "03:04:05", "10.0.0.1", "GET", "200", "-"]
    lines = ["#Version: 1.0", "#Fields: " + " ".join(names), separator.join(values), separator.join(values)]
    source, found = read(write(tmp_path, lines), extract=True)
    assert [decision.value for decision in next(iter(source.decisions.values()))] == ["w3c"]
    row = found.slice(3, 1).to_pylist()[0]
    assert row["timestamp"] == datetime.datetime(2024, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
    assert (row["c-ip"], row["sc-status"], row["cs(User-Agent)"]) == ("10.0.0.1", 200, None)
    assert found["timestamp"].null_count == 2


def test_one_line_below_a_header(tmp_path: Path) -> None:
    """CloudFront writes many small files."""
    source, found = read(
        write(tmp_path, ["#Version: 1.0", "#Fields: date time c-ip", "2024-01-02\t03:04:05\t10.0.0.1"])
    )
    assert [decision.value for decision in next(iter(source.decisions.values()))] == ["w3c"]
    assert found["timestamp"].null_count == 2


def test_a_header_with_other_fields(tmp_path: Path) -> None:
    """The values below it would come into the wrong columns."""
    first, other = "#Fields: date time c-ip cs-method", "#Fields: date time cs-method c-ip"
    lines = [first, "2024-01-02 03:04:05 10.0.0.1 GET", first, "2024-01-02 03:04:06 10.0.0.2 GET"]
    below = [other, "2024-01-02 03:04:07 PUT 10.0.0.3", other, "2024-01-02 03:04:08 PUT 10.0.0.4"]
    path = write(tmp_path, [*lines, *below, first, "2024-01-02 03:04:09 10.0.0.5 GET"])
    with pytest.raises(CorruptedData, match=r"expected the fields of the first header, found .*line 6\)"):
        read(path, extract=True)
    source, found = read(path, extract=True, on_error="skip")
    assert found["c-ip"].drop_null().to_pylist() == ["10.0.0.1", "10.0.0.2", "10.0.0.5"]
    assert [each.line for each in source.bad_records.examples] == [6, 8]
    assert read(path)[1]["timestamp"].null_count == 5


def test_a_syslog_line_without_a_time(tmp_path: Path) -> None:
    lines = [
        "<34>1 2003-10-11T22:14:15Z h su - - - a",
        "<13>1 - - - - - - b",
        "<34>1 2003-10-11T22:14:16Z h su - - - c",
    ]
    _, found = read(write(tmp_path, lines), extract=True)
    assert found["message"].to_pylist() == ["a", "b", "c"]
    assert found["timestamp"].is_null().to_pylist() == [False, True, False]


@pytest.mark.parametrize(
    ("dates", "shape", "found"),
    [
        (["01/02/2024 10:00:00", "13/02/2024 10:00:00"], "day first, level", ["2024-02-01T10", "2024-02-13T10"]),
        (["01/02/2024 10:00:00", "01/13/2024 10:00:00"], "month first, level", ["2024-01-02T10", "2024-01-13T10"]),
        (["2/1/2024 1:00:00 PM", "2/1/2024 12:00:00 AM"], "month first, level", ["2024-02-01T13", "2024-02-01T00"]),
        (["01/02/2024 10:00:00", "02/02/2024 10:00:00"], "day first, level", ["2024-02-01T10", "2024-02-02T10"]),
        (["01/02/2024 10:00:00", "01/03/2024 10:00:00"], "month first, level", ["2024-01-02T10", "2024-01-03T10"]),
        (["01-02-2024 10:00:00", "01-02-2024 11:00:00"], "day first, level", ["2024-02-01T10", "2024-02-01T11"]),
        (["01-02-2024 10:00:00", "01-13-2024 11:00:00"], "month first, level", ["2024-01-02T10", "2024-01-13T11"]),
        (["01/02/2024 10:00:00", "01/02/2024 11:00:00"], None, None),
        (["13/02/2024 10:00:00", "02/13/2024 11:00:00"], None, None),
        (["02/13/2024 10:00:00:500"] * 2, "month first, level", ["2024-02-13T10:00:00.500000"] * 2),
    ],
)
def test_dates_with_two_meanings(dates: list[str], shape: str | None, found: list[str] | None, tmp_path: Path) -> None:
    path = write(tmp_path, [f"{date} WARN x" for date in dates])
    source, table = read(path)
    assert [decision.value for decision in source.decisions.get(str(path), ())] == ([] if shape is None else [shape])
    assert table["line"].to_pylist() == [f"{date} WARN x" for date in dates]
    if found is None:
        assert "timestamp" not in table.column_names
    else:
        times = [time.isoformat() for time in table["timestamp"].to_pylist()]
        assert [time[: len(text)] for time, text in zip(times, found, strict=True)] == found
        assert table["level"].to_pylist() == ["WARN", "WARN"]
        assert read(write(tmp_path, [f"{date} | WARN: x" for date in dates]))[1]["level"].to_pylist() == ["WARN"] * 2


@pytest.mark.parametrize(
    "lines",
    [
        ["just some text", "and more of it"],
        [],
        ["", "", ""],
        ["2024-13-01 is no date", "12:34:56 is only a time"],
        ["a text in which", "2024-01-02 03:04:05 one line", "has a time"],
        ["a text in which", "Jan 2, 2024 10:00:00 AM one line", "has a time"],
        ["5551234567 Anna", "2125551234 Bo"],
        ["1704164645", "1704164646"],
        ["1704164645 is one number", "of a text", "in three lines"],
        ["# Query_time: 2", "SET timestamp=1704164645;", "SELECT 1;"] * 2,
    ],
)
def test_other_text_has_no_time(lines: list[str], tmp_path: Path) -> None:
    path = write(tmp_path, lines, "a.txt")
    assert read_files(path).schema.names == ["line", "file", "line_number"]
    assert [row["line"] for row in rows(path)] == lines


def test_logs_of_several_shapes(tmp_path: Path) -> None:
    write(tmp_path, ["Jun 14 15:16:01 combo sshd: x"], "a.log")
    write(tmp_path, ["2016-09-28 04:30:30, Info   CBS    Loaded"], "b.log")
    write(tmp_path, ["no shape"], "c.txt")
    (tmp_path / "d.log.gz").write_bytes(gzip.compress(b"17/06/09 20:10:40 INFO spark: x\n"))
    found = rows(tmp_path)
    assert [row["level"] for row in found] == [None, "Info", None, "INFO"]
    assert [row["timestamp"] is None for row in found] == [False, False, True, False]
    assert [os.path.basename(row["file"]) for row in found] == ["a.log", "b.log", "c.txt", "d.log.gz"]


def test_types_of_log_columns(tmp_path: Path) -> None:
    path = write(tmp_path, ["2024-01-02 03:04:05 INFO x"])
    types = {"timestamp": pa.timestamp("ns"), "file": pa.dictionary(pa.int32(), pa.string())}
    source = read_files(path, types=types)
    assert source.schema.field("timestamp").type == pa.timestamp("ns")
    assert next(source.batches())["file"].type == types["file"]


@requires_logs
@pytest.mark.parametrize(
    ("name", "shape", "first", "last", "levels"),
    [
        ("Apache", "apache error", "2005-12-04 04:47:44", "2005-12-05 19:15:57", {"notice", "error"}),
        ("HDFS", "hdfs", "2008-11-09 20:36:15", "2008-11-11 10:20:17", {"INFO", "WARN"}),
        ("Linux", "syslog", "2005-06-14 15:16:01", "2005-07-27 14:42:00", set()),
        ("OpenSSH", "syslog", "2005-12-10 06:55:46", "2005-12-10 11:04:45", set()),
        ("OpenStack", "openstack", "2017-05-16 00:00:00.008", "2017-05-16 00:14:47.687", {"INFO", "WARNING"}),
        ("Spark", "spark", "2017-06-09 20:10:40", "2017-06-09 20:11:11", {"INFO"}),
        ("Windows", "windows cbs", "2016-09-28 04:30:30", "2016-09-29 02:04:40", {"Info"}),
        ("Zookeeper", "zookeeper", "2015-07-29 17:41:44.747", "2015-08-10 18:12:34.004", {"INFO", "WARN", "ERROR"}),
    ],
)
def test_real_logs(name: str, shape: str, first: str, last: str, levels: set[str]) -> None:
    path = DATA / f"{name}_2k.log"
    lines = path.read_text(encoding="utf-8").split("\n")
    source, table = read(path, year=2005)
    found = table.to_pylist()
    assert len(found) == 2000
    assert [row["line"] for row in found] == [line.removesuffix("\r") for line in lines[:2000]]
    assert source.decisions[str(path)][0].value == shape
    assert all(row["timestamp"] is not None for row in found)
    assert found[0]["timestamp"] == datetime.datetime.fromisoformat(first)
    assert found[-1]["timestamp"] == datetime.datetime.fromisoformat(last)
    assert {row["level"] for row in found} - {None} == levels
