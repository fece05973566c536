"""Does the native way to a term find what the other way finds, in as few requests, and leave to it what is unusual?"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from typing import Any

import pyarrow as pa
import pytest

from amudai import _kernels
from amudai.encoding import inflated
from amudai.errors import AmudaiError
from amudai.format import lookup_buffers
from amudai.index import Match, TermIndex, Terms
from amudai.index.term import tree as tree_module
from amudai.index.term.page_layout import PageLayout
from amudai.index.term.reader import TermReader
from tests.effort import spaced
from tests.index.term.indexed_shards import SMALL, Indexed, indexed

pytestmark = pytest.mark.native

SPELLINGS = ["Timeout", "timeout", "TIMEOUT", "tImeout"]
LINES = [f"word{at % 250} {SPELLINGS[at % 4]} n{at % 3} über{at % 5}" for at in range(900)]
ROWS: dict[str, list[int]] = {}
for row, line in enumerate(LINES):
    for word in line.split():
        ROWS.setdefault(word, []).append(row)
ABSENT = ["aaa", "timeou", "timeoutt", "word", "word2500", "zzz", "ω"]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    folder = tmp_path_factory.mktemp("lookup")
    tuning = replace(SMALL, page_terms=7, fan_out=3)  # dozens of leaves, four levels
    spec = TermIndex("text", tokenizer="word")
    return indexed(pa.table({"text": LINES}), spec, folder / "a.amudai.shard", tuning=tuning, two_level=True)


def rows(reader: TermReader, made: Indexed, text: str, *, case: bool) -> list[int]:
    answer = reader.answer(made.path("text"), Terms(text, Match.EQUAL, case))
    assert answer is not None
    assert not answer.maybe
    return answer.yes.positions().tolist()


def folded(text: str) -> list[int]:
    return sorted({row for word, found in ROWS.items() if word.casefold() == text.casefold() for row in found})


def test_all_spellings_of_all_words_are_found(made: Indexed) -> None:
    reader = made.reader()
    quick = 0
    for text in [*ROWS, *ABSENT]:
        assert rows(reader, made, text, case=True) == ROWS.get(text, [])
        assert rows(reader, made, text.upper(), case=False) == folded(text.upper())
        lists = reader.tree.exact(text.encode(), folded=False, words=False)
        if lists is not None:
            quick += 1
            assert lists.starts.tolist() < lists.ends.tolist() or not len(lists.starts)
            assert len(lists.starts) == (text in ROWS)
            assert int((lists.ends - lists.starts).sum()) == len(ROWS.get(text, []))
    # The first term of all is left to the other way: no list ends where its own begins.
    assert quick == len(ROWS) + len(ABSENT) - 1


def fresh(made: Indexed) -> Indexed:
    return Indexed(made.location, made.nodes)


def test_the_native_way_takes_no_more_requests(made: Indexed, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ["word17", "timeout", "über3", *ABSENT[:2]]

    def spent() -> Iterator[tuple[int, list[int]]]:
        for text in asked:
            shard = fresh(made)
            reader = shard.reader()
            for _ in range(2):  # what was read for the first question is kept for the second
                before = shard.shard.store.counters.requests
                found = rows(reader, shard, text, case=False)
                yield shard.shard.store.counters.requests - before, found

    quick = list(spent())
    assert made.reader().tree.exact(b"word17", folded=True, words=False) is not None
    monkeypatch.setattr(tree_module, "_MANY_LEAVES", 1 << 30)
    assert made.reader().tree.exact(b"word17", folded=True, words=False) is None
    other = list(spent())
    assert [found for _, found in quick] == [found for _, found in other]
    # Spellings on two pages, those of "timeout", cost the other way some requests more.
    assert [count for count, _ in quick] == [12, 2, 13, 2, *[count for count, _ in other][4:]]
    assert [count for count, _ in other][:4] == [12, 2, 16, 3]


@pytest.mark.slow
@pytest.mark.parametrize("start", range(3))
def test_a_damaged_byte_is_noticed_or_harmless(made: Indexed, start: int, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(Path(made.location).parent, folder)
    damaged = folder / made.descriptor.artifacts[0].data.url
    content = bytearray(damaged.read_bytes())
    noticed = 0
    for at in range(start, len(content), spaced(9)):
        content[at] ^= 1 << at % 8
        damaged.write_bytes(content)
        copy = Indexed(str(folder / Path(made.location).name), made.nodes)
        text = ("word17", "timeout", "aaa")[at % 3]
        try:
            assert rows(copy.reader(), copy, text, case=False) == folded(text)
        except AmudaiError:
            noticed += 1
        content[at] ^= 1 << at % 8
    assert noticed


def test_threads_share_what_was_read(made: Indexed) -> None:
    for _ in range(5):
        reader, ready = made.reader(), Barrier(8)

        def ask(number: int, reader: TermReader = reader, ready: Barrier = ready) -> bool:
            ready.wait(60)
            texts = list(ROWS)[number::8]
            return all(rows(reader, made, text, case=True) == ROWS[text] for text in texts)

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(ask, range(8)))


def places(made: Indexed) -> tuple[Any, Any, PageLayout, Any]:
    artifact = made.descriptor.artifacts[0]
    found = lookup_buffers(artifact.values, 2, 3)
    assert found is not None
    layout = PageLayout.of(artifact.values, found[0].blocks)
    assert layout is not None
    return found[0], found[1], layout, made.shard.artifact(artifact.data.url, made.shard.root)


def test_what_is_not_as_expected_is_left_to_the_other_way(made: Indexed) -> None:
    pages, ends, layout, file = places(made)
    most = 1 << 30

    def found(pages: Any = pages, ends: Any = ends, read: Any = file.read, **other: int) -> Any:
        said = {"leaf_pages": layout.leaf_pages, "fan_out": layout.fan_out, "most_memory": most, "most_block": most}
        made = _kernels.TermLookup(read, inflated, pages, ends, verify=True, **(said | other))
        return made.find(b"word17", False, False)

    starts, stops = found()
    assert int(stops[0] - starts[0]) == len(ROWS["word17"])
    huge = (1 << 64) - 1
    assert found(read=lambda start, end: file.read(start, end)[:-1]) is None
    assert found(read=lambda start, end: memoryview(bytes(end - start))) is None
    for wrong in (
        pages._replace(block_map=pages.end),
        pages._replace(block_map=pages.block_map - 8),
        pages._replace(end=pages.end - 8),
        pages._replace(start=pages.block_map + 8),
        pages._replace(blocks=pages.blocks + 1),
        pages._replace(values=huge),
        pages._replace(identity=b"x" * 16),
    ):
        assert found(pages=wrong) is None
    for wrong in (ends._replace(values=ends.values - 1), ends._replace(values=2), ends._replace(blocks=huge)):
        assert found(ends=wrong) is None
    for other in (
        {"leaf_pages": layout.leaf_pages + 1},
        {"leaf_pages": huge},
        {"fan_out": 2},
        {"fan_out": huge},
        {"most_memory": 16},
        {"most_block": 4},
    ):
        assert found(**other) is None
    for other in ({"leaf_pages": 0}, {"fan_out": 1}):
        with pytest.raises(ValueError, match="layout: expected"):
            found(**other)
    with pytest.raises(ZeroDivisionError):
        found(read=lambda *_: 1 // 0)
    with pytest.raises(TypeError):
        found(read=lambda *_: 1)
