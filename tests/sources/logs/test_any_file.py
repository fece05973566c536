"""Logs of any lines: nothing is lost, whatever is recognised."""

from __future__ import annotations

import io
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from amudai import read_files
from tests.sources.logs.test_shapes import CASES

KNOWN = [case.line.encode() for case in CASES]
pieces = st.one_of(
    st.sampled_from(KNOWN),
    st.tuples(st.sampled_from(KNOWN), st.integers(0, 60), st.binary(max_size=3)).map(
        lambda cut: cut[0][: cut[1]] + cut[2] + cut[0][cut[1] + 1 :]
    ),
    st.sampled_from([b"", b"Traceback:", b"\tat a.B(C.java:1)", "größer".encode()]),
)
options = st.fixed_dictionaries(
    {
        "extract": st.booleans(),
        "multiline": st.sampled_from(["join", "inherit", "separate"]),
        "timezone": st.sampled_from([None, "Europe/Berlin"]),
        "year": st.sampled_from([None, 2020]),
        "pattern": st.sampled_from([None, None, r"(?P<a>\d+)(?P<b>.*)"]),
    }
)


@settings(deadline=None)
@given(lines=st.lists(pieces, max_size=12), end=st.sampled_from([b"\n", b"\r\n"]), options=options)
def test_lines_are_kept_whole(lines: list[bytes], end: bytes, options: dict[str, Any]) -> None:
    content = end.join(lines) + end
    with read_files(io.BytesIO(content), format="log", on_error="skip", **options) as source:
        table = source.to_reader().read_all()
    table.validate(full=True)
    if not source.bad_records.count:
        kept = "".join(line + "\n" for line in table["line"].to_pylist()).encode()
        assert kept == content.replace(b"\r\n", b"\n")
