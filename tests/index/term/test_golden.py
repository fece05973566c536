"""Are the reference's artifacts read, and do our own hold what they should?"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from pathlib import Path

import pytest

from amudai.format import DataRef, IndexArtifact
from amudai.index import TERM, Match, TermIndex, Terms
from amudai.index.artifacts import IndexArtifactReader
from amudai.index.numbering import Numbering
from amudai.index.term.reader import TermReader
from amudai.index.term.stored_form import TOKENIZERS
from amudai.rows import Origin
from amudai.shard import ShardReader
from amudai.types import BasicType, SchemaNode
from tests.golden import INDEX_CASES, IndexCase
from tests.index.term.indexed_shards import indexed
from tests.index.term.test_answers import truth
from tests.oracle import text as oracle

CASES = [case for case in INDEX_CASES if case.index == TERM.name]
FIELDS = ("source", "line")

by_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def is_sensitive(case: IndexCase) -> bool:
    return case.collation == "unicode-case-preserving"


def is_whole(case: IndexCase) -> bool:
    return case.tokenizer == "trivial"


def artifact_reader(name: str, beside: ShardReader) -> IndexArtifactReader:
    return IndexArtifactReader(IndexArtifact(name="", data=DataRef(name, 0, 1)), beside, beside.root)


def reader_of(case: IndexCase, *, trust: bool) -> TermReader:
    assert case.tokenizer is not None
    return TermReader(
        artifact_reader("terms.amudai.shard", ShardReader(case.folder / "positions.amudai.shard")),
        artifact_reader("positions.amudai.shard", ShardReader(case.folder / "terms.amudai.shard")),
        dict.fromkeys(range(len(case.fields)), case.tokenizer),
        numbering=Numbering(
            Origin("shard", case.name, case.rows), {at: at for at in range(len(case.fields))}, 0, False
        ),
        case_sensitive=is_sensitive(case),
        own=False,
        trust=trust,
    )


def node(schema_id: int) -> tuple[SchemaNode, ...]:
    return (SchemaNode(schema_id=schema_id, name=FIELDS[schema_id], basic_type=BasicType.STRING),)


def candidates(reader: TermReader, question: Terms) -> set[int]:
    found = set()
    for schema_id in range(2):
        answer = reader.answer(node(schema_id), question)
        assert answer is not None
        found.update(answer.candidates.positions().tolist())
    return found


@by_case
def test_absence_from_a_foreign_index_proves_nothing(case: IndexCase) -> None:
    reader = reader_of(case, trust=False)
    assert reader.answer(node(1), Terms("error", Match.EQUAL, True, is_whole(case))) is None


@pytest.mark.slow
@by_case
def test_what_the_reference_finds_is_found(case: IndexCase) -> None:
    """Its answers are a part of ours, and ours a part of the truth wherever we are sure."""
    reader = reader_of(case, trust=True)
    table = case.source()
    answers = json.loads((case.folder / "reference_answers.json").read_text())
    case_sensitive = is_sensitive(case)
    assert len(answers) > 20
    for name, rows in answers.items():
        kind, text = name.split(":", 1)
        match = Match.EQUAL if kind == "term" else Match.PREFIX
        if not text:
            continue
        question = Terms(text, match, case_sensitive, is_whole(case))
        if not is_whole(case) and oracle.words(text) != [text] and match is Match.PREFIX:
            continue  # no word
        ours = candidates(reader, question)
        # The reference takes addresses for words.
        if not (case.tokenizer == "unicode-log" and match is Match.PREFIX):
            assert set(rows) <= ours, name
        for schema_id, field in enumerate(FIELDS):
            answer = reader.answer(node(schema_id), question)
            assert answer is not None
            if oracle.words(text) == [text] or is_whole(case):
                sure = set(answer.yes.positions().tolist())
                assert sure <= truth(table.column(field).to_pylist(), question), name


@pytest.mark.slow
@by_case
def test_everything_a_foreign_artifact_holds_is_found(case: IndexCase) -> None:
    """Every posting of the source is there but those that the reference is known to lose: below one in a thousand."""
    tokenizer, case_sensitive = str(case.tokenizer), is_sensitive(case)
    reader = reader_of(case, trust=True)
    table = case.source()
    expected: dict[str, set[int]] = defaultdict(set)
    lines = table.column("line").to_pylist()
    for row, line in enumerate(lines):
        for term in oracle.tokens(line or "", tokenizer):
            expected[term if case_sensitive else oracle.fold(term)].add(row)
    chosen = sorted(expected)[:: max(1, len(expected) // 400)]
    lost = total = 0
    for term in chosen:
        answer = reader.answer(node(1), Terms(term, Match.EQUAL, case_sensitive, is_whole(case)))
        assert answer is not None
        found = set(answer.candidates.positions().tolist())
        assert set(answer.yes.positions().tolist()) <= expected[term]
        lost += len(expected[term] - found)
        total += len(expected[term])
    assert lost <= total / 1000


@pytest.mark.slow
@by_case
@pytest.mark.parametrize("stripes", [1, 3])
@pytest.mark.parametrize("collation", ["case_preserving", "case_insensitive"])
def test_our_index_of_the_same_rows_is_complete(case: IndexCase, stripes: int, collation: str, tmp_path: Path) -> None:
    name = {wire: name for name, wire in TOKENIZERS.items()}[str(case.tokenizer)]
    table = case.source()
    spec = TermIndex(*FIELDS, tokenizer=name, collation=collation)
    stripe_rows = math.ceil(case.rows / stripes)
    made = indexed(table, spec, tmp_path / "a.amudai.shard", stripe_rows=stripe_rows, batch_rows=case.rows // 4)
    assert made.shard.directory.stripe_count == stripes
    reader = made.reader()
    for field in FIELDS:
        expected: dict[str, set[int]] = defaultdict(set)
        for row, value in enumerate(table.column(field).to_pylist()):
            for term in oracle.tokens(value or "", str(case.tokenizer)):
                expected[term].add(row)
        chosen = sorted(expected)[:: max(1, len(expected) // 300)]
        for term in chosen:
            answer = reader.answer(made.path(field), Terms(term, Match.EQUAL, True, name == "trivial"))
            assert answer is not None
            if collation == "case_preserving" and len(term.encode()) < 125:
                assert set(answer.yes.positions().tolist()) == expected[term]
            else:
                assert expected[term] <= set(answer.candidates.positions().tolist())
