"""Deterministic benchmark data sets.

Every generator is a pure function of (rows, seed) and returns a pyarrow.Table.
`load(name, rows, seed)` caches the table as an uncompressed Arrow IPC file under
$AMUDAI_BENCH_CACHE (default: <system temp dir>/amudai-bench) and memory-maps it.

Real data, for which nothing here was tuned, is in real_tables.py.
"""

from __future__ import annotations

import os
import tempfile
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from . import real_tables
from .spec import Spec

EPOCH_US = 1_750_000_000_000_000  # 2025-06-15T15:06:40Z


def cache_dir() -> str:
    d = os.environ.get("AMUDAI_BENCH_CACHE") or os.path.join(tempfile.gettempdir(), "amudai-bench")
    os.makedirs(d, exist_ok=True)
    return d


# ---------------------------------------------------------------- string helpers


def _pick(words, idx, mask=None) -> pa.Array:
    """words[idx] as a plain string array (no dictionary)."""
    idx = pa.array(np.asarray(idx, dtype=np.int32), mask=mask)
    return pc.take(pa.array(words, pa.string()), idx)


def _num(a, width: int = 0) -> pa.Array:
    s = pc.cast(pa.array(a), pa.string())
    return pc.utf8_lpad(s, width=width, padding="0") if width else s


def _cat(*parts) -> pa.Array:
    """Element-wise concatenation of literals and string arrays."""
    return pc.binary_join_element_wise(*[pa.scalar(p) if isinstance(p, str) else p for p in parts], "")


def _hex(raw: np.ndarray) -> pa.Array:
    """(n, k) uint8 -> n hex strings of 2k characters."""
    n, k = raw.shape
    digits = np.frombuffer(b"0123456789abcdef", np.uint8)
    out = np.empty((n, 2 * k), np.uint8)
    out[:, 0::2] = digits[raw >> 4]
    out[:, 1::2] = digits[raw & 15]
    return _fixed(out)


def _fixed(chars: np.ndarray) -> pa.Array:
    n, w = chars.shape
    off = np.arange(0, (n + 1) * w, w, dtype=np.int32)
    return pa.StringArray.from_buffers(n, pa.py_buffer(off), pa.py_buffer(np.ascontiguousarray(chars)))


def _uuid(rng, n) -> pa.Array:
    h = np.frombuffer(_hex(rng.integers(0, 256, (n, 16), dtype=np.uint8)).buffers()[2], np.uint8).reshape(n, 32)
    out = np.full((n, 36), ord("-"), np.uint8)
    for s, d, w in ((0, 0, 8), (8, 9, 4), (12, 14, 4), (16, 19, 4), (20, 24, 12)):
        out[:, d : d + w] = h[:, s : s + w]
    return _fixed(out)


def _zipf(rng, n, k, a=1.1) -> np.ndarray:
    p = 1.0 / np.arange(1, k + 1) ** a
    return rng.choice(k, n, p=p / p.sum()).astype(np.int32)


def _nulls(rng, arr, share) -> pa.Array:
    """Return arr with `share` of the rows made null."""
    idx = pa.array(np.arange(len(arr)), mask=rng.random(len(arr)) < share)
    return pc.take(arr, idx)  # take, not if_else: leaves no slack in the string buffers


# ---------------------------------------------------------------- logs

_COMPONENTS = (
    "gateway scheduler billing checkout catalog inventory payment session profile search "
    "indexer ingest notifier exporter replicator balancer resolver archiver planner worker"
).split()
# Slots: C component, U user, I ip, N small number, M milliseconds, B bytes, H hex id, P path, S host, X uuid-ish
_SKELETONS = [
    "Request completed for {U} in {M} ms with {N} upstream calls",
    "{C}: accepted connection from {I} port {N}",
    "{C}: closed connection to {I} after {M} ms idle",
    "Fetched {N} rows from shard {N} in {M} ms (plan {H})",
    "Cache miss for key {C}:{H}, loading from primary store",
    "Cache hit ratio for {C} is {N} percent over the last {N} seconds",
    "User {U} logged in from {I} using token {H}",
    "User {U} failed authentication from {I}: invalid password",
    "{C}: retrying request {H} to {S}, attempt {N} of 5, backoff {M} ms",
    "{C}: request {H} failed with timeout after {M} ms while waiting for {S}",
    "Circuit breaker opened for {C} on {S} after {N} consecutive failures",
    "Flushed {N} segments ({B} bytes) to disk in {M} ms",
    "Garbage collection paused {C} for {M} ms, reclaimed {B} bytes",
    "Published event {H} to topic {C}.events partition {N} offset {B}",
    "Consumer group {C} rebalanced, {N} partitions assigned to {S}",
    "Lease renewed by {S} for {C} until epoch {B}",
    "Replica {S} is lagging behind primary by {B} bytes",
    "Query {H} on {C} exceeded its memory budget of {B} bytes and spilled to disk",
    "Order {B} created by {U}, total items {N}, reference {H}",
    "Payment {H} for order {B} authorised by provider in {M} ms",
    "java.lang.IllegalStateException: {C} entered unexpected state {N} while handling {H}",
    "Health probe of {S} returned status {N} in {M} ms",
]
_TWO_TERM = "{C}: replica {S} rejected write {H}: checksum mismatch at offset {B}"
_RARE = "{C}: deadlock detected between transaction {B} and {B}, victim {H}"
RARE_SHARE = 1e-5

# What text search looks for. Chosen so that substring match == whole-word match.
SEARCHES = {
    "rare": ["deadlock"],  # ~1e-5 of the rows
    "two": ["checksum", "gateway"],  # both words, ~0.1 %
    "common": ["connection"],  # ~10 %
}
PART = "eadloc"  # in the middle of a rare word: no index has it as a term


def _templates():
    out = []
    for i in range(298):
        sk = _SKELETONS[i % len(_SKELETONS)]
        out.append(sk.replace("{C}", _COMPONENTS[(i // len(_SKELETONS) + i) % len(_COMPONENTS)]))
    return out


def _expand(rng, template, m) -> pa.Array:
    import re

    parts = []
    for tok in re.split(r"(\{[A-Z]\})", template):
        if not tok:
            continue
        if tok == "{C}":
            parts.append(_pick(_COMPONENTS, rng.integers(0, len(_COMPONENTS), m)))
        elif tok == "{U}":
            parts.append(_cat("user", _num(np.minimum(rng.zipf(1.3, m), 80_000).astype(np.int32), 5)))
        elif tok == "{I}":
            parts.append(_ip(rng, m, 60_000))
        elif tok == "{N}":
            parts.append(_num(rng.integers(1, 500, m)))
        elif tok == "{M}":
            parts.append(_num(np.maximum(1, rng.lognormal(3.2, 1.1, m)).astype(np.int64)))
        elif tok == "{B}":
            parts.append(_num(rng.lognormal(11, 2, m).astype(np.int64)))
        elif tok == "{H}":
            parts.append(_hex(rng.integers(0, 256, (m, 6), dtype=np.uint8)))
        elif tok == "{S}":
            parts.append(_pick(_hosts(), _zipf(rng, m, 500, 0.6)))
        else:
            parts.append(tok)
    return _cat(*parts)


def _hosts():
    return [
        f"{z}-node-{i:03d}.prod.internal"
        for i, z in ((i, ("euw1", "euw2", "use1", "apse2")[i % 4]) for i in range(500))
    ]


@cache
def _addresses(distinct):
    pool = np.random.default_rng(77).integers(1, 255, (distinct, 4))
    return [f"{a}.{b}.{c}.{d}" for a, b, c, d in pool]


def _ip(rng, n, distinct):
    return _pick(_addresses(distinct), np.minimum(rng.zipf(1.15, n), distinct) - 1)


def logs(n: int, seed: int = 1) -> pa.Table:
    rng = np.random.default_rng(seed)
    step = rng.exponential(1200.0, n)
    ts = (EPOCH_US + np.cumsum(step) + rng.normal(0, 40_000, n)).astype(np.int64)

    svc = _zipf(rng, n, 50, 0.9)
    services = [f"{_COMPONENTS[i % 20]}-{('api', 'worker', 'cron')[i % 3]}-v{1 + i // 20}" for i in range(50)]
    host = (svc * 7 + rng.integers(0, 40, n)) % 500
    pods = _uuid(np.random.default_rng(seed + 9), 3000).to_pylist()
    pod = host * 6 + rng.integers(0, 6, n)

    trace_no = np.maximum(0, (np.arange(n) / 4 + rng.normal(0, 3, n)).astype(np.int64))
    traces = _uuid(rng, int(trace_no.max()) + 1)

    status = rng.choice(
        np.array([200, 201, 204, 301, 304, 400, 401, 403, 404, 429, 500, 502, 503], np.int32),
        n,
        p=[0.79, 0.03, 0.04, 0.01, 0.05, 0.01, 0.01, 0.005, 0.03, 0.005, 0.01, 0.004, 0.006],
    )
    level = np.where(status >= 500, 3, rng.choice(4, n, p=[0.12, 0.80, 0.07, 0.01]))
    duration = np.round(rng.lognormal(3.0, 1.2, n), 2)
    nbytes = rng.lognormal(8.0, 1.8, n).astype(np.int64)

    roots = [f"/api/v{1 + i % 3}/{_COMPONENTS[i % 20]}/" for i in range(40)]
    tails = ["", "/items", "/details", "/history?page=2", "/events", "?expand=true"]
    url = _cat(
        _pick(roots, _zipf(rng, n, 40)), _num(rng.integers(1, 400_000, n)), _pick(tails, rng.integers(0, len(tails), n))
    )

    # message: ~300 templates, Zipf-distributed, expanded per template and put back in row order
    tmpl = _zipf(rng, n, 298, 0.8)
    u = rng.random(n)
    tmpl[u < 0.02] = 298
    tmpl[u < RARE_SHARE] = 299
    order = np.argsort(tmpl, kind="stable")
    counts = np.bincount(tmpl, minlength=300)
    chunks = [_expand(rng, t, int(c)) for t, c in zip(_templates() + [_TWO_TERM, _RARE], counts) if c]
    inv = np.empty(n, np.int64)
    inv[order] = np.arange(n)
    message = pc.take(pa.concat_arrays(chunks), pa.array(inv))

    props = _cat(
        '{"sdk":"',
        _pick(["go1.22", "py3.11", "net8", "java21"], _zipf(rng, n, 4)),
        '","region":"',
        _pick(["euw1", "euw2", "use1", "apse2"], host % 4),
        '","tenant":',
        _num(_zipf(rng, n, 2000, 1.0)),
        ',"retry":',
        _num(rng.geometric(0.9, n) - 1),
        ',"flags":["',
        _pick(["a", "beta", "canary", "gold"], _zipf(rng, n, 4)),
        '"]}',
    )

    tag_words = [f"{k}:{v}" for k in ("env", "team", "tier", "zone") for v in ("a", "b", "core", "edge", "x1")]
    ntag = rng.integers(0, 4, n)
    toff = np.concatenate([[0], np.cumsum(ntag)]).astype(np.int32)
    tags = pa.ListArray.from_arrays(pa.array(toff), _pick(tag_words, _zipf(rng, int(toff[-1]), 20)))

    attrs = pa.StructArray.from_arrays(
        [
            _pick([f"2.{i}.{i * 7 % 10}" for i in range(30)], _zipf(rng, n, 30)),
            pa.array(rng.geometric(0.8, n).astype(np.int32)),
            _nulls(rng, pa.array(rng.random(n) < 0.05), 0.1),
            pa.array(np.round(rng.random(n), 3)),
        ],
        names=["version", "attempts", "sampled", "score"],
    )

    return pa.table(
        {
            "timestamp": pa.array(ts).view(pa.timestamp("us")),
            "level": _pick(["DEBUG", "INFO", "WARN", "ERROR"], level),
            "service": _pick(services, svc),
            "host": _pick(_hosts(), host),
            "pod": _pick(pods, pod),
            "trace_id": pc.take(traces, pa.array(trace_no)),
            "client_ip": _nulls(rng, _ip(rng, n, 60_000), 0.08),
            "status": pa.array(status),
            "duration_ms": _nulls(rng, pa.array(duration), 0.02),
            "bytes": pa.array(nbytes),
            "cached": _nulls(rng, pa.array(rng.random(n) < 0.3), 0.15),
            "url": url,
            "message": message,
            "props": _nulls(rng, props, 0.25),
            "tags": tags,
            "attrs": attrs,
        }
    )


# ---------------------------------------------------------------- metrics / vectors


def metrics(n: int, seed: int = 2) -> pa.Table:
    """200 series sampled every 10 s, rows ordered by (time, series)."""
    rng = np.random.default_rng(seed)
    series = 200
    t = (n + series - 1) // series
    walk = np.cumsum(rng.normal(0, 0.5, (t, series)), axis=0) + rng.uniform(20, 500, series)
    decimals = np.where(np.arange(series) % 2, 2, 3)
    gauge = np.empty_like(walk)
    for d in (2, 3):
        gauge[:, decimals == d] = np.round(walk[:, decimals == d], d)
    counter = np.cumsum(rng.poisson(rng.uniform(1, 3000, series), (t, series)), axis=0)
    real = rng.normal(0, 1, (t, series)) * np.exp(rng.normal(0, 3, (t, series)))
    ts = np.repeat(EPOCH_US + np.arange(t, dtype=np.int64) * 10_000_000, series)
    return (
        pa.table(
            {
                "timestamp": pa.array(ts).view(pa.timestamp("us")),
                "series": pa.array(np.tile(np.arange(series, dtype=np.int32), t)),
                "gauge": pa.array(gauge.ravel()),
                "counter": pa.array(counter.ravel().astype(np.int64)),
                "real": pa.array(real.ravel()),
                "cpu": pa.array(rng.beta(2, 5, t * series).astype(np.float32)),
            }
        )
        .slice(0, n)
        .combine_chunks()
    )


def vectors(n: int, seed: int = 3) -> pa.Table:
    """float32 embeddings; kept apart from `metrics` because 64 x 4 B drowns every other column."""
    rng = np.random.default_rng(seed)
    emb = rng.standard_normal((n, 64), dtype=np.float32)
    emb /= np.linalg.norm(emb, axis=1, keepdims=True)
    return pa.table(
        {
            "id": pa.array(np.arange(n, dtype=np.int64)),
            "label": pa.array(_zipf(rng, n, 1000)),
            "embedding": pa.FixedSizeListArray.from_arrays(pa.array(emb.ravel()), 64),
        }
    )


# ---------------------------------------------------------------- lineitem

_NOUNS = (
    "packages requests accounts deposits foxes ideas theodolites pinto beans instructions dependencies excuses "
    "platelets asymptotes courts dolphins multipliers sauternes warthogs frets dinos"
).split()
_VERBS = "sleep wake are cajole haggle nag use boost affix detect integrate maintain nod was lose sublate solve".split()
_ADV = (
    "quickly slowly carefully blithely furiously express final ironic bold regular special pending silent even".split()
)


def lineitem(n: int, seed: int = 4) -> pa.Table:
    """TPC-H lineitem look-alike (dbgen's distributions, own random streams). Money as float64."""
    rng = np.random.default_rng(seed)
    orders = n // 4 + n // 100 + 8  # 1..7 lines each, 4 on average; cut to n below
    lines = rng.integers(1, 8, orders)
    o = np.repeat(np.arange(orders), lines)[:n]
    start = np.concatenate([[0], np.cumsum(lines)])[:-1]
    okey = (o // 8) * 32 + o % 8 + 1  # dbgen's sparse keys
    line = np.arange(len(o)) - start[o] + 1
    sf = max(1, n // 6_000_000 + 1)
    part = rng.integers(1, 200_000 * sf + 1, len(o))
    supp = (part + rng.integers(0, 4, len(o)) * (10_000 * sf // 4)) % (10_000 * sf) + 1
    qty = rng.integers(1, 51, len(o))
    price = (90_000 + (part // 10) % 20_001 + 100 * (part % 1000)) * qty / 100
    odate = rng.integers(8035, 10441, orders)[o]  # 1992-01-01 .. 1998-08-02
    ship = odate + rng.integers(1, 122, len(o))
    commit = odate + rng.integers(30, 91, len(o))
    receipt = ship + rng.integers(1, 31, len(o))
    today = 9298  # 1995-06-17
    rflag = np.where(receipt <= today, rng.integers(0, 2, len(o)), 2)
    k = len(o)
    comment = _cat(
        _pick(_ADV, rng.integers(0, len(_ADV), k)),
        " ",
        _pick(_NOUNS, rng.integers(0, len(_NOUNS), k)),
        " ",
        _pick(_VERBS, rng.integers(0, len(_VERBS), k)),
        _pick([".", " after", " along the", " above the", ""], rng.integers(0, 5, k)),
        " ",
        _pick(_ADV, rng.integers(0, len(_ADV), k)),
        _pick(["", " ", " do", " th", ", "], rng.integers(0, 5, k)),
    )
    date = lambda a: pa.array(a.astype(np.int32)).view(pa.date32())
    return pa.table(
        {
            "l_orderkey": pa.array(okey.astype(np.int64)),
            "l_partkey": pa.array(part.astype(np.int64)),
            "l_suppkey": pa.array(supp.astype(np.int64)),
            "l_linenumber": pa.array(line.astype(np.int32)),
            "l_quantity": pa.array(qty.astype(np.float64)),
            "l_extendedprice": pa.array(np.round(price, 2)),
            "l_discount": pa.array(rng.integers(0, 11, k) / 100),
            "l_tax": pa.array(rng.integers(0, 9, k) / 100),
            "l_returnflag": _pick(["R", "A", "N"], rflag),
            "l_linestatus": _pick(["F", "O"], (ship > today).astype(np.int32)),
            "l_shipdate": date(ship),
            "l_commitdate": date(commit),
            "l_receiptdate": date(receipt),
            "l_shipinstruct": _pick(
                ["DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"], rng.integers(0, 4, k)
            ),
            "l_shipmode": _pick(["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"], rng.integers(0, 7, k)),
            "l_comment": comment,
        }
    )


# ---------------------------------------------------------------- taxi


def taxi(n: int, seed: int = 5) -> pa.Table:
    rng = np.random.default_rng(seed)
    pick = np.sort(EPOCH_US // 1_000_000 + rng.integers(0, 30 * 86400, n))
    dist = np.round(rng.lognormal(0.7, 0.8, n), 2)
    secs = np.maximum(60, (dist * 240 * rng.lognormal(0, 0.3, n))).astype(np.int64)
    fare = np.round(3 + dist * 2.5 + secs / 180, 1)
    pay = rng.choice(4, n, p=[0.75, 0.20, 0.03, 0.02]) + 1
    tip = np.where(pay == 1, np.round(fare * rng.choice([0, 0.1, 0.15, 0.2, 0.25], n), 2), 0.0)
    toll = np.where(rng.random(n) < 0.06, 6.94, 0.0)
    cong = np.where(rng.random(n) < 0.9, 2.5, 0.0)
    miss = rng.random(n) < 0.04  # one vendor leaves five columns empty together
    opt = lambda a: pa.array(a, mask=miss)
    us = lambda s: pa.array(s * 1_000_000).view(pa.timestamp("us"))
    return pa.table(
        {
            "vendor_id": pa.array(rng.choice(np.array([1, 2, 6], np.int32), n, p=[0.3, 0.69, 0.01])),
            "pickup": us(pick),
            "dropoff": us(pick + secs),
            "passengers": opt(
                rng.choice(np.arange(0, 7), n, p=[0.02, 0.73, 0.14, 0.04, 0.02, 0.03, 0.02]).astype(np.int64)
            ),
            "distance": pa.array(dist),
            "rate_code": opt(rng.choice(np.array([1, 2, 3, 4, 5, 99]), n, p=[0.94, 0.035, 0.003, 0.002, 0.01, 0.01])),
            "store_and_fwd": opt(rng.random(n) < 0.005),
            "pu_location": pa.array(_zipf(rng, n, 263, 0.7) + 1),
            "do_location": pa.array(_zipf(rng, n, 263, 0.5) + 1),
            "payment_type": pa.array(pay.astype(np.int64)),
            "fare": pa.array(fare),
            "extra": pa.array(rng.choice([0.0, 0.5, 1.0, 2.5, 3.5], n, p=[0.35, 0.15, 0.2, 0.25, 0.05])),
            "mta_tax": pa.array(np.where(rng.random(n) < 0.99, 0.5, 0.0)),
            "tip": pa.array(tip),
            "tolls": pa.array(toll),
            "total": pa.array(np.round(fare + tip + toll + cong + 1.5, 2)),
            "congestion": opt(cong),
            "airport_fee": opt(np.where(rng.random(n) < 0.08, 1.75, 0.0)),
        }
    )


# ---------------------------------------------------------------- wide


def wide(n: int, seed: int = 6, columns: int = 10_000) -> pa.Table:
    """10,000 columns of mixed types, few rows: measures metadata cost."""
    rng = np.random.default_rng(seed)
    words = [f"v{i}" for i in range(100)]
    cols = {}
    for i in range(columns):
        k = i % 4
        if k == 0:
            cols[f"c{i:05d}"] = pa.array(np.cumsum(rng.integers(0, 9, n)))
        elif k == 1:
            cols[f"c{i:05d}"] = pa.array(rng.integers(0, 100, n, dtype=np.int32))
        elif k == 2:
            cols[f"c{i:05d}"] = pa.array(np.round(rng.normal(0, 50, n), 2))
        else:
            cols[f"c{i:05d}"] = _pick(words, rng.integers(0, 100, n))
    return pa.table(cols)


# ---------------------------------------------------------------- registry


def _logs_filters(t):
    n = t.num_rows
    ts = t["timestamp"].cast(pa.int64()).to_numpy()
    mid = np.partition(ts, n // 2)[n // 2]
    span = int((ts[-1] - ts[0]) * 0.001)
    tr = t["trace_id"][int(n * 0.613)].as_py()
    out = ["timestamp", "service", "duration_ms", "message"]
    us = lambda v: pa.scalar(int(v), pa.timestamp("us"))
    return {
        "filter_ts": ([("timestamp", ">=", us(mid)), ("timestamp", "<", us(mid + span))], out),
        "filter_status": ([("status", "==", pa.scalar(500, pa.int32()))], out),
        "filter_trace": ([("trace_id", "==", pa.scalar(tr))], out),
    }


def _lineitem_filters(t):
    d = lambda v: pa.scalar(v, pa.int32()).cast(pa.date32())
    n = t.num_rows
    key = t["l_orderkey"][int(n * 0.4)].as_py()
    return {
        "filter_q6": (
            [
                ("l_shipdate", ">=", d(8766)),
                ("l_shipdate", "<", d(9131)),
                ("l_discount", ">=", pa.scalar(0.05)),
                ("l_discount", "<=", pa.scalar(0.07)),
                ("l_quantity", "<", pa.scalar(24.0)),
            ],
            ["l_extendedprice", "l_discount"],
        ),
        "filter_key": ([("l_orderkey", "==", pa.scalar(key, pa.int64()))], ["l_orderkey", "l_partkey", "l_comment"]),
    }


GENERATORS = {
    "logs": Spec(
        logs,
        2_000_000,
        ["timestamp", "duration_ms"],
        {
            "sorted_int": "timestamp",
            "small_int": "status",
            "random_int": "bytes",
            "decimal_double": "duration_ms",
            "lowcard_string": "level",
            "midcard_string": "host",
            "highcard_string": "trace_id",
            "url_string": "url",
            "text": "message",
            "json_string": "props",
            "bool_nulls": "cached",
            "list_string": "tags",
            "struct": "attrs",
        },
        take=True,
        filters=_logs_filters,
        text="message",
        searches=SEARCHES,
        part=PART,
        check="bytes",
    ),
    "metrics": Spec(
        metrics,
        5_000_000,
        ["timestamp", "gauge"],
        {
            "regular_ts": "timestamp",
            "series_id": "series",
            "gauge_double": "gauge",
            "counter_int": "counter",
            "real_double": "real",
            "real_float": "cpu",
        },
        check="counter",
    ),
    "vectors": Spec(vectors, 1_000_000, ["id", "label"], {"embedding": "embedding"}, take=True, check="label"),
    "lineitem": Spec(
        lineitem,
        3_000_000,
        ["l_shipdate", "l_extendedprice"],
        {
            "orderkey": "l_orderkey",
            "partkey": "l_partkey",
            "price_double": "l_extendedprice",
            "date": "l_shipdate",
            "shipmode": "l_shipmode",
            "comment": "l_comment",
        },
        take=True,
        filters=_lineitem_filters,
        check="l_partkey",
    ),
    "taxi": Spec(
        taxi,
        2_000_000,
        ["pickup", "total"],
        {"lowcard_int": "payment_type", "nullable_int": "passengers", "total_double": "total"},
        check="pu_location",
    ),
    "wide": Spec(wide, 1_000, ["c00004", "c09998"], check="c00000"),
}

SYNTHETIC = tuple(GENERATORS)
GENERATORS |= real_tables.TABLES
REAL = tuple(real_tables.TABLES)


def key_of(name: str, rows: int | None = None, seed: int | None = None) -> str:
    """What files of a data set are named after. Real data has no seed."""
    key = f"{name}-{rows or GENERATORS[name].rows}"
    return key if seed is None or name in REAL else f"{key}-seed{seed}"


def path_of(name: str, rows: int | None = None, seed: int | None = None) -> str:
    return os.path.join(cache_dir(), f"{key_of(name, rows, seed)}.arrow")


def load(name: str, rows: int | None = None, seed: int | None = None) -> pa.Table:
    """A data set, made if it is not there yet; `seed` replaces the generator's own."""
    path = path_of(name, rows, seed)
    if not os.path.exists(path):
        spec = GENERATORS[name]
        other = {} if seed is None or name in REAL else {"seed": seed}
        t = spec.make(rows or spec.rows, **other).combine_chunks()
        tmp = path + ".tmp"
        with pa.OSFile(tmp, "wb") as f, pa.ipc.new_file(f, t.schema) as w:
            w.write_table(t)
        os.replace(tmp, path)
    return pa.ipc.open_file(pa.memory_map(path)).read_all()


if __name__ == "__main__":
    import sys
    import time

    for name in sys.argv[1:] or GENERATORS:
        t0 = time.time()
        t = load(name)
        print(
            f"{name}: {t.num_rows:,} rows, {t.num_columns} columns, {t.nbytes / 1e6:,.0f} MB, {time.time() - t0:.1f} s"
        )
