"""Rows whose code of a dictionary has a certain answer: entries anywhere among few or many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from amudai.encoding import compare_codes
from amudai.errors import CorruptedData
from amudai.rows import Rows
from tests.damage.blocks import Held
from tests.oracle import block
from tests.oracle.numeric import fl_bit_pack

pytestmark = pytest.mark.native


def held(codes: np.ndarray[Any, Any]) -> Any:
    return Held((len(codes), block.build(b"", fl_bit_pack.encode(codes.tolist(), "u4"))))


@pytest.mark.parametrize("entries", [1, 2, 31, 32, 33, 63, 64, 65, 1000])
@pytest.mark.parametrize("shape", ["none", "all", "one", "range", "ends", "some"])
def test_answers_of_codes(entries: int, shape: str) -> None:
    random = np.random.default_rng(entries)
    answers = np.zeros(entries, np.bool_)
    match shape:
        case "all":
            answers[:] = True
        case "one":
            answers[entries // 2] = True
        case "range":
            answers[entries // 3 : entries // 3 * 2 + 1] = True
        case "ends":
            answers[[0, -1]] = True
        case "some":
            answers[:] = random.random(entries) < 0.5
    codes = random.integers(0, entries, 2100).astype(np.uint32)
    codes[:entries] = np.arange(min(entries, 2100))
    for rows in (Rows.one(0, 2100), Rows.one(3, 1030), Rows.one(70, 71)):
        bits = compare_codes(held(codes), rows, answers)
        wanted = codes[rows.starts.item(0) : rows.ends.item(0)]
        found = np.unpackbits(bits, count=len(wanted), bitorder="little").astype(np.bool_)
        assert found.tolist() == answers[wanted].tolist()


@pytest.mark.parametrize("entries", [31, 32, 33, 64, 65])
def test_a_code_without_an_answer(entries: int) -> None:
    answers = np.arange(entries) % 2 == 0
    with pytest.raises(CorruptedData, match="dictionary code"):
        compare_codes(held(np.array([0, entries, 1], np.uint32)), Rows.one(0, 3), answers)
