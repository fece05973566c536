"""Packed groups: what goes in comes out, one buffer is read for a whole row, and edits keep them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amudai
from amudai import HashIndex, TermIndex, col
from amudai.encoding import BlockEnds
from amudai.errors import AmudaiError, InvalidArgument
from amudai.format import BufferKind, NativeEncoding, StripeFieldDescriptor
from amudai.storage import MemoryStore
from amudai.types import find_in
from tests.effort import examples, spaced
from tests.reading.same import same_values
from tests.scan.tables import predicates, tables

GROUPS = [["n", "text", "flag", "f"]]


def table(rows: int = 400, shift: int = 0) -> pa.Table:
    at = range(shift, shift + rows)
    return pa.table(
        {
            "n": pa.array([n * 31 % 257 if n % 13 else None for n in at], pa.int64()),
            "text": [f"line{n} of {n * n % 17} lines" if n % 11 else None for n in at],
            "flag": pa.array([n % 3 == 0 if n % 5 else None for n in at]),
            "f": pa.array([n / 4 for n in at], pa.float64()),
            "word": [f"word {n % 7}" for n in at],
            "alone": pa.array(list(at), pa.int32()),
            "http": pa.array(
                [{"status": n % 5 * 100, "path": f"/{n % 9}", "ok": n % 2 == 0, "tags": ["x"] * (n % 3)}
                 if n % 17 else None for n in at],
                pa.struct(
                    [("status", pa.int16()), ("path", pa.string()), ("ok", pa.bool_()), ("tags", pa.list_(pa.string()))]
                ),
            ),
        }
    )  # fmt: skip


def written(store: MemoryStore | None = None, name: str = "t.amudai.shard", **options: Any) -> amudai.Shard:
    data = options.pop("data", None)
    options = {"packed_groups": GROUPS, "packed": ["http"]} | options
    return amudai.write(table() if data is None else data, name, store=store or MemoryStore({}), **options)


def stored(shard: amudai.Shard, path: str, stripe: int = 0) -> StripeFieldDescriptor:
    reader = shard._reader
    found = reader.stripes[stripe].descriptor(find_in(reader.schema.fields(), path)[-1])
    assert found is not None
    return found


def native(shard: amudai.Shard, path: str, stripe: int = 0) -> NativeEncoding:
    (encoding,) = stored(shard, path, stripe).encodings
    assert isinstance(encoding, NativeEncoding)
    return encoding


# ---- the layout ----


def test_a_struct_holds_one_buffer_and_its_members_hold_numbers() -> None:
    shard = written()
    struct = native(shard, "http")
    assert struct.packed_group
    first, presence = struct.buffers
    assert first.kind is BufferKind.DATA
    assert first.buffer is not None
    assert first.block_map is not None
    numbers = []
    for name in ("http.status", "http.path", "http.ok"):
        member = native(shard, name)
        assert not member.packed_group
        blocks = [each for each in member.buffers if each.kind in (BufferKind.DATA, BufferKind.PRESENCE)]
        assert all(each.buffer is None and each.block_map is None for each in blocks)
        numbers += [each.packed_group_index for each in blocks]
    assert [*numbers, presence.packed_group_index] == [0, 1, 2, 3]  # the nulls of the struct come last
    assert presence.buffer is None
    assert all(each.packed_group_index is None for each in native(shard, "http.tags").buffers)


def test_members_without_a_parent_share_a_reference() -> None:
    shard = written()
    groups = {each: [b for b in native(shard, each).buffers if b.kind <= BufferKind.PRESENCE] for each in GROUPS[0]}
    assert len({buffer.buffer for buffers in groups.values() for buffer in buffers}) == 1
    numbers = [buffer.packed_group_index for buffers in groups.values() for buffer in buffers]
    assert numbers == [0, 1, 2, 3, 4]  # of `flag` also its nulls
    assert all(native(shard, each).packed_group for each in GROUPS[0])


def test_inspect_shows_the_bytes_of_each_member() -> None:
    store = MemoryStore({})
    layout = written(store).inspect(blocks=True)
    fields = {each.path: each for each in layout.fields}
    assert fields["http"].storage == "packed struct"
    assert {each.member for each in layout.stripes[0].fields[0].buffers} == {0, None}  # data, range index
    total = sum(each.bytes for each in layout.fields)
    assert 0.5 * layout.size < total < layout.size
    for field in layout.stripes[0].fields:
        for buffer in field.buffers:
            assert all(block.start >= 0 and block.bytes > 0 for block in buffer.blocks)
            if buffer.blocks and buffer.member is not None:
                assert sum(block.bytes for block in buffer.blocks) == buffer.bytes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"packed_groups": [["n"]]}, "expected at least two columns in a group"),
        ({"packed_groups": [["n", "n"]]}, "expected each column once"),
        ({"packed_groups": [["n", "f"], ["f", "text"]]}, "expected each column once"),
        ({"packed_groups": [["n", "http"]]}, "expected columns of text"),
        ({"packed_groups": [["n", "http.ok"]]}, "expected top-level columns or members of one struct"),
        ({"packed_groups": [["http.status", "http.ok"]], "packed": True}, "that packed_groups does not name"),
        ({"packed_groups": "nf"}, "expected lists of columns"),
        ({"packed": ["n"]}, "expected a struct with at least two members"),
        ({"packed_groups": [["n", "nothing"]]}, "nothing"),
    ],
)
def test_requests_that_cannot_be_met(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        amudai.write(table(5), "t.amudai.shard", store=MemoryStore({}), **options)


# ---- where blocks end ----


@given(
    sizes=st.lists(st.lists(st.integers(0, 300), max_size=60), max_size=6),
    rows=st.integers(8, 40),
    most=st.integers(1, 2000),
)
def test_ends_of_blocks(sizes: list[list[int]], rows: int, most: int) -> None:
    ends = BlockEnds(rows, most)
    for batch in sizes:
        ends.extend(np.array(batch, np.int64))
    every = [size for batch in sizes for size in batch]
    counts = np.diff([0, *ends.positions])
    assert all(count % 8 == 0 and 0 < count <= max(8, rows) for count in counts)
    assert (ends.positions or [0])[-1] <= len(every)
    at = 0
    for count in counts.tolist():
        assert count == 8 or sum(every[at : at + count]) <= most
        at += count
    # The rest does not fill a block.
    assert len(every) - at <= rows or sum(every[at:]) <= most


# ---- values ----


@pytest.mark.slow
@examples(25)
@given(
    data=tables(), profile=st.sampled_from(["plain", "balanced", "minimal_size"]), stripe_rows=st.none() | st.just(50)
)
def test_what_goes_in_comes_out(data: pa.Table, profile: str, stripe_rows: int | None) -> None:
    groups = [["n", "message", "f", "b"], ["level", "t", "d", "code", "same"]]
    shard = written(data=data, packed_groups=groups, packed=True, profile=profile, stripe_rows=stripe_rows)
    assert same_values(shard.read(), data)
    report = shard.verify(deep=True)
    assert report.ok, report.problems


@pytest.mark.slow
@examples(25)
@given(data=tables(), where=predicates())
def test_predicates_give_the_same_rows(data: pa.Table, where: amudai.Predicate) -> None:
    plain = amudai.write(data, "p.amudai.shard", store=MemoryStore({}))
    shard = written(data=data, packed_groups=[["n", "u", "f", "b", "level", "message"]], packed=True)
    assert shard.scan(where=where).positions().tolist() == plain.scan(where=where).positions().tolist()


def test_blocks_are_cut_together_whatever_they_hold() -> None:
    rows = 30_000
    picked = np.random.default_rng(7).integers(0, 200, rows).tolist()
    data = pa.table(
        {
            "wide": [f"{n:x}" * (1 + n % 40) for n in range(rows)],
            "code": pa.array([f"{at * 2**127 // 209:032x}" for at in picked]).dictionary_encode(),
            "late": pa.array([None if n < 20_000 else n % 3 == 0 for n in range(rows)]),
            "id": pa.array([n.to_bytes(16, "big") for n in range(rows)], pa.binary(16)),
            "same": ["x"] * rows,
        }
    )
    for batch_rows in (700, 30_000):
        batches = data.to_batches(max_chunksize=batch_rows)
        shard = written(
            data=pa.RecordBatchReader.from_batches(data.schema, batches),
            packed_groups=[data.column_names],
            packed=False,
        )
        assert native(shard, "same").buffers == ()
        assert native(shard, "code").find(BufferKind.VALUE_DICTIONARY) is not None
        counts = {
            each.block_count for name in data.column_names for each in native(shard, name).buffers if each.block_count
        }
        assert len(counts) == 1
        assert counts.pop() > 3
        assert shard.read().equals(data)
        assert shard.take([29_999, 0, 15_001]).to_pydict() == data.take([29_999, 0, 15_001]).to_pydict()


# ---- requests ----


def test_a_row_takes_one_request_for_all_members() -> None:
    rng = np.random.default_rng(5)
    data = pa.table({name: rng.random(300_000) for name in "abcdef"})
    store = MemoryStore({})
    written(store, data=data, packed_groups=[list("abcdef")], packed=False).close()
    with amudai.open("t.amudai.shard", store=store) as shard:
        shard.take([5])  # descriptors and block maps
        before = store.counters.requests
        assert shard.take([250_000]).equals(data.take([250_000]))
        assert store.counters.requests - before == 1


def test_one_member_of_a_long_stretch_is_read_without_the_others() -> None:
    rng = np.random.default_rng(5)
    data = pa.table({name: rng.random(300_000) for name in "abcdef"})
    store = MemoryStore({})
    written(store, data=data, packed_groups=[list("abcdef")], packed=False).close()
    with amudai.open("t.amudai.shard", store=store) as shard:
        before = store.counters.bytes
        assert shard.read(["c"]).equals(data.select(["c"]))
        assert store.counters.bytes - before < 0.4 * sum(map(len, store._files.values()))


# ---- edits ----


@pytest.mark.slow
def test_edits_keep_groups(tmp_path: Path) -> None:
    indexes = [TermIndex("text"), HashIndex("word")]
    options: dict[str, Any] = {"packed_groups": GROUPS, "packed": True, "layout": "two-level", "indexes": indexes}
    one = amudai.write(table(), tmp_path / "1.amudai.shard", **options)
    two = amudai.write(table(300, 400), tmp_path / "2.amudai.shard", **options, stripe_rows=100)
    both = pa.concat_tables([table(), table(300, 400)])
    merged = amudai.merge([one, two], to=tmp_path / "m.amudai.shard")
    assert merged.read().equals(both)
    deleted = amudai.delete(merged, where=col("text").has("line7"), to=tmp_path / "d.amudai.shard")
    left = both.filter(pa.array([text is None or "line7 " not in text for text in both["text"].to_pylist()]))
    assert deleted.read().equals(left)
    dropped = amudai.drop_columns(deleted, ["n", "http.path"], to=tmp_path / "x.amudai.shard")
    assert dropped.read(["text", "flag", "f"]).equals(left.select(["text", "flag", "f"]))
    assert "path" not in [field.name for field in dropped.schema.field("http").type]
    assert dropped.read(["http.ok"])["http"].to_pylist() == [
        None if each is None else {"ok": each["ok"]} for each in left["http"].to_pylist()
    ]
    renamed = amudai.rename_columns(dropped, {"f": "quarter"}, to=tmp_path / "r.amudai.shard")
    assert renamed.read(["quarter"])["quarter"].equals(left["f"])
    wider = amudai.with_columns(
        renamed,
        {"p": range(700), "q": ["q"] * 350 + ["r"] * 350},
        tmp_path / "w.amudai.shard",
        packed_groups=[["p", "q"]],
    )
    assert native(wider, "p").packed_group
    assert wider.read(["p"])["p"].to_pylist() == [n for n in range(700) if n not in deleted_positions(deleted)]
    copied = amudai.copy(wider, tmp_path / "elsewhere.amudai.shard")
    assert copied.read().equals(wider.read())
    compacted = amudai.compact(copied, to=tmp_path / "k.amudai.shard")
    assert compacted.read().equals(wider.read())
    assert native(compacted, "text").packed_group
    assert native(compacted, "http").packed_group
    for shard in (merged, deleted, dropped, renamed, wider, copied, compacted):
        report = shard.verify(deep=True)
        assert report.ok, report.problems


def deleted_positions(shard: amudai.Shard) -> set[int]:
    return set(range(shard.num_positions)) - set(shard.scan().positions().tolist())


# ---- damage ----


def outcome(name: str, content: bytes) -> pa.Table | AmudaiError:
    try:
        return amudai.open(name, store=MemoryStore({name: content})).read()
    except AmudaiError as error:
        return error


@pytest.mark.slow
def test_a_flipped_bit_is_harmless_or_an_error() -> None:
    store = MemoryStore({})
    small = table(40)
    written(store, data=small).close()
    ((name, content),) = store._files.items()
    for at in range(0, len(content), spaced(11)):
        damaged = content[:at] + bytes([content[at] ^ 1 << at % 8]) + content[at + 1 :]
        found = outcome(name, damaged)
        if isinstance(found, AmudaiError):
            assert name in str(found), f"byte {at}: the error names no file"
        else:
            assert found.equals(small), f"byte {at}: a wrong value came out"


@pytest.mark.slow
def test_verify_finds_every_byte_of_a_group() -> None:
    store = MemoryStore({})
    shard = written(store)
    ((name, content),) = store._files.items()
    ref = native(shard, "n").buffers[0].buffer
    assert ref is not None
    for at in range(ref.start, ref.end, spaced(101)):
        damaged = content[:at] + bytes([content[at] ^ 0x10]) + content[at + 1 :]
        assert not amudai.open(name, store=MemoryStore({name: damaged})).verify().ok, at


def test_salvage_saves_the_rows_of_sound_super_blocks() -> None:
    data = pa.table({"n": range(40_000), "m": range(40_000)})
    store = MemoryStore({})
    shard = written(store, data=data, packed_groups=[["n", "m"]], packed=False)
    ref = native(shard, "n").buffers[0].buffer
    assert ref is not None
    content = bytearray(store._files["t.amudai.shard"])
    content[ref.start + 9] ^= 1  # a size in the header of the first super-block
    saved = amudai.salvage("t.amudai.shard", "s.amudai.shard", store=MemoryStore({"t.amudai.shard": bytes(content)}))
    assert 0 < saved.lost_rows <= 8192
    assert saved.shard.read().equals(data.slice(saved.lost_rows))


def test_a_dictionary_without_entries(tmp_path: Path) -> None:
    nothing = pa.DictionaryArray.from_arrays(pa.array([None, None], pa.int8()), pa.array([], pa.string()))
    rows = pa.table({"d": nothing, "n": [1, 2]})
    assert amudai.write(rows, tmp_path / "d.amudai.shard", packed_groups=[["d", "n"]]).read() == rows
