"""All operations on shards in any order, against plain lists of rows. Every shard is read after every step."""

from __future__ import annotations

import shutil
import tempfile
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import amudai
from amudai import AmudaiError, InvalidArgument, col
from tests.edit.ways import COUNTS, WAYS
from tests.effort import examples

NAMES = ("a", "b", "c", "d")
WORDS = ("alpha", "beta", "gamma delta", "delta", "", None)
SUFFIX = ".amudai.shard"
INDEXES = {
    "none": (),
    "term": (amudai.TermIndex("word"),),
    "hash": (amudai.HashIndex("n"),),
    "both": (amudai.TermIndex("word"), amudai.HashIndex("n")),
    "several": (amudai.HashIndex("n", "word", ("n", "word")),),
    "slots": (amudai.TermIndex("word", granularity="element", level="stripe"), amudai.HashIndex("n", level="field")),
    "stripe": (amudai.TermIndex("word", level="stripe"), amudai.HashIndex("n", level="stripe")),
}

Row = dict[str, Any]


@dataclass
class Model:
    """What a shard must return: the rows by position, which of them are deleted, and the roots that it refers to."""

    columns: list[str]
    rows: list[Row]
    deleted: set[int] = field(default_factory=set)
    needs: dict[str, int] = field(default_factory=dict)

    @property
    def live(self) -> list[int]:
        return [at for at in range(len(self.rows)) if at not in self.deleted]

    def table(self) -> list[Row]:
        return [{name: self.rows[at].get(name) for name in self.columns} for at in self.live]


name = st.sampled_from(NAMES)
word = st.sampled_from(WORDS)
layout = st.sampled_from(("single", "two-level"))


class Edits(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.models: dict[str, Model] = {}
        self.versions: dict[str, int] = {}
        self.next = 0
        self.files = 0  # Parquet files, each with a name of its own
        self.changed: str | None = None

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    # ---- helpers ----

    def path(self, each: str) -> Path:
        return self.folder / f"{each}{SUFFIX}"

    def is_whole(self, each: str) -> bool:
        """Whether every root that a shard refers to is still the one that it was made from."""
        return all(self.versions.get(other) == version for other, version in self.models[each].needs.items())

    def became(self, to: str, shard: amudai.Shard, model: Model) -> None:
        """Note that an operation has written `to`."""
        self.versions[to] = self.versions.get(to, 0) + 1
        own = self.path(to).name
        roots = {Path(file.url).name for file in shard.files if file.url.endswith(SUFFIX)} - {own}
        model.needs = {root.removesuffix(SUFFIX): self.versions[root.removesuffix(SUFFIX)] for root in roots}
        self.models[to] = model
        self.changed = to

    def whole(self, data: st.DataObject) -> str:
        """A shard that can be read."""
        return data.draw(st.sampled_from(self.known()))

    def known(self) -> list[str]:
        found = [each for each in self.models if self.is_whole(each)]
        assume(found)
        return found

    def target(self, data: st.DataObject, *sources: str) -> str:
        """A place for the result of an operation: no source, and nothing that a source refers to."""
        used = {*sources, *(other for source in sources for other in self.models[source].needs)}
        assume(len(used) < len(NAMES))
        return data.draw(st.sampled_from([each for each in NAMES if each not in used]))

    # ---- operations ----

    @rule(
        to=name,
        words=st.lists(word, max_size=12),
        layout=layout,
        stripe_rows=st.sampled_from((None, 3, 5)),
        data=st.data(),
    )
    def write(
        self, to: str, words: list[str | None], layout: Any, stripe_rows: int | None, data: st.DataObject
    ) -> None:
        rows = [{"n": self.next + at, "word": each} for at, each in enumerate(words)]
        self.next += len(rows)
        indexes = INDEXES[data.draw(st.sampled_from(sorted(INDEXES)))]
        table = pa.table({"n": pa.array([row["n"] for row in rows], pa.int64()), "word": pa.array(words, pa.string())})
        shard = amudai.write(
            table, self.path(to), layout=layout, stripe_rows=stripe_rows, indexes=indexes, overwrite=True
        )
        self.became(to, shard, Model(["n", "word"], rows))

    @rule(
        to=name,
        parts=st.lists(st.lists(word, max_size=8), min_size=1, max_size=3),
        row_group=st.sampled_from((2, 5)),
        stripe_rows=st.sampled_from((3, 100)),
        data=st.data(),
    )
    def attach(
        self, to: str, parts: list[list[str | None]], row_group: int, stripe_rows: int, data: st.DataObject
    ) -> None:
        rows: list[Row] = []
        files = []
        for words in parts:
            some = [{"n": self.next + at, "word": each} for at, each in enumerate(words)]
            table = pa.table(
                {"n": pa.array([row["n"] for row in some], pa.int64()), "word": pa.array(words, pa.string())}
            )
            files.append(self.folder / f"{self.files}.parquet")
            self.files += 1
            pq.write_table(table, files[-1], row_group_size=row_group)
            self.next += len(some)
            rows += some
        indexes = INDEXES[data.draw(st.sampled_from(sorted(INDEXES)))]
        shard = amudai.attach(files, self.path(to), indexes=indexes, stripe_rows=stripe_rows, overwrite=True)
        self.became(to, shard, Model(["n", "word"], rows))

    @precondition(lambda self: self.models)
    @rule(data=st.data(), keep=st.booleans())
    def materialize(self, data: st.DataObject, keep: bool) -> None:
        source = self.whole(data)
        to = self.target(data, source)
        columns = data.draw(st.sampled_from((None, ["n"])))
        shard = amudai.materialize(self.path(source), self.path(to), columns=columns, keep=keep, overwrite=True)
        self.became(to, shard, deepcopy(self.models[source]))

    @precondition(lambda self: self.models)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        source = self.whole(data)
        model = deepcopy(self.models[source])
        to = self.target(data, source)
        if data.draw(st.booleans()) or not model.rows:
            bound = data.draw(st.integers(0, self.next))
            shard = amudai.delete(self.path(source), where=col("n") < bound, to=self.path(to), overwrite=True)
            model.deleted |= {at for at in model.live if model.rows[at]["n"] < bound}
        else:
            some = data.draw(st.sets(st.sampled_from(range(len(model.rows)))))
            shard = amudai.delete(self.path(source), positions=sorted(some), to=self.path(to), overwrite=True)
            model.deleted |= some
        self.became(to, shard, model)

    @precondition(lambda self: self.models)
    @rule(data=st.data())
    def undelete(self, data: st.DataObject) -> None:
        source = self.whole(data)
        model = deepcopy(self.models[source])
        to = self.target(data, source)
        shard = amudai.undelete(self.path(source), to=self.path(to), overwrite=True)
        model.deleted = set()
        self.became(to, shard, model)

    @precondition(lambda self: self.models)
    @rule(data=st.data(), policy=st.sampled_from(("merge", "keep", "rebuild", "drop")))
    def merge(self, data: st.DataObject, policy: Any) -> None:
        sources = data.draw(st.lists(st.sampled_from(self.known()), min_size=1, max_size=3))
        to = self.target(data, *sources)
        try:
            shard = amudai.merge([self.path(each) for each in sources], self.path(to), indexes=policy, overwrite=True)
        except InvalidArgument as error:
            if policy != "merge" or "indexes: expected" not in str(error):
                raise
            return
        model = Model([], [])
        for each in sources:
            mine = self.models[each]
            model.columns += [column for column in mine.columns if column not in model.columns]
            model.deleted |= {len(model.rows) + at for at in mine.deleted}
            model.rows += deepcopy(mine.rows)
        self.became(to, shard, model)

    @precondition(lambda self: self.models)
    @rule(data=st.data())
    def with_columns(self, data: st.DataObject) -> None:
        source = self.whole(data)
        model = deepcopy(self.models[source])
        free = [each for each in ("x", "y", "z") if each not in model.columns]
        assume(free)
        to, column = self.target(data, source), free[0]
        values = data.draw(st.lists(word, min_size=len(model.rows), max_size=len(model.rows)))
        added = {column: pa.array(values, pa.string())}
        level = data.draw(st.sampled_from(("shard", "stripe", "field", None)))
        indexes = [] if level is None else [amudai.TermIndex(column, level=level)]
        shard = amudai.with_columns(self.path(source), added, to=self.path(to), indexes=indexes, overwrite=True)
        for row, value in zip(model.rows, values, strict=True):
            row[column] = value
        model.columns.append(column)
        self.became(to, shard, model)

    @precondition(lambda self: self.models)
    @rule(data=st.data())
    def drop_columns(self, data: st.DataObject) -> None:
        source = self.whole(data)
        model = deepcopy(self.models[source])
        others = [each for each in model.columns if each != "n"]
        assume(others)
        to, column = self.target(data, source), data.draw(st.sampled_from(others))
        shard = amudai.drop_columns(self.path(source), [column], to=self.path(to), overwrite=True)
        model.columns.remove(column)
        for row in model.rows:
            row.pop(column, None)
        self.became(to, shard, model)

    @precondition(lambda self: self.models)
    @rule(data=st.data())
    def rename_columns(self, data: st.DataObject) -> None:
        source = self.whole(data)
        model = deepcopy(self.models[source])
        others = [each for each in model.columns if each != "n"]
        assume(others)
        to, column = self.target(data, source), data.draw(st.sampled_from(others))
        new = next(each for each in ("word", "x", "y", "z", "other") if each not in model.columns)
        shard = amudai.rename_columns(self.path(source), {column: new}, to=self.path(to), overwrite=True)
        model.columns[model.columns.index(column)] = new
        for row in model.rows:
            row[new] = row.pop(column, None)
        self.became(to, shard, model)

    @precondition(lambda self: self.models)
    @rule(data=st.data(), level=st.sampled_from(("shard", "stripe")))
    def add_indexes(self, data: st.DataObject, level: Any) -> None:
        source = self.whole(data)
        model = deepcopy(self.models[source])
        to = self.target(data, source)
        indexes: list[Any] = [amudai.HashIndex("n", level=level)]
        texts = [each for each in model.columns if each != "n"]
        if texts:
            indexes.append(amudai.TermIndex(texts[0], level=level))
        shard = amudai.add_indexes(self.path(source), indexes, self.path(to), overwrite=True)
        self.became(to, shard, model)

    @precondition(lambda self: self.models)
    @rule(data=st.data(), sort=st.booleans(), stripe_rows=st.sampled_from((None, 4)))
    def compact(self, data: st.DataObject, sort: bool, stripe_rows: int | None) -> None:
        sources = data.draw(st.lists(st.sampled_from(self.known()), min_size=1, max_size=2, unique=True))
        to = self.target(data, *sources)
        shard = amudai.compact(
            [self.path(each) for each in sources],
            to=self.path(to),
            sort_by=[("n", "descending")] if sort else (),
            stripe_rows=stripe_rows,
            overwrite=True,
        )
        model = Model([], [])
        for each in sources:
            mine = self.models[each]
            model.columns += [column for column in mine.columns if column not in model.columns]
            model.rows += [deepcopy(mine.rows[at]) for at in mine.live]
        if sort:
            model.rows.sort(key=lambda row: row["n"], reverse=True)
        self.became(to, shard, model)
        assert not self.models[to].needs

    @precondition(lambda self: self.models)
    @rule(data=st.data())
    def copy(self, data: st.DataObject) -> None:
        source = self.whole(data)
        to = self.target(data, source)
        shard = amudai.copy(self.path(source), self.path(to), overwrite=True)
        self.became(to, shard, deepcopy(self.models[source]))
        assert not self.models[to].needs

    @precondition(lambda self: self.models)
    @rule()
    def collect_garbage(self) -> None:
        amudai.gc(self.folder, dry_run=False, older_than=timedelta(0))

    @precondition(lambda self: self.models)
    @rule(data=st.data())
    def refuse_a_source_as_target(self, data: st.DataObject) -> None:
        source = self.whole(data)
        with pytest.raises(InvalidArgument):
            amudai.delete(self.path(source), positions=[], to=self.path(source), overwrite=True)

    # ---- truth ----

    @invariant()
    def every_shard_returns_its_rows(self) -> None:
        for each, model in self.models.items():
            try:
                with amudai.open(self.path(each)) as shard:
                    found = shard.read().to_pylist()
                    counted = {text: shard.count(col(column).has(text)) for column, text in self.questions(model)}
            except AmudaiError:
                # The only reason not to be readable: a root that the shard refers to was replaced.
                assert not self.is_whole(each), each
                continue
            assert found == model.table(), each
            for column, text in self.questions(model):
                rows = [row for row in model.table() if text in (row[column] or "").split()]
                assert counted[text] == len(rows), (each, column, text)

    @staticmethod
    def questions(model: Model) -> list[tuple[str, str]]:
        texts = [each for each in model.columns if each != "n"]
        return [(texts[0], "delta"), (texts[0], "beta")] if texts else []

    @invariant()
    def every_way_leads_to_the_same_rows(self) -> None:
        to, self.changed = self.changed, None
        if to is None:
            return
        model = self.models[to]
        expected = [row["n"] for row in model.table()]
        with amudai.open(self.path(to)) as shard:
            assert shard.num_positions == len(model.rows)
            assert shard.verify(deep=True).problems == ()
            for way, read in WAYS.items():
                assert read(shard) == expected, (to, way)
            for way, count in COUNTS.items():
                assert count(shard) == len(expected), (to, way)
            for at in range(0, len(model.rows), 3):
                wanted = col("n") == model.rows[at]["n"]
                places = [place for place in model.live if model.rows[place]["n"] == model.rows[at]["n"]]
                assert shard.scan(where=wanted).positions().tolist() == places, to
                if at in model.deleted:
                    with pytest.raises(InvalidArgument, match=str(at)):
                        shard.take([at])


TestEdits = Edits.TestCase
TestEdits.settings = examples(40, stateful_step_count=10)
TestEdits.pytestmark = [pytest.mark.slow]
