"""Generated logs of a busy system.

The number of rows decides everything: every machine generates the same rows.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["CHECKSUM", "COMMON", "DAY", "RARE", "make_logs"]

RARE, COMMON, CHECKSUM = "deadlock", "connection", "checksum"
RARE_ROWS = 20
DAY = np.datetime64("2026-03-02T00:00:00", "us")

_SERVICE_NAMES = """gateway checkout catalog inventory payment session profile search billing notifier
scheduler indexer exporter replicator resolver archiver planner balancer ingest worker"""
SERVICES = tuple(_SERVICE_NAMES.split())
LEVELS = ("DEBUG", "INFO", "WARN", "ERROR")
HOSTS = tuple(f"{zone}-node-{number:03d}" for number in range(120) for zone in ("euw1", "use1", "apse2"))

# Slots: C service, U user, I address, N small number, M milliseconds, B large number, H hexadecimal id, S host.
TEMPLATES = (
    "Request completed for {U} in {M} ms with {N} upstream calls",
    "Accepted connection from {I} port {B}",
    "Closed connection to {I} after {M} ms idle",
    "Fetched {N} rows from {C} in {M} ms (plan {H})",
    "Cache miss for key {C}:{H}, loading from primary store",
    "Cache hit ratio of {C} is {N} percent over the last {N} seconds",
    "User {U} logged in from {I} using token {H}",
    "User {U} failed authentication from {I}: invalid password",
    "Retrying request {H} to {S}, attempt {N}, backoff {M} ms",
    "Request {H} failed with timeout after {M} ms while waiting for {S}",
    "Circuit breaker opened for {C} on {S} after {N} failures",
    "Flushed {N} segments ({B} bytes) to disk in {M} ms",
    "Garbage collection paused {C} for {M} ms, reclaimed {B} bytes",
    "Published event {H} to topic {C}.events partition {N} offset {B}",
    "Consumer group {C} rebalanced, {N} partitions assigned to {S}",
    "Lease renewed by {S} for {C} until epoch {B}",
    "Replica {S} is lagging behind primary by {B} bytes",
    "Query {H} on {C} exceeded its memory budget of {B} bytes and spilled to disk",
    "Order {B} created by {U}, total items {N}, reference {H}",
    "Payment {H} for order {B} authorised by provider in {M} ms",
    "Health probe of {S} returned status {N} in {M} ms",
    "Replica {S} rejected write {H} for {C}: checksum mismatch at offset {B}",
    "Transaction {B} rolled back: deadlock with transaction {B}, victim {H}",
)
_CHECKSUM, _DEADLOCK = len(TEMPLATES) - 2, len(TEMPLATES) - 1

Rng = np.random.Generator
Numbers = npt.NDArray[np.int64]


def make_logs(rows: int) -> pa.Table:
    """A day of log records, in the order of time but for a little jitter."""
    rng = np.random.default_rng(20260302)
    step = 86_400_000_000 / rows
    elapsed = np.arange(rows) * step + rng.normal(0, 20 * step, rows)
    status = rng.choice([200, 201, 204, 304, 400, 404, 429, 500, 502, 503], rows, p=_STATUS_SHARES).astype(np.int32)
    level = np.where(status >= 500, 3, rng.choice(4, rows, p=[0.12, 0.80, 0.07, 0.01]))
    trace = np.maximum(0, np.arange(rows) // 5 + rng.integers(-4, 5, rows))
    traces = _hex(rng, int(trace.max()) + 1, 16)
    return pa.table(
        {
            "timestamp": pa.array((DAY + np.maximum(0, elapsed).astype("timedelta64[us]")), pa.timestamp("us")),
            "level": _pick(LEVELS, level),
            "service": _pick(SERVICES, _skewed(rng, rows, len(SERVICES))),
            "host": _pick(HOSTS, _skewed(rng, rows, len(HOSTS))),
            "trace_id": traces.take(pa.array(trace)),
            "status": status,
            "duration_ms": np.round(rng.lognormal(3.0, 1.2, rows), 2),
            "message": _messages(rng, rows),
        }
    )


_STATUS_SHARES = [0.80, 0.03, 0.04, 0.06, 0.01, 0.03, 0.005, 0.012, 0.005, 0.008]


def _messages(rng: Rng, rows: int) -> pa.Array:
    """Template by template, then put into the order of rows."""
    chosen = rng.choice(len(TEMPLATES) - 2, rows)
    chosen[rng.random(rows) < 0.01] = _CHECKSUM
    chosen[rng.choice(rows, min(RARE_ROWS, rows), replace=False)] = _DEADLOCK
    counts = np.bincount(chosen, minlength=len(TEMPLATES)).tolist()
    parts = [_expand(rng, text, count) for text, count in zip(TEMPLATES, counts, strict=True) if count]
    place = np.empty(rows, np.int64)
    place[np.argsort(chosen, kind="stable")] = np.arange(rows)
    return pa.concat_arrays(parts).take(pa.array(place))


def _expand(rng: Rng, template: str, count: int) -> pa.Array:
    slots = {
        "{C}": lambda: _pick(SERVICES, rng.integers(0, len(SERVICES), count)),
        "{U}": lambda: _joined("user", _digits(np.minimum(rng.zipf(1.3, count), 80_000))),
        "{I}": lambda: _joined("10.", *_dotted(rng, count)),
        "{N}": lambda: _digits(rng.integers(1, 500, count)),
        "{M}": lambda: _digits(rng.lognormal(3.2, 1.1, count).astype(np.int64) + 1),
        "{B}": lambda: _digits(rng.lognormal(11, 2, count).astype(np.int64)),
        "{H}": lambda: _hex(rng, count, 6),
        "{S}": lambda: _pick(HOSTS, rng.integers(0, len(HOSTS), count)),
    }
    pieces = [piece for piece in re.split(r"(\{[A-Z]\})", template) if piece]
    return _joined(*(slots[piece]() if piece in slots else piece for piece in pieces))


def _dotted(rng: Rng, count: int) -> list[pa.Array | str]:
    first, second, third = (_digits(rng.integers(1, 255, count)) for _ in range(3))
    return [first, ".", second, ".", third]


def _skewed(rng: Rng, rows: int, kinds: int) -> Numbers:
    weights = 1 / np.arange(1, kinds + 1)
    return rng.choice(kinds, rows, p=weights / weights.sum())


def _pick(words: tuple[str, ...], which: Numbers) -> pa.Array:
    return pa.array(words).take(pa.array(which))


def _digits(numbers: Numbers) -> pa.Array:
    return pc.cast(pa.array(numbers), pa.string())


def _joined(*parts: pa.Array | str) -> pa.Array:
    return pc.binary_join_element_wise(*(pa.scalar(part) if isinstance(part, str) else part for part in parts), "")


def _hex(rng: Rng, count: int, size: int) -> pa.Array:
    """`count` texts of `size` random bytes each."""
    raw = rng.integers(0, 256, (count, size), dtype=np.uint8)
    digits = np.frombuffer(b"0123456789abcdef", np.uint8)
    text = np.stack([digits[raw >> 4], digits[raw & 15]], axis=2).tobytes()
    offsets = np.arange(0, (count + 1) * 2 * size, 2 * size, dtype=np.int32)
    return pa.StringArray.from_buffers(count, pa.py_buffer(offsets), pa.py_buffer(text))
