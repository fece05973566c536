"""Extension types and aliases: from Arrow and from the user into a shard, out again, and through edits."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amudai
from amudai import Extension, col
from amudai.format import extension_properties, extension_values
from amudai.storage import MemoryStore
from amudai.types import ExtensionProperty
from tests.forge import Forge, numbers, open_forged

VECTOR = Extension("EmbeddingVec", {"model": "text-embedding-3-small", "size": 2, "old": None, "tags": ["a", 1.5]})


def table() -> pa.Table:
    return pa.table(
        {
            "vector": [[0.5, 0.25], None],
            "point": [{"lat": 1.0, "lon": 2.0}, None],
            "prices": [{"usd": 1}, {"eur": 2}],
            "names": pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int64())),
        }
    )


EXTENSIONS = {
    "vector": VECTOR,
    "point": Extension("GeoPoint"),
    "point.lat": Extension("Degrees", {"axis": "north"}),
    "vector.item": Extension("Weight", {"raw": b"\0\xff"}),
    "prices.usd": Extension("Money", {"since": datetime(2026, 1, 1, tzinfo=UTC), "for": timedelta(days=1)}),
    "names.value": Extension("Count"),
}


def extensions(shard: amudai.Shard) -> dict[str, Extension | None]:
    return {path: shard[path].extension for path in EXTENSIONS}


def test_extension_types_of_any_field(tmp_path: Path) -> None:
    shard = amudai.write(table(), tmp_path / "t.amudai.shard", extensions=EXTENSIONS)
    assert extensions(shard) == EXTENSIONS
    assert shard["prices.eur"].extension is None
    assert shard.read().equals(table())
    assert shard.schema.equals(table().schema, check_metadata=True)
    assert shard["point.lat"].stored_type == "float64 as Degrees"
    assert shard.verify().ok


def test_added_columns_get_extension_types_and_aliases(tmp_path: Path) -> None:
    shard = amudai.write({"n": [1, 2]}, tmp_path / "t.amudai.shard", aliases={"n": ["number"]})
    aliases = {"vector": ["embedding"], "point.lat": ["latitude"]}
    columns = {name: table()[name] for name in table().column_names}
    more = amudai.with_columns(shard, columns, tmp_path / "w.amudai.shard", extensions=EXTENSIONS, aliases=aliases)
    assert extensions(more) == EXTENSIONS
    assert more["embedding"].name == "vector"
    assert more["point.latitude"].path == "point.lat"
    assert more["number"].name == "n"  # what the shard had stays
    assert more.read(["point"]).equals(table().select(["point"]))
    # A column that takes the place of another has only what it is given.
    other = amudai.with_columns(
        more, {"vector": [1, 2]}, tmp_path / "o.amudai.shard", extensions={"vector": "Rank"}, replace=True
    )
    assert (other["vector"].extension, other["vector"].aliases) == (Extension("Rank"), ())
    for options, match in (
        ({"extensions": {"n": "Rank"}}, "n"),  # not among the new columns
        ({"aliases": {"vector": ["number"]}}, "number"),  # another column is found by it
    ):
        with pytest.raises(amudai.AmudaiError, match=match):
            amudai.with_columns(shard, {"vector": [1, 2]}, tmp_path / "x.amudai.shard", **options)  # type: ignore[arg-type]
    assert not (tmp_path / "x.amudai.shard").exists()


def test_salvage_keeps_extension_types_and_aliases(tmp_path: Path) -> None:
    place = tmp_path / "t.amudai.shard"
    aliases = {"vector": ["embedding"], "point.lat": ["latitude"], "bad": ["worse"]}
    damaged = table().append_column("bad", pa.array(["sound", "damaged"]))
    amudai.write(damaged, place, extensions=EXTENSIONS | {"bad": Extension("Note")}, aliases=aliases, profile="plain")
    content = bytearray(place.read_bytes())
    content[content.index(b"sounddamaged")] ^= 1
    place.write_bytes(content)
    saved = amudai.salvage(place, tmp_path / "s.amudai.shard", missing="null")
    assert {each.column for each in saved.lost} == {"bad"}
    assert extensions(saved.shard) == EXTENSIONS
    assert saved.shard["bad"].extension == Extension("Note")
    assert (saved.shard["embedding"].name, saved.shard["worse"].name) == ("vector", "bad")
    assert saved.shard["point.latitude"].path == "point.lat"
    assert saved.shard.read(table().column_names).equals(table())
    assert saved.shard.read(["bad"])["bad"].to_pylist() == [None, None]
    # Those of columns that are left out go with them.
    fewer = amudai.salvage(place, tmp_path / "f.amudai.shard", columns=["point", "vector"])
    assert fewer.shard["point.latitude"].extension == EXTENSIONS["point.lat"]
    with pytest.raises(KeyError, match="worse"):
        _ = fewer.shard["worse"]


def test_edits_keep_extension_types_and_aliases(tmp_path: Path) -> None:
    aliases = {"vector": ["embedding", "v"], "point.lat": ["latitude"]}
    shard = amudai.write(table(), tmp_path / "t.amudai.shard", extensions=EXTENSIONS, aliases=aliases)
    made = [
        amudai.compact(shard, tmp_path / "c.amudai.shard"),
        amudai.merge([shard, shard], tmp_path / "m.amudai.shard"),
        amudai.delete(shard, "prices.usd = 1", to=tmp_path / "d.amudai.shard"),
        amudai.with_columns(shard, {"more": [1, 2]}, tmp_path / "w.amudai.shard"),
        amudai.copy(shard, tmp_path / "y.amudai.shard"),
        amudai.add_indexes(shard, [amudai.HashIndex("prices.usd")], tmp_path / "i.amudai.shard"),
    ]
    made.append(amudai.compact(made[1], tmp_path / "again.amudai.shard", sort_by="prices.usd"))
    for each in made:
        assert extensions(each) == EXTENSIONS, each.url
        assert each["embedding"].aliases == ("embedding", "v"), each.url
        assert each["point.latitude"].path == "point.lat", each.url


def test_an_extension_type_that_arrow_knows_only_by_name(tmp_path: Path) -> None:
    metadata = {"ARROW:extension:name": "acme.money", "ARROW:extension:metadata": '{"currency": "EUR", "digits": 2}'}
    inner = pa.field("sum", pa.int64(), metadata=metadata)
    fields = [pa.field("price", pa.int64(), metadata=metadata), pa.field("bill", pa.struct([inner]))]
    fields += [
        pa.field("other", pa.int8(), metadata={"ARROW:extension:name": "x", "ARROW:extension:metadata": "no JSON"})
    ]
    data = pa.table([[5], [{"sum": 7}], [1]], schema=pa.schema(fields))
    shard = amudai.write(data, tmp_path / "t.amudai.shard")
    assert shard["price"].extension == Extension("acme.money", {"currency": "EUR", "digits": 2})
    assert shard["bill.sum"].extension == shard["price"].extension
    assert shard["other"].extension == Extension("x", {"ARROW:extension:metadata": b"no JSON"})
    assert shard.schema.equals(data.schema, check_metadata=True)
    # Without the kept schema, the labels make the same metadata.
    natural = _natural(shard)
    assert natural.field("price").metadata == {key.encode(): value.encode() for key, value in metadata.items()}
    assert natural.field("other").metadata[b"ARROW:extension:metadata"] == b"no JSON"
    assert natural.field("bill").type.field("sum").metadata == natural.field("price").metadata


def _natural(shard: amudai.Shard) -> pa.Schema:
    from amudai.arrow import ArrowFields

    return ArrowFields(shard._reader, natural=True).schema


class Money(pa.ExtensionType):  # type: ignore[misc]
    """A type that is registered in Arrow."""

    def __init__(self, currency: str) -> None:
        self.currency = currency
        super().__init__(pa.int64(), "test.money")

    def __arrow_ext_serialize__(self) -> bytes:
        return f'{{"currency": "{self.currency}"}}'.encode()

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, serialized: bytes) -> Money:
        import json

        if storage != pa.int64():
            raise TypeError("storage")
        return cls(json.loads(serialized)["currency"])


@pytest.fixture
def registered() -> Iterator[None]:
    pa.register_extension_type(Money("EUR"))
    yield
    pa.unregister_extension_type("test.money")


@pytest.mark.usefixtures("registered")
def test_a_registered_type_comes_and_goes(tmp_path: Path) -> None:
    prices = pa.ExtensionArray.from_storage(Money("USD"), pa.array([5, None]))
    lists = pa.ListArray.from_arrays([0, 1, 2], prices)
    shard = amudai.write({"price": prices, "all": lists}, tmp_path / "t.amudai.shard")
    assert shard["price"].extension == shard["all.item"].extension == Extension("test.money", {"currency": "USD"})
    assert shard.read()["price"].type == Money("USD")
    natural = _natural(shard)
    assert natural.field("price").type == Money("USD")
    # A type of this name that cannot be made of the field: the label stays metadata.
    odd = open_forged(Forge.of({"c": numbers([5], "i4").labelled("test.money")}))
    assert odd.schema.field("c").type == pa.int32()
    assert odd.read().to_pylist() == [{"c": 5}]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"nope": "Label"}, "extensions: column 'nope': expected one of vector"),
        ({"vector": ""}, "extensions: expected an Extension or a label for 'vector', found ''"),
        ({"vector": 5}, "extensions: expected an Extension or a label for 'vector', found 5"),
        ({"vector": "KustoDecimal"}, "extensions: expected a label other than KustoDecimal"),
        ({"vector": Extension("X", {"a": object()})}, "value: expected None, bool"),
        (["vector"], "extensions: expected a dict"),
        ({1: "Label"}, "extensions: expected names of columns, found 1"),
    ],
)
def test_extensions_that_are_refused(tmp_path: Path, given: Any, said: str) -> None:
    with pytest.raises(amudai.AmudaiError, match=said):
        amudai.write(table(), tmp_path / "t.amudai.shard", extensions=given)
    assert not list(tmp_path.iterdir())


@given(
    st.dictionaries(
        st.text(max_size=3),
        st.none()
        | st.booleans()
        | st.integers(-(2**63), 2**64 - 1)
        | st.floats(allow_nan=False)
        | st.text()
        | st.binary(),
    )
)
def test_properties_come_back(values: dict[str, Any]) -> None:
    assert extension_values(extension_properties(values)) == values


def test_properties_of_other_writers() -> None:
    stored = [
        ExtensionProperty("json", 2, b'{"a": [1]}'),
        ExtensionProperty("later", 9, b"\1"),
        ExtensionProperty("n", 0, b""),
    ]
    assert extension_values(stored) == {"json": {"a": [1]}, "later": b"\1", "n": None}
    for broken in (
        ExtensionProperty("p", 1, b"\xff"),
        ExtensionProperty("p", 2, b"{"),
        ExtensionProperty("p", 2, b"[" * 100_000),
        ExtensionProperty("p", 3, b"\xff"),
    ):
        with pytest.raises(amudai.CorruptedData):
            extension_values([broken])


def test_deep_metadata_is_kept_as_it_is() -> None:
    deep = b"[" * 2000 + b"]" * 2000
    field = pa.field("n", pa.int64(), metadata={"ARROW:extension:name": "ours", "ARROW:extension:metadata": deep})
    store = MemoryStore()
    shard = amudai.write(pa.table([[1]], pa.schema([field])), "t", store=store)
    assert (shard.schema.field("n").metadata or {})[b"ARROW:extension:metadata"] == deep
    assert shard.read()["n"].to_pylist() == [1]


# ---- aliases ----


def test_a_column_is_found_by_its_aliases(tmp_path: Path) -> None:
    data = pa.table({"status": [200, 404], "http": [{"path": "/a"}, {"path": "/b"}], "code": [1, 2]})
    aliases = {"status": ["result", "http.status"], "http.path": ["url"]}
    shard = amudai.write(data, tmp_path / "t.amudai.shard", aliases=aliases)
    assert shard["result"].name == shard["`http.status`"].name == "status"
    assert shard["status"].aliases == ("result", "http.status")
    assert shard["http.url"].aliases == ("url",)
    assert shard.read(["result"]).to_pydict() == {"status": [200, 404]}
    assert shard.scan(["http.url"], where=col("result") == 404).to_table().to_pylist() == [{"http": {"path": "/b"}}]
    assert shard.scan(where="http.url = '/a'").count() == 1
    assert "status (result, http.status)" in str(shard) or "status (result, http.status)" in repr(shard["status"])
    with pytest.raises(amudai.AmudaiError, match="nothing"):
        shard.read(["nothing"])


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"nope": ["x"]}, "aliases: column 'nope': expected one of"),
        ({"a": "x"}, "aliases of 'a': expected a list of names, found the name 'x'"),
        ({"a": ["b"]}, "aliases of a: expected names that no other column has, found 'b' of 'b'"),
        ({"a": ["a"]}, "aliases of a: expected names that no other column has, found 'a' of 'a'"),
        ({"a": ["x"], "b": ["x"]}, "aliases of b: expected names that no other column has, found 'x' of 'a'"),
        ({"a": [""]}, "aliases of 'a': expected names, found ''"),
        ({"a": [1]}, "aliases of 'a': expected names, found 1"),
        (["a"], "aliases: expected a dict"),
    ],
)
def test_aliases_that_are_refused(tmp_path: Path, given: Any, said: str) -> None:
    with pytest.raises(amudai.AmudaiError, match=said):
        amudai.write({"a": [1], "b": [2]}, tmp_path / "t.amudai.shard", aliases=given)
    assert not list(tmp_path.iterdir())
