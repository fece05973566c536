"""Metadata that lies, in frames with right checksums: an error that names the file, soon and in little memory."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

import amudai
from amudai.errors import AmudaiError, CorruptedData, InvalidArgument, StorageError, UnsupportedFeature
from amudai.format.wire import amudai_pb2 as wire
from amudai.storage import MemoryStore
from amudai.types import BasicType
from tests.damage.blocks import EDITS, bounded, edited, examples
from tests.damage.lies import CASES, CONTAINERS, MANY, URLS, columns, misled, specimen_of
from tests.damage.specimens import FORGED, Specimen
from tests.forge import (
    Column,
    FieldContent,
    Forge,
    booleans,
    constants,
    fixed_lists,
    missing,
    numbers,
    strings,
    units,
)

pytestmark = pytest.mark.slow


def test_the_shard_is_sound_before_anything_is_changed() -> None:
    shard = specimen_of(Forge.of(columns())).open()
    assert shard.read(["n", "s", "d", "b", "l", "f", "c"]).to_pylist() == [
        {"n": 1, "s": "a", "d": "x", "b": True, "l": [1, 2], "f": [1, 2], "c": 7},
        {"n": 2, "s": None, "d": None, "b": None, "l": [], "f": [3, 4], "c": 7},
        {"n": 3, "s": "c", "d": "x", "b": False, "l": [3], "f": None, "c": 7},
    ]
    assert shard.verify().ok


@pytest.mark.parametrize("url", URLS)
@pytest.mark.parametrize("where", ["buffer", "stripe_list_ref", "schema_ref", "slots"])
def test_references_that_lead_astray(url: str, where: str) -> None:
    forge = misled(where, url)
    with pytest.raises((CorruptedData, StorageError), match=URLS[url]) as caught:
        specimen_of(forge).everything()
    assert "hidden" not in str(caught.value), "a secret in a message"
    # The root file names the reference that is refused, or the file it means is missing.
    assert forge.name in str(caught.value) or isinstance(caught.value, StorageError)


def test_a_missing_stripe_file() -> None:
    forge = Forge.of(columns(), layout="two-level")
    files = {name: content for name, content in forge.files().items() if name == forge.name}
    with pytest.raises(StorageError, match=r"found none \(url 0000000000000000.amudai.stripe"):
        Specimen("forged", forge.name, files).everything()


@pytest.mark.parametrize("name", CASES)
def test_metadata_that_lies(name: str) -> None:
    forge = CASES[name]()
    with bounded(), pytest.raises((CorruptedData, UnsupportedFeature)) as caught:
        specimen_of(forge).everything()
    assert forge.name in str(caught.value), "the error names no file"


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_verify_finds_it_too(name: str) -> None:
    forge = CASES[name]()
    with bounded():
        try:
            report = specimen_of(forge).open().verify()
        except AmudaiError as error:
            assert forge.name in str(error)  # noqa: PT017 - the directory itself
            return
    assert all(forge.name in problem.message for problem in report.problems)
    supported = any(word in name for word in ("required", "deleted", "kept schema", "begins later"))
    assert supported or report.problems


@pytest.mark.parametrize("rows", [[0, 2], [0, 1, 2], [1]])
@pytest.mark.parametrize("name", CONTAINERS)
def test_single_rows_of_containers_that_lie(name: str, rows: list[int]) -> None:
    # Fewer rows may not meet the lie, but must not meet anything else.
    with bounded():
        try:
            table = specimen_of(CONTAINERS[name]()).open().take(rows)
        except (CorruptedData, UnsupportedFeature):
            return
    table.validate(full=True)


@pytest.mark.parametrize("specimen", FORGED, ids=str)
@examples(150)
@given(data=st.data())
def test_broken_metadata(specimen: Specimen, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(specimen.files)))
    content = specimen.files[name]
    start = data.draw(st.integers(0, len(content) - 1))
    broken = content[:start] + edited(content[start : start + 100], data.draw(EDITS)) + content[start + 100 :]
    with bounded():
        try:
            table, _ = specimen.damaged(name, broken).everything(verify=False)
        except AmudaiError:
            return
    table.validate()


# ---- sizes that are true, and too large ----


def _endless() -> Forge:
    """2**60 rows of constants: every number agrees, no memory holds them."""
    made = {
        "n": constants(numbers([], "i8"), MANY, 7),
        "s": constants(strings([]), MANY, "same"),
        "z": constants(numbers([], "i4"), MANY, None),
        "u": units(MANY),
        "t": Column(
            basic_type=BasicType.STRUCT,
            content=FieldContent(descriptor=wire.FieldDescriptor(position_count=MANY)),
            children=[("x", constants(booleans([]), MANY, True))],
        ),
        "m": missing(numbers([], "f8")),
    }
    return Forge.of(made)


@pytest.mark.parametrize("columns", [None, ["n"], ["s"], ["z"], ["u"], ["t"], ["m"], []], ids=str)
def test_more_rows_than_memory_holds(columns: list[str] | None) -> None:
    forge = _endless()
    shard = specimen_of(forge).open()
    with bounded(), pytest.raises(InvalidArgument, match="do not fit into memory") as caught:
        shard.read(columns)
    assert forge.name in str(caught.value)


def test_of_endless_rows_some_can_be_read() -> None:
    shard = specimen_of(_endless()).open()
    row = {"n": 7, "s": "same", "z": None, "u": None, "t": {"x": True}, "m": None}
    with bounded():
        assert shard.num_positions == shard.num_rows == MANY
        assert shard.head(2).to_pylist() == [row, row]
        assert shard.take([MANY - 1, 0]).to_pylist() == [row, row]
        assert next(iter(shard.to_reader(batch_rows=3))).to_pylist() == [row] * 3
        assert shard.verify().ok
        assert shard["n"].stats.count == MANY
        assert str(shard)


@pytest.mark.parametrize("stored", [False, True], ids=["missing", "constant"])
def test_lists_with_more_items_than_memory_holds(stored: bool) -> None:
    size = 0x7FFFFFFF
    items = constants(numbers([], "i8"), 300 * size, 5) if stored else missing(numbers([], "i8"))
    forge = Forge.of({"f": fixed_lists(size, items, count=300)})
    with bounded(), pytest.raises(AmudaiError, match="do not fit into memory"):
        specimen_of(forge).everything()
    with bounded():
        assert specimen_of(forge).open().verify().ok


def test_a_long_constant_in_many_rows() -> None:
    # 6 GB in one array, or an error; never offsets that ran over.
    count = 3000
    forge = Forge.of({"s": constants(strings([]), count, "x" * 2_000_000)})
    shard = specimen_of(forge).open()
    assert shard.read(rows=slice(0, 2))["s"].to_pylist() == ["x" * 2_000_000] * 2
    assert shard.take([count - 1])["s"].to_pylist() == ["x" * 2_000_000]


# ---- indexes that lead in circles ----


def _circle(kind: str, length: int) -> MemoryStore:
    """Shards of which each has an index that is the next one, and the last one the first."""
    sizes = [0] * length
    for _ in range(2):  # the size of each is stated in the one before
        files = {}
        for at in range(length):
            descriptor = wire.IndexDescriptor(index_type=kind)
            descriptor.indexed_fields.add().schema_ids.append(0)
            following = (at + 1) % length
            for name in ("terms", "positions"):
                artifact = descriptor.artifacts.add(name=name)
                artifact.data_ref.url = f"{following}.amudai.shard"
                artifact.data_ref.range.end = sizes[following]
            forge = Forge.of({"s": strings(["a b", "c"])}, name=f"{at}.amudai.shard", indexes=[descriptor])
            files[forge.name] = forge.root()
        sizes = [len(files[f"{at}.amudai.shard"]) for at in range(length)]
    return MemoryStore(files)


@pytest.mark.parametrize("length", [1, 2, 3, 100])
@pytest.mark.parametrize("kind", ["inverted-text-index-v1", "field-hashing-index"])
def test_indexes_that_lead_in_circles(kind: str, length: int) -> None:
    store = _circle(kind, length)
    shard = amudai.open("0.amudai.shard", store=store)
    assert not shard.verify().ok
    assert not shard.verify(deep=True).ok
    assert shard.count("s has 'a'") == shard.count("s = 'c'") == 1
    assert shard.inspect(blocks=True).num_rows == 2
    assert amudai.salvage(shard, "saved", store=MemoryStore()).shard.num_rows == 2
    edits: list[Callable[[], object]] = [
        lambda: amudai.merge([shard, shard], "merged", store=store),
        lambda: amudai.compact(shard, "compacted", store=store),
        lambda: amudai.copy(shard, "copied", store=MemoryStore()),
    ]
    for edit in edits:
        with suppress(AmudaiError):
            edit()


def test_sums_that_no_number_holds() -> None:
    """Sizes that are not true, of which each fits into its number and their sum does not."""
    forge = Forge.of(columns(), fields={0: wire.FieldDescriptor(position_count=3, raw_data_size=(1 << 64) - 1)})
    shard = specimen_of(forge).open()
    for edit in (amudai.merge, amudai.compact):
        with suppress(AmudaiError):
            edit([shard, shard], "new", store=MemoryStore())
