"""Which fields can be indexed, and are their rows told apart?"""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from amudai.arrow import schema_nodes
from amudai.errors import InvalidArgument, UnsupportedFeature
from amudai.index import TERM, BuildPlan, Match, TermIndex, Terms
from amudai.index.term.builder import build_term_index
from tests.index.term.indexed_shards import SMALL, Indexed, indexed, path_of
from tests.index.term.test_answers import LINES, check_all
from tests.oracle import text as oracle

TEXTS = ["disk full", "Disk ok", "fan", None, "", "10.0.0.1 up"]


def rows_of(made: Indexed, field: str, text: str, match: Match = Match.EQUAL) -> list[int]:
    answer = made.reader().answer(made.path(field), Terms(text, match, case_sensitive=True))
    assert answer is not None
    assert not answer.maybe.count
    return answer.yes.positions().tolist()


def nested(count: int) -> tuple[pa.Table, dict[str, Callable[[Any], list[str]]]]:
    """A table of every nesting, and for each field the texts of a row."""
    dice = random.Random(3)

    def text() -> str | None:
        return dice.choice(TEXTS)

    rows = []
    for _ in range(count):
        maybe = dice.random() < 0.8
        rows.append(
            {
                "plain": text(),
                "struct": {"a": text(), "deep": {"b": text()} if maybe else None} if dice.random() < 0.8 else None,
                "list": [text() for _ in range(dice.randrange(4))] if maybe else None,
                "structs": [{"c": text()} if dice.random() < 0.8 else None for _ in range(dice.randrange(3))],
                "map": [(f"k{dice.randrange(5)}", text()) for _ in range(dice.randrange(3))] if maybe else None,
                "fixed": [text(), text()] if maybe else None,
            }
        )
    schema = pa.schema(
        [
            ("plain", pa.string()),
            ("struct", pa.struct([("a", pa.string()), ("deep", pa.struct([("b", pa.large_string())]))])),
            ("list", pa.list_(pa.string())),
            ("structs", pa.large_list(pa.struct([("n", pa.int32()), ("c", pa.string())]))),
            ("map", pa.map_(pa.string(), pa.string())),
            ("fixed", pa.list_(pa.string(), 2)),
        ]
    )
    texts: dict[str, Callable[[Any], list[str | None]]] = {
        "plain": lambda row: [row["plain"]],
        "struct.a": lambda row: [row["struct"]["a"]] if row["struct"] else [],
        "struct.deep.b": lambda row: [row["struct"]["deep"]["b"]] if row["struct"] and row["struct"]["deep"] else [],
        "list.item": lambda row: row["list"] or [],
        "structs.item.c": lambda row: [each["c"] for each in row["structs"] if each],
        "map.key": lambda row: [key for key, _ in row["map"] or []],
        "map.value": lambda row: [value for _, value in row["map"] or []],
        "fixed.item": lambda row: row["fixed"] or [],
    }
    known = {field: (lambda row, of=of: [text for text in of(row) if text]) for field, of in texts.items()}
    return pa.Table.from_pylist(rows, schema), known


@pytest.mark.slow
@pytest.mark.parametrize("stripe_rows", [None, 70])
@pytest.mark.parametrize("batch_rows", [13, 1000])
def test_nested_fields_give_the_rows_they_are_in(stripe_rows: int | None, batch_rows: int, tmp_path: Path) -> None:
    table, fields = nested(200)
    spec = TermIndex(*fields, tokenizer="word")
    made = indexed(
        table, spec, tmp_path / "a.amudai.shard", stripe_rows=stripe_rows, batch_rows=batch_rows, tuning=SMALL
    )
    rows = table.to_pylist()
    for field, texts in fields.items():
        # A row of several texts is as one text of them all, for questions about words.
        values = [" ".join(texts(row)) or None for row in rows]
        check_all(made, field, values, "word", ["k3", "full"])


def test_what_a_null_struct_hides_is_not_found(tmp_path: Path) -> None:
    hidden = pa.StructArray.from_arrays(
        [pa.array(["shown", "hidden"])], fields=[pa.field("a", pa.string())], mask=pa.array([False, True])
    )
    made = indexed(pa.table({"s": hidden}), TermIndex("s.a"), tmp_path / "a.amudai.shard")
    assert rows_of(made, "s.a", "shown") == [0]
    assert rows_of(made, "s.a", "hidden") == []


def test_fields_of_one_index_are_told_apart(tmp_path: Path) -> None:
    table = pa.table({"n": [0, 1, 2], "a": ["x", "y", "x"], "b": ["y", "x", "z"]})
    made = indexed(table, TermIndex("a", "b"), tmp_path / "a.amudai.shard")
    assert [rows_of(made, "a", text) for text in "xyz"] == [[0, 2], [1], []]
    assert [rows_of(made, "b", text) for text in "xyz"] == [[1], [0], [2]]
    assert made.descriptor.indexed_fields == ((1,), (2,))


@pytest.mark.parametrize("memory", [0, 64 << 20])
def test_dictionaries_are_indexed_as_their_values(memory: int, tmp_path: Path) -> None:
    values = [None if i % 11 == 0 else f"{LINES[i % 300]} {i % 17}" for i in range(4000)]
    for at in range(2):
        (tmp_path / str(at)).mkdir()
    made = [
        indexed(
            pa.table({"text": column}),
            TermIndex("text"),
            tmp_path / str(at) / "a.amudai.shard",  # a root says which file it is in
            memory=memory,
            stripe_rows=1500,
        )
        for at, column in enumerate((pa.array(values), pa.array(values).dictionary_encode()))
    ]
    assert Path(made[0].location).read_bytes() == Path(made[1].location).read_bytes()
    assert rows_of(made[1], "text", "16") == [
        i for i, value in enumerate(values) if value and "16" in oracle.words(value)
    ]


@pytest.mark.parametrize("two_level", [False, True])
def test_artifacts_lie_inside_the_shard_or_beside_it(two_level: bool, tmp_path: Path) -> None:
    made = indexed(pa.table({"a": ["x y"]}), TermIndex("a"), tmp_path / "a.amudai.shard", two_level=two_level)
    assert [artifact.name for artifact in made.descriptor.artifacts] == ["terms", "positions"]
    assert all(bool(artifact.data.url) is two_level for artifact in made.descriptor.artifacts)
    assert len(list(tmp_path.glob("*.amudai.index"))) == 2 * two_level
    assert rows_of(made, "a", "y") == [0]


def test_fields_may_come_on_different_threads(tmp_path: Path) -> None:
    """The runs of one field are in order, whatever the others do: the index is the same."""
    columns = {name: [f"{name} {line}" for line in LINES[:3000]] for name in "abcd"}
    table, spec = pa.table(columns), TermIndex(*columns, tokenizer="word")

    def each(work: Callable[[int], None], count: int) -> None:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(count)))

    threaded = indexed(table, spec, tmp_path / "a.amudai.shard", memory=0, each=each, batch_rows=250)
    alone = indexed(table, spec, tmp_path / "b.amudai.shard", memory=0, batch_rows=250)
    for text in ("a", "d", "request", "7ms"):
        for field in columns:
            assert rows_of(threaded, field, text) == rows_of(alone, field, text)
    assert threaded.descriptor.index_size == alone.descriptor.index_size


def test_specs_are_checked() -> None:
    assert TermIndex("a", tokenizer="word") == TermIndex("a", tokenizer=["word"])
    for wrong in [(), ("a", "a")]:
        with pytest.raises(InvalidArgument, match="fields"):
            TermIndex(*wrong)
    with pytest.raises(InvalidArgument, match="tokenizer: expected one of word, log, trivial"):
        TermIndex("a", tokenizer="ngram")
    with pytest.raises(InvalidArgument, match="tokenizer: expected one for all fields, or 2, one for each field"):
        TermIndex("a", "b", tokenizer=["word"])
    with pytest.raises(InvalidArgument, match="collation"):
        TermIndex("a", collation="german")
    with pytest.raises(InvalidArgument, match="granularity: expected one of record, element, found 'page'"):
        TermIndex("a", granularity="page")
    with pytest.raises(InvalidArgument, match="granularity: expected one for all fields, or 2, one for each field"):
        TermIndex("a", "b", granularity=["element"])


def test_fields_without_text_are_refused() -> None:
    nodes = schema_nodes([pa.field("n", pa.int32()), pa.field("u", pa.sparse_union([pa.field("s", pa.string())]))])
    for path, error in [("n", InvalidArgument), ("u.s", UnsupportedFeature)]:
        plan = BuildPlan(paths=(path_of(nodes, path),), memory=0, temp_folder=None, profile="balanced")
        with pytest.raises(error):
            build_term_index(TermIndex(path), plan)


def test_the_type_names_itself() -> None:
    assert TERM.name == TermIndex("a").index_type == "inverted-text-index-v1"
    assert "inverted-term-index" in TERM.aliases
