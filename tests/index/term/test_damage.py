"""Can damage make an index lie?"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from amudai.errors import AmudaiError, CorruptedData, UnsupportedFeature
from amudai.format import any_values
from amudai.index import Match, TermIndex, Terms
from amudai.index.term.reader import TermReader
from amudai.shard import ShardReader
from tests.index.term.made import SMALL, Indexed, indexed
from tests.index.term.test_answers import LINES

QUESTIONS = [
    Terms("error", Match.EQUAL, False),
    Terms("user7", Match.EQUAL, True),
    Terms("u", Match.PREFIX, True),
    Terms("7ms", Match.SUFFIX, False),
    Terms("eques", Match.WITHIN, True),
]
STRIDE = 5


@pytest.fixture(scope="module")
def specimen(tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    folder = tmp_path_factory.mktemp("damage")
    table = pa.table({"text": LINES[:150], "other": [f"user{i % 9}" for i in range(150)]})
    return indexed(
        table,
        TermIndex("text", "other", tokenizer="word"),
        folder / "a.amudai.shard",
        stripe_rows=100,
        tuning=replace(SMALL, page_terms=40),
        two_level=True,
    )


def rows(reader: TermReader, made: Indexed, question: Terms) -> list[int]:
    answer = reader.answer(made.path("text"), question)
    assert answer is not None
    return [*answer.yes.positions().tolist(), -1, *answer.maybe.positions().tolist()]


@pytest.mark.parametrize("artifact", [0, 1], ids=["terms", "positions"])
@pytest.mark.parametrize("start", range(STRIDE))
def test_a_damaged_byte_is_noticed_or_harmless(specimen: Indexed, artifact: int, start: int, tmp_path: Path) -> None:
    expected = [rows(specimen.reader(), specimen, question) for question in QUESTIONS]
    source = Path(specimen.location).parent
    folder = tmp_path / "copy"
    shutil.copytree(source, folder)
    damaged = folder / specimen.descriptor.artifacts[artifact].data.url
    content = bytearray(damaged.read_bytes())
    noticed = 0
    for at in range(start, len(content), STRIDE * (4 if artifact == 0 else 1)):
        content[at] ^= 1 << at % 8
        damaged.write_bytes(content)
        made = Indexed(str(folder / Path(specimen.location).name), specimen.nodes)
        question = QUESTIONS[at // STRIDE % len(QUESTIONS)]
        try:
            assert rows(made.reader(), made, question) == expected[at // STRIDE % len(QUESTIONS)]
        except AmudaiError:
            noticed += 1
        content[at] ^= 1 << at % 8
    assert noticed


def test_a_cut_artifact_is_noticed(specimen: Indexed, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(Path(specimen.location).parent, folder)
    for artifact in specimen.descriptor.artifacts:
        file = folder / artifact.data.url
        whole = file.read_bytes()
        for size in (0, 7, 8, len(whole) // 2, len(whole) - 1):
            file.write_bytes(whole[:size])
            made = Indexed(str(folder / Path(specimen.location).name), specimen.nodes)
            with pytest.raises(AmudaiError):
                rows(made.reader(), made, QUESTIONS[0])
        file.write_bytes(whole)


def test_rows_that_the_shard_has_not_are_refused(specimen: Indexed) -> None:
    terms, positions = specimen.descriptor.artifacts
    folder = Path(specimen.location).parent
    reader = TermReader(
        lambda: ShardReader(str(folder / terms.data.url)),
        lambda: ShardReader(str(folder / positions.data.url)),
        {0: "unicode-word", 1: "unicode-word"},
        rows=20,
        case_sensitive=True,
        own=True,
        layout=terms.properties,
    )
    with pytest.raises(CorruptedData, match="position: expected less than 20"):
        reader.answer(specimen.path("text"), QUESTIONS[0])


def test_swapped_artifacts_are_refused(specimen: Indexed) -> None:
    swapped = replace(specimen.descriptor, artifacts=specimen.descriptor.artifacts[::-1])
    with pytest.raises(CorruptedData, match="field 'level'"):
        rows(specimen.reader(swapped), specimen, QUESTIONS[0])


@pytest.mark.parametrize(
    "layout",
    [
        {},
        {"leaf_pages": 1, "fan_out": 3, "single_lists": False, "only_rows": True},
        {"leaf_pages": -1, "fan_out": 0, "single_lists": False, "only_rows": True},
        {"leaf_pages": "many", "fan_out": 3, "single_lists": 1, "only_rows": 2},
    ],
)
def test_without_a_sound_layout_the_columns_are_read(specimen: Indexed, layout: dict[str, object]) -> None:
    terms, positions = specimen.descriptor.artifacts
    changed = replace(specimen.descriptor, artifacts=(replace(terms, properties=any_values(layout)), positions))
    for question in QUESTIONS:
        expected = rows(specimen.reader(), specimen, question)
        assert rows(specimen.reader(changed), specimen, question) == expected


def test_descriptors_are_checked(specimen: Indexed) -> None:
    properties = dict(specimen.descriptor.properties)
    foreign = replace(specimen.descriptor, properties=(("collation", properties["collation"]),))
    assert specimen.reader(foreign).answer(specimen.path("text"), QUESTIONS[0]) is None
    trusted = specimen.reader(foreign, trust=True)
    assert rows(trusted, specimen, QUESTIONS[0]) == rows(specimen.reader(), specimen, QUESTIONS[0])
    with pytest.raises(UnsupportedFeature, match="collation"):
        specimen.reader(replace(specimen.descriptor, properties=()))
    with pytest.raises(CorruptedData, match="two artifacts"):
        specimen.reader(replace(specimen.descriptor, artifacts=specimen.descriptor.artifacts[:1]))
