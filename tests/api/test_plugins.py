"""Index types, tokenizers and collations of other packages: used, checked by the batteries, and announced."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amudai
from amudai import (
    Collation,
    CorruptedData,
    IndexAnswer,
    IndexPlugin,
    IndexQuestion,
    InvalidArgument,
    PluginIndex,
    TermIndex,
    Tokenizer,
    col,
)
from amudai.index import plugins
from amudai.plan import vocabularies
from amudai.storage import MemoryStore
from amudai.testing import check_collation, check_index, check_tokenizer
from examples.plugin_index import EndingBuilder, EndingIndex
from examples.plugin_text import TRIGRAMS, WITHOUT_MARKS
from tests.effort import examples

TEXTS = st.lists(st.none() | st.text("aAéß.ΣLog ", max_size=5), max_size=3)


@pytest.mark.slow
@examples(4)
@given(values=TEXTS)
def test_the_example_index_changes_no_answer(values: list[str | None]) -> None:
    check_index(EndingIndex(), pa.array(values, pa.string()))


@pytest.mark.slow
@examples(4)
@given(values=TEXTS)
def test_the_example_tokenizer_and_collation_change_no_answer(values: list[str | None]) -> None:
    check_tokenizer(TRIGRAMS, values)
    check_collation(WITHOUT_MARKS, values)


class WrongIndex(IndexPlugin):
    """Leaves the last row out."""

    name = "test.wrong"

    def builder(self, kind: pa.DataType) -> EndingBuilder:
        return EndingBuilder()

    def find(self, index: amudai.Shard, asked: IndexQuestion) -> IndexAnswer | None:
        if asked.operator != "endswith":
            return None
        rows = index.read(["row"])["row"].to_pylist()
        return IndexAnswer(sorted(rows)[:-1])


class FailingIndex(WrongIndex):
    """Cannot answer."""

    name = "test.failing"

    def find(self, index: amudai.Shard, asked: IndexQuestion) -> IndexAnswer | None:
        raise RuntimeError("no answer")


class FarIndex(WrongIndex):
    """Finds rows that no shard has."""

    name = "test.far"

    def find(self, index: amudai.Shard, asked: IndexQuestion) -> IndexAnswer | None:
        return IndexAnswer([10**6])


WRONG_WORDS = Tokenizer("test.words", str.split, lambda _, text: text.split())
for plugin in (WrongIndex, FailingIndex, FarIndex):
    amudai.register_index(plugin())
amudai.register_tokenizer(WRONG_WORDS)


def test_the_batteries_find_what_is_wrong() -> None:
    with pytest.raises(AssertionError, match=r"endswith.*expected the rows \[0, 1, .* of a new shard"):
        check_index(WrongIndex(), pa.array(["xa", "ya"]), [col("c").endswith("a")])
    with pytest.raises(AssertionError, match="as without the index"):
        check_tokenizer(WRONG_WORDS, ["disk full"])
    with pytest.raises(AssertionError, match="expected a term 'other' of 'disk'"):
        check_tokenizer(Tokenizer("test.unused", str.split, lambda _, _text: ["other"]), ["disk"])


def test_rows_that_no_shard_has_are_an_error() -> None:
    index = PluginIndex(FarIndex.name, "c")
    shard = amudai.write({"c": ["xa", "ya"] * 50}, "t", store=MemoryStore({}), indexes=[index])
    with pytest.raises(CorruptedData, match=r"rows: expected 0\.\.99, found 1000000.*index test\.far"):
        shard.count(col("c").endswith("a"))


def test_an_index_that_cannot_answer_is_named_and_left_out() -> None:
    index = PluginIndex(FailingIndex.name, "c")
    shard = amudai.write({"c": ["xa", "ya"] * 50}, "t", store=MemoryStore({}), indexes=[index])
    scan = shard.scan(where=col("c").endswith("a"))
    assert scan.positions().tolist() == list(range(100))
    assert FailingIndex.name in str(scan.explain())


def test_an_index_of_an_unknown_type_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    index = PluginIndex(EndingIndex.name, "c")
    shard = amudai.write({"c": ["xa", "ya", "xb"] * 50}, "t", store=MemoryStore({}), indexes=[index])
    where = col("c").endswith_cs("a")
    known = shard.scan(where=where)
    assert known.count() == 100
    assert known.explain().ruled_out == 50
    monkeypatch.setattr("amudai.index.catalog._added", [])
    unknown = shard.scan(where=where)
    assert unknown.count() == 100
    assert unknown.explain().ruled_out == 0
    assert EndingIndex.name in str(unknown.explain())


def test_a_tokenizer_that_is_not_registered_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    index = TermIndex("c", tokenizer=TRIGRAMS.name)
    shard = amudai.write({"c": ["xyz", "abc", "abd"] * 50}, "t", store=MemoryStore({}), indexes=[index])
    where = col("c").contains("bc")
    known = shard.scan(where=col("c").contains("abc"))
    assert known.count() == 50
    assert known.explain().ruled_out == 100
    assert shard.count(where) == 50
    monkeypatch.setattr("amudai.index.term.custom._tokenizers", {})
    scan = shard.scan(where=col("c").contains("abc"))
    assert scan.count() == 50
    assert scan.explain().ruled_out == 0


def test_names_that_are_taken_or_unknown() -> None:
    with pytest.raises(
        InvalidArgument, match=r"index type: expected a name that is not taken, found 'example\.ending'"
    ):
        amudai.register_index(EndingIndex())
    with pytest.raises(InvalidArgument, match="tokenizer: expected a name that is not taken, found 'word'"):
        amudai.register_tokenizer(Tokenizer("word", str.split, lambda _, text: text.split()))
    with pytest.raises(InvalidArgument, match="collation: expected a name that is not taken"):
        amudai.register_collation(Collation("unicode-case-preserving", str.lower))
    with pytest.raises(InvalidArgument, match=r"plugin: expected an amudai\.IndexPlugin, found 7"):
        amudai.register_index(7)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="tokenizer: expected one of word, log, trivial, found 'nobody'"):
        TermIndex("c", tokenizer="nobody")
    with pytest.raises(InvalidArgument, match="indexes: expected"):
        amudai.write({"c": ["x"]}, "t", store=MemoryStore({}), indexes=[PluginIndex("nobody", "c")])
    with pytest.raises(InvalidArgument, match="expected a column that it accepts, found int64"):
        amudai.write({"c": [1]}, "t", store=MemoryStore({}), indexes=[PluginIndex(EndingIndex.name, "c")])


def test_installed_packages_announce_plugins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "announced_plugins.py").write_text(
        "import amudai\n"
        "from tests.api.test_plugins import WrongIndex\n"
        "class Index(WrongIndex):\n"
        "    name = 'test.announced'\n"
        "TOKENIZER = amudai.Tokenizer('test.announced', str.split, lambda _, text: ())\n"
        "COLLATION = amudai.Collation('test.announced', str.upper)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    names = {
        plugins.INDEXES_GROUP: "Index",
        plugins.TOKENIZERS_GROUP: "TOKENIZER",
        plugins.COLLATIONS_GROUP: "COLLATION",
    }

    def entry_points(*, group: str) -> list[Any]:
        return [EntryPoint("one", f"announced_plugins:{names[group]}", group)]

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
    monkeypatch.setattr(plugins, "_loaded", set())
    indexes = [
        PluginIndex("test.announced", "c"),
        TermIndex("c", tokenizer="test.announced", collation="test.announced"),
    ]
    shard = amudai.write({"c": ["disk full"]}, "t", store=MemoryStore({}), indexes=indexes)
    assert [index.type for index in shard.indexes] == ["test.announced", "inverted-text-index-v1"]
    assert shard["c"].terms()["term"].to_pylist() == ["DISK", "FULL"]


def test_terms_of_other_packages_are_no_vocabulary_of_words() -> None:
    def known(**options: Any) -> bool:
        index = TermIndex("c", **options)
        shard = amudai.write({"c": ["disk full"] * 100}, "t", store=MemoryStore({}), indexes=[index])
        return bool(list(vocabularies(shard._reader, shard._reader.schema.fields()[:1]) or ()))

    assert known()
    assert not known(tokenizer=TRIGRAMS.name)
    assert not known(collation=WITHOUT_MARKS.name)
