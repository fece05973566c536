"""Can damage make an index lie?"""

from __future__ import annotations

import shutil
import struct
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from amudai.errors import AmudaiError, CorruptedData, UnsupportedFeature
from amudai.format import LOOKUP, AnyValue, IndexDescriptor, any_values
from amudai.index import Match, TermIndex, Terms
from amudai.index.artifacts import IndexArtifactReader
from amudai.index.numbering import Numbering
from amudai.index.term.reader import TermReader
from amudai.rows import Origin
from tests.effort import spaced
from tests.index.term.indexed_shards import SMALL, Indexed, indexed
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


@pytest.mark.slow
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
    for at in range(start, len(content), spaced(STRIDE * (4 if artifact == 0 else 1))):
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
    expected = rows(specimen.reader(), specimen, QUESTIONS[0])
    for artifact in specimen.descriptor.artifacts:
        file = folder / artifact.data.url
        whole = file.read_bytes()
        for size in (0, 7, 8, len(whole) // 3, len(whole) - 1):
            file.write_bytes(whole[:size])
            made = Indexed(str(folder / Path(specimen.location).name), specimen.nodes)
            with pytest.raises(AmudaiError):
                rows(made.reader(without_lookup(made.descriptor)), made, QUESTIONS[0])
            if size < len(whole) - 1:
                with pytest.raises(AmudaiError):
                    rows(made.reader(), made, QUESTIONS[0])
            else:
                with suppress(AmudaiError):  # what is missing may not be read
                    assert rows(made.reader(), made, QUESTIONS[0]) == expected
        file.write_bytes(whole)


def without_lookup(descriptor: IndexDescriptor) -> IndexDescriptor:
    """As if the index said nothing of where its columns lie."""
    return replace(descriptor, artifacts=tuple(replace(each, properties=()) for each in descriptor.artifacts))


def test_without_the_places_of_columns_the_answers_are_the_same(specimen: Indexed) -> None:
    for question in QUESTIONS:
        expected = rows(specimen.reader(), specimen, question)
        assert rows(specimen.reader(without_lookup(specimen.descriptor)), specimen, question) == expected


@pytest.mark.slow
def test_places_of_columns_that_are_lies_are_refused(specimen: Indexed) -> None:
    """Five numbers for each column, of which none can be changed without a contradiction."""
    expected = [rows(specimen.reader(), specimen, question) for question in QUESTIONS]
    refused = 0
    for number, artifact in enumerate(specimen.descriptor.artifacts):
        (stated,) = (value for name, value in artifact.properties if name == LOOKUP)
        others = [each for each in artifact.properties if each[0] != LOOKUP]
        assert isinstance(stated.value, bytes)
        for at in range(0, len(stated.value), 8):
            (sound,) = struct.unpack_from("<Q", stated.value, at)
            for lie in (0, sound - 8, sound - 1, sound + 1, sound + 8, sound + 64, 1 << 40, (1 << 64) - 1):
                changed = bytearray(stated.value)
                struct.pack_into("<Q", changed, at, lie % (1 << 64))
                artifacts = list(specimen.descriptor.artifacts)
                artifacts[number] = replace(artifact, properties=(*others, (LOOKUP, AnyValue("bytes", bytes(changed)))))
                reader = specimen.reader(replace(specimen.descriptor, artifacts=tuple(artifacts)))
                for question, truth in zip(QUESTIONS, expected, strict=True):
                    try:
                        assert rows(reader, specimen, question) == truth
                    except CorruptedData:
                        refused += 1
    assert refused


def test_rows_that_the_shard_has_not_are_refused(specimen: Indexed) -> None:
    terms, positions = (
        IndexArtifactReader(each, specimen.shard, specimen.shard.root) for each in specimen.descriptor.artifacts
    )
    reader = TermReader(
        terms,
        positions,
        {0: "unicode-word", 1: "unicode-word"},
        numbering=Numbering(Origin("shard", "cut", 20), {0: 0, 1: 1}, 0, True),
        case_sensitive=True,
        own=True,
    )
    with pytest.raises(CorruptedData, match="position: expected less than 20"):
        reader.answer(specimen.path("text"), QUESTIONS[0])


def test_swapped_artifacts_are_refused(specimen: Indexed) -> None:
    swapped = replace(specimen.descriptor, artifacts=specimen.descriptor.artifacts[::-1])
    with pytest.raises(CorruptedData, match="property lookup: expected 80 bytes, found 40"):
        rows(specimen.reader(swapped), specimen, QUESTIONS[0])
    plain = replace(swapped, artifacts=tuple(replace(each, properties=()) for each in swapped.artifacts))
    with pytest.raises(CorruptedData, match="field 'level'"):
        rows(specimen.reader(plain), specimen, QUESTIONS[0])


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
