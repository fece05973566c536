"""Which forms do the profiles give to the lists and pages of an index?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from amudai.index import Match, TermIndex, Terms, open_artifact
from amudai.inspect import FieldLayout, total_layouts
from tests.index.term.indexed_shards import Indexed, indexed

POSITIONS = "positions/position"
ENDS = "terms/entries.item.term_positions.item.fields.item.pos_list_end_offset"
TERMS = "terms/entries.item.term"

# Rows of one kind come in bursts, as in logs of several sources. Every row has a number of its own.
ROWS = 12_000
LINES = [f"{'session' if i // 500 % 2 and i % 5 != 3 else 'disk'} {i * 7919 % 100_003}" for i in range(ROWS)]


def built(profile: str, folder: Path) -> Indexed:
    return indexed(pa.table({"text": LINES}), TermIndex("text"), folder / f"{profile}.amudai.shard", profile=profile)


def stored(made: Indexed) -> dict[str, FieldLayout]:
    """The fields of both artifacts, by path."""
    layouts = {}
    for artifact in made.descriptor.artifacts:
        opened = open_artifact(artifact, made.shard, made.shard.root)
        for top in total_layouts(opened, [(node,) for node in opened.schema.fields()], "encodings"):
            layouts.update({f"{artifact.name}/{field.path}": field for field in top.walk()})
    return layouts


def test_balanced_compresses_long_lists_and_the_numbers_of_pages(tmp_path: Path) -> None:
    balanced, light = built("balanced", tmp_path), built("minimal_compression", tmp_path)
    small, large = stored(balanced), stored(light)
    assert set(small[POSITIONS].encodings or ()) == {"fl_bit_pack", "delta(zstd)"}
    assert not any("zstd" in encoding for encoding in large[POSITIONS].encodings or ())
    assert small[POSITIONS].bytes < 0.9 * large[POSITIONS].bytes
    assert set(small[TERMS].encodings or ()) == {"zstd(delta(zstd))", "plain"}
    assert set(large[TERMS].encodings or ()) == {"zstd(delta(fl_bit_pack))", "plain"}
    assert small[ENDS].bytes < large[ENDS].bytes
    for made in (balanced, light):
        found = made.reader().answer(made.path("text"), Terms("disk", Match.EQUAL, True))
        assert found is not None
        assert found.yes.positions().tolist() == [row for row, line in enumerate(LINES) if "disk" in line]


def test_scattered_rows_stay_bit_packed_in_balanced(tmp_path: Path) -> None:
    """A list is compressed only if that saves a fifth: a compressed list takes longer to read."""
    at = set(np.random.default_rng(7).choice(200_000, 1024, replace=False).tolist())
    table = pa.table({"text": ["rare" if row in at else "" for row in range(200_000)]})
    made = indexed(table, TermIndex("text"), tmp_path / "a.amudai.shard")
    assert set(stored(made)[POSITIONS].encodings or ()) == {"delta(fl_bit_pack)"}


def test_rows_at_distances_that_repeat_are_compressed(tmp_path: Path) -> None:
    """Of long lists that are sparse, and of short lists, which share blocks."""
    beats = np.flatnonzero(np.isin(np.arange(215_000) % 820, (0, 300)))
    texts = np.full(215_000, "", object)
    texts[beats] = "beat"
    long = indexed(pa.table({"text": pa.array(texts, pa.string())}), TermIndex("text"), tmp_path / "a.amudai.shard")
    assert stored(long)[POSITIONS].encodings == {"delta(zstd)": 1}
    found = long.reader().answer(long.path("text"), Terms("beat", Match.EQUAL, True))
    assert found is not None
    assert found.yes.positions().tolist() == beats.tolist()
    words = pa.array([f"w{row % 400}" for row in range(16_000)])
    short = indexed(pa.table({"text": words}), TermIndex("text"), tmp_path / "b.amudai.shard")
    layout = stored(short)[POSITIONS]
    assert set(layout.encodings or ()) == {"delta(zstd)"}
    assert layout.bytes < 16_000  # bit-packed, they would take 14 bits each
    found = short.reader().answer(short.path("text"), Terms("w7", Match.EQUAL, True))
    assert found is not None
    assert found.yes.positions().tolist() == list(range(7, 16_000, 400))
