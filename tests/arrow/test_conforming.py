"""Values of one shard as the type that a column has in all shards together."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai.arrow import conformed
from tests.effort import examples
from tests.writing.arrays import Maker

Make = Callable[[pa.DataType], pa.DataType]
TEXTS = (
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.dictionary(pa.int8(), pa.string()),
    pa.dictionary(pa.int32(), pa.string_view()),
)
PAIRS_OF, MAP = partial(pa.list_, list_size=2), partial(pa.map_, pa.int8())
LISTS: tuple[Make, ...] = (pa.list_, pa.large_list, pa.list_view, pa.large_list_view, PAIRS_OF)
# A map stays a map, and the others become a list or a large list.
PAIRS = [(one, two) for one in LISTS for two in LISTS[:2]] + [(PAIRS_OF, PAIRS_OF), (MAP, MAP)]


@examples(200)
@given(
    narrow=st.sampled_from(TEXTS),
    wide=st.sampled_from(TEXTS),
    layouts=st.lists(st.sampled_from(PAIRS), max_size=2),
    is_struct=st.booleans(),
    seed=st.integers(0, 2**32),
    cut=st.tuples(st.integers(0, 20), st.integers(0, 20)),
)
def test_every_form_of_texts_and_lists(
    narrow: pa.DataType,
    wide: pa.DataType,
    layouts: list[tuple[Make, Make]],
    is_struct: bool,
    seed: int,
    cut: tuple[int, int],
) -> None:
    if is_struct:
        narrow, wide = pa.struct([("t", narrow)]), pa.struct([("n", pa.int8()), ("t", wide)])
    for own, other in layouts:
        narrow, wide = own(narrow), other(wide)
    array = Maker(seed).array(narrow, 20)[min(cut) : max(cut)]
    found = conformed(array, wide)
    found.validate(full=True)
    assert found.type == wide
    values = found.to_pylist()
    assert [_without_numbers(each) for each in values] == array.to_pylist()


def _without_numbers(value: object) -> object:
    if isinstance(value, dict):
        return {name: each for name, each in value.items() if name != "n"}
    if isinstance(value, tuple):  # an entry of a map
        return tuple(map(_without_numbers, value))
    return [_without_numbers(each) for each in value] if isinstance(value, list) else value


def test_codes_that_do_not_count_all_entries() -> None:
    many = pa.array([str(at) for at in range(300)])
    with pytest.raises(pa.ArrowInvalid):
        conformed(many, pa.dictionary(pa.int8(), pa.string()))
