"""Texts for the tests of operators: near matches, punctuation, letters whose case is odd."""

from __future__ import annotations

from hypothesis import strategies as st

OPERATORS = ["has", "hasprefix", "hassuffix", "contains", "startswith", "endswith", "equals"]

# Letters that fold to each other or look as if they did, some of other sizes in UTF-8; digits; what parts words.
ALPHABET = (
    "aAbBiIsSkK9_- .\u00df\u1e9e\u0131\u0130\u017f\u212a\u00b5\u03bc\u00e9\u00c9\u0345\u0399\u01c5\u01c4"
    "\u24d0\u24b6\u2160\u00bd\u4e2d\U0001f600\U00010428\U00010400"
)

PIECES = [
    "time",
    "out",
    "Time",
    "OUT",
    "si",
    "\u017f\u0131",
    "ab",
    " ",
    "-",
    ".",
    "_",
    "\u00df",
    "\u1e9e",
    "i",
    "s",
    "9",
    "\u00e9",
]


def texts(most: int = 8) -> st.SearchStrategy[str]:
    """Short texts of few pieces, so that they are often nearly the same."""
    pieces = st.lists(st.sampled_from(PIECES), max_size=most).map("".join)
    return st.one_of(
        st.text(ALPHABET, max_size=most), pieces, st.text("ab ", max_size=most), st.text("aAsSiI.", max_size=most)
    )
