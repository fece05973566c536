"""Files of a shard that were replaced by others of the same shape: an error that names the file, or the right rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Set
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import amudai
from amudai import AmudaiError, HashIndex, Shard, TermIndex, col
from amudai.errors import ReplacedFile
from amudai.format import IDENTITY_SIZE, BufferKind, EncodedBuffer
from amudai.shard import ShardReader
from amudai.storage import MemoryStore, StoredFile

ROWS = 1200
A, B = "a.amudai.shard", "b.amudai.shard"
INDEXES = [TermIndex("text"), HashIndex("word")]


def rows(kind: int, first: int = 0) -> dict[str, list[Any]]:
    """Rows of the same shape for each `kind`: a shard of one has the same layout as a shard of another."""
    letter = "abcd"[kind]
    numbers = range(first, first + ROWS)
    return {
        "number": [100_000 * (kind + 2) + 7 * n for n in numbers],
        "text": [f"{letter}{n:05} common" for n in numbers],
        "word": [f"{letter} word that repeats {n * n % 1009 % 40:02}" for n in numbers],
        "real": [n * 0.25 + kind if n % 5 else None for n in numbers],
        "flag": [(n + kind) % 2 == 0 if n % 3 else None for n in numbers],
        "list": [[n + kind, 2 * n + kind] if n % 4 else None for n in numbers],
        "struct": [{"inner": n ^ kind} if n % 7 else None for n in numbers],
    }


def written(name: str, data: dict[str, list[Any]], stripes: int = 1, **options: Any) -> dict[str, bytes]:
    """The files of a two-level shard, by name."""
    store = MemoryStore({})
    amudai.write(data, name, store=store, layout="two-level", stripe_rows=ROWS // stripes, **options)
    return dict(store._files)


def files_of(files: dict[str, bytes], suffix: str) -> list[str]:
    return [name for name in files if name.endswith(suffix)]


PATHS: dict[str, Callable[[Shard], object]] = {
    "read": lambda shard: shard.read().to_pydict(),
    "batches": lambda shard: [batch.to_pydict() for batch in shard.scan()],
    "take": lambda shard: shard.take([3, 700, ROWS - 1]).to_pydict(),
    "head": lambda shard: shard.head(5).to_pydict(),
    "sample": lambda shard: shard.sample(5, seed=1).to_pydict(),
    "slice": lambda shard: shard.read(rows=slice(650, 660)).to_pydict(),
    "range": lambda shard: shard.scan(["number"], where=col("number") > 204_000).to_table().to_pydict(),
    "is null": lambda shard: shard.count(where=col("real").is_null()),
    "word": lambda shard: shard.scan(["number"], where=col("word") == "a word that repeats 03").to_table().to_pydict(),
    "term": lambda shard: shard.scan(["number"], where=col("text").has("a00700")).to_table().to_pydict(),
    "common term": lambda shard: shard.count(where=col("text").has("common")),
    "positions": lambda shard: shard.scan(where=col("text").has("a00700")).positions().tolist(),
    "contains": lambda shard: shard.count(where=col("text").contains("0070")),
    "inner": lambda shard: shard.count(where=col("struct.inner") < 600),
    **{
        f"column {name}": lambda shard, name=name: shard.read([name]).to_pydict()  # type: ignore[misc]
        for name in rows(0)
    },
}


def outcome(path: Callable[[Shard], object], shard: Callable[[], Shard]) -> object:
    """The answer of a read path, or its error."""
    try:
        return path(shard())
    except AmudaiError as error:
        return error


def check(files: dict[str, bytes], replaced: dict[str, bytes], *, must_fail: Set[str] = frozenset()) -> None:
    """Every read path over `files` with some `replaced`: the same answer, or an error that names a replaced file."""
    sound, damaged = MemoryStore(files), MemoryStore({**files, **replaced})
    for name, content in replaced.items():
        assert len(files[name]) == len(content), "the same size: nothing but the content can tell"
        assert files[name] != content
    for what, path in PATHS.items():
        expected = path(amudai.open(A, store=sound))
        found = outcome(path, lambda: amudai.open(A, store=damaged))
        if isinstance(found, AmudaiError):
            assert any(name in str(found) for name in replaced), f"{what}: {found}"
        else:
            assert what not in must_fail, f"{what}: no error"
            assert found == expected, what
    assert amudai.open(A, store=sound).verify().ok
    problems = amudai.open(A, store=damaged).verify().problems
    assert all(any(name in problem.message for problem in problems) for name in replaced)


def test_a_stripe_file_of_another_shard() -> None:
    one, other = written(A, rows(0)), written(B, rows(1))
    (mine,), (theirs,) = files_of(one, ".stripe"), files_of(other, ".stripe")
    check(one, {mine: other[theirs]}, must_fail=set(PATHS))


def test_stripe_files_swapped_within_a_shard() -> None:
    halves = {
        name: [*values[: ROWS // 2], *more[: ROWS // 2]]
        for (name, values), more in zip(rows(0).items(), rows(2).values(), strict=True)
    }
    one = written(A, halves, stripes=2)
    first, second = files_of(one, ".stripe")
    check(one, {first: one[second], second: one[first]}, must_fail={"read", "batches", "take", "head", "column word"})


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".index", ".stripe"])
def test_files_of_another_shard_with_indexes(suffix: str) -> None:
    one, other = written(A, rows(0), indexes=INDEXES), written(B, rows(1), indexes=INDEXES)
    mine, theirs = files_of(one, suffix), files_of(other, suffix)
    alike = [(a, b) for a, b in zip(mine, theirs, strict=True) if len(one[a]) == len(other[b]) and one[a] != other[b]]
    assert alike
    for a, b in alike:
        check(one, {a: other[b]})
    check(one, {a: other[b] for a, b in alike}, must_fail={"term", "positions"} if suffix == ".index" else {"read"})


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".index", ".stripe"])
def test_files_of_another_shard_with_indexes_of_stripes(suffix: str) -> None:
    options: dict[str, Any] = {"stripes": 2, "indexes": [TermIndex("text", level="stripe")]}
    one, other = written(A, rows(0), **options), written(B, rows(1), **options)
    pairs = zip(files_of(one, suffix), files_of(other, suffix), strict=True)
    alike = {a: other[b] for a, b in pairs if len(one[a]) == len(other[b]) and one[a] != other[b]}
    assert alike
    check(one, alike)


def test_a_damaged_index_is_ignored_if_the_caller_says_so() -> None:
    one, other = written(A, rows(0), indexes=INDEXES), written(B, rows(1), indexes=INDEXES)
    pairs = zip(files_of(one, ".index"), files_of(other, ".index"), strict=True)
    store = MemoryStore({**one, **{a: other[b] for a, b in pairs}})
    scan = amudai.open(A, store=store).scan(where=col("text").has("a00700"), on_damaged_index="ignore")
    with pytest.warns(RuntimeWarning, match="damaged index ignored: identity"):
        assert scan.positions().tolist() == [700]


@pytest.mark.parametrize("layout", ["single", "two-level"])
def test_a_source_that_was_replaced_by_a_file_of_the_same_shape(tmp_path: Path, layout: Any) -> None:
    """Nothing is compared before it is read, and a root over the files of another compares the same identities."""
    source, derived = tmp_path / "a.amudai.shard", tmp_path / "derived.amudai.shard"
    amudai.write(rows(0), source, layout=layout)
    amudai.add_indexes(source, [TermIndex("text")], derived)
    expected = {what: path(amudai.open(derived)) for what, path in PATHS.items()}
    said = ShardReader(derived).files
    assert said is not None
    (referred,) = said.references
    assert said.references[referred].end == 0, "no bytes are read to tell the file"
    other = tmp_path / "other"
    other.mkdir()
    amudai.write(rows(1), other / "a.amudai.shard", layout=layout)
    (content,) = (each.read_bytes() for each in other.iterdir() if layout == "single" or each.suffix == ".stripe")
    assert len(content) == (tmp_path / referred).stat().st_size
    (tmp_path / referred).write_bytes(content)
    for what, path in PATHS.items():
        found = outcome(path, lambda: amudai.open(derived))
        if isinstance(found, AmudaiError):
            assert referred in str(found), what
        else:
            assert what in ("common term", "positions", "contains"), "answered by the index of the derived root"
            assert found == expected[what], what


def test_every_buffer_has_an_identity_and_the_same_rows_the_same_bytes() -> None:
    one = written(A, rows(0), indexes=INDEXES)
    assert one == written(A, rows(0), indexes=INDEXES)
    reader = ShardReader(A, MemoryStore(one))
    kinds = set()
    for node in reader.schema.fields():
        descriptor = reader.stripes[0].descriptor(node)
        assert descriptor is not None
        for encoding in descriptor.encodings:
            for buffer in encoding.buffers:  # type: ignore[union-attr]
                kinds.add(buffer.kind)
                check_behind(one, buffer)
    assert kinds == {BufferKind.DATA, BufferKind.PRESENCE, BufferKind.OFFSETS} | {
        BufferKind.VALUE_DICTIONARY,
        BufferKind.RANGE_INDEX,
    }


def check_behind(files: dict[str, bytes], buffer: EncodedBuffer) -> None:
    ref = buffer.buffer
    assert ref is not None
    assert files[ref.url][ref.end : ref.end + IDENTITY_SIZE] == buffer.identity


def test_identities_need_no_requests() -> None:
    """No more than before there were identities."""
    store = MemoryStore(written(A, rows(0), stripes=2, indexes=INDEXES))

    def requests(path: Callable[[Shard], object]) -> int:
        shard = amudai.open(A, store=store)
        before = shard.requests.requests
        path(shard)
        return shard.requests.requests - before

    found = {what: requests(PATHS[what]) for what in ("read", "column number", "take", "term", "word", "range")}
    assert found == {"read": 8, "column number": 4, "take": 46, "term": 14, "word": 18, "range": 8}


# ---- while the shard is open ----


class UntaggedStore(MemoryStore):
    """A store that cannot tell a file from another that takes its place."""

    def identify(self, url: str) -> StoredFile:
        return StoredFile(url, self.size(url))

    def put(self, files: dict[str, bytes]) -> None:
        self._files.update(files)


@pytest.fixture(scope="module", params=[{}, {"packed_groups": [["number", "text", "real"]]}], ids=["columns", "packed"])
def swapped(request: pytest.FixtureRequest) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """The files of a shard of two stripes, and the two stripe files exchanged."""
    halves = {
        name: [*values[: ROWS // 2], *more[: ROWS // 2]]
        for (name, values), more in zip(rows(0).items(), rows(2).values(), strict=True)
    }
    files = written(A, halves, stripes=2, **request.param)
    first, second = files_of(files, ".stripe")
    return files, {first: files[second], second: files[first]}


def check_open(before: Callable[[], Shard], replace: Callable[[], object], restore: Callable[[], object]) -> int:
    """Every read path of an open shard that was asked something else before its files were replaced."""
    expected = {what: path(before()) for what, path in PATHS.items()}
    failed = 0
    for asked in ("take", "slice", "column number", "word"):
        for what, path in PATHS.items():
            shard = before()
            assert PATHS[asked](shard) == expected[asked]
            replace()
            found = outcome(path, lambda shard=shard: shard)  # type: ignore[misc]
            restore()
            failed += isinstance(found, AmudaiError)
            assert isinstance(found, AmudaiError) or found == expected[what], (asked, what)
    return failed


def test_files_replaced_under_an_open_shard_where_a_store_has_no_tags(
    swapped: tuple[dict[str, bytes], dict[str, bytes]],
) -> None:
    files, replaced = swapped
    store = UntaggedStore(files)
    failed = check_open(
        lambda: amudai.open(A, store=store, threads=1), lambda: store.put(replaced), lambda: store.put(files)
    )
    assert failed > 2 * len(PATHS)


@pytest.mark.parametrize("most_copied", [0, 1 << 20], ids=["mapped", "copied"])
def test_files_overwritten_in_place_under_an_open_shard(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    swapped: tuple[dict[str, bytes], dict[str, bytes]],
    most_copied: int,
) -> None:
    monkeypatch.setattr("amudai.storage.local.MAX_COPIED", most_copied)
    files, replaced = swapped

    times = count(1)

    def put(content: dict[str, bytes]) -> None:
        for name, each in content.items():
            (tmp_path / name).touch()
            with (tmp_path / name).open("r+b") as file:
                file.write(each)
            now = 10**9 * next(times)  # the clock of a file system may be too coarse for a test
            os.utime(tmp_path / name, ns=(now, now))

    put(files)
    failed = check_open(lambda: amudai.open(tmp_path / A, threads=1), lambda: put(replaced), lambda: put(files))
    assert failed > 2 * len(PATHS)


def test_a_parquet_file_replaced_under_an_open_shard_where_a_store_has_no_tags() -> None:
    def parquet(kind: int) -> bytes:
        out = pa.BufferOutputStream()
        pq.write_table(pa.table({"n": [kind + each for each in range(90)]}), out, row_group_size=30, compression="NONE")
        return out.getvalue().to_pybytes()

    store = UntaggedStore({"rows.parquet": parquet(0)})
    shard = amudai.attach("rows.parquet", to=A, store=store)
    assert shard.take([1])["n"].to_pylist() == [1]
    assert len(parquet(0)) == len(parquet(90))
    store.put({"rows.parquet": parquet(90)})
    with pytest.raises(AmudaiError, match=r"expected the footer that was read before, found another.*rows\.parquet"):
        shard.take([61])


def test_an_open_local_file_that_changes(tmp_path: Path) -> None:
    path = tmp_path / A
    shard = amudai.write({"n": range(200_000), "text": [f"{n} lines" for n in range(200_000)]}, path)
    assert shard.read(["text"])["text"][7].as_py() == "7 lines", "large buffers are mapped now"
    path.replace(tmp_path / "renamed")
    path.write_bytes(b"another file")
    assert shard.take([9])["text"].to_pylist() == ["9 lines"], "a file with another name is still the same file"
    os.truncate(tmp_path / "renamed", 1000)  # reading a mapping beyond the end of its file would end the process
    with pytest.raises(ReplacedFile, match="something wrote into it"):
        shard.read()
