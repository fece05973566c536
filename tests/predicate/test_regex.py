"""Are the texts that a regular expression requires in all it matches, and is what RE2 lacks named?"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai.errors import InvalidArgument, UnsupportedFeature
from amudai.predicate.regex import quoted, require_regex, required_texts
from tests.effort import examples
from tests.oracle import operators

LITERALS = [
    ("abc", [("abc", True)]),
    ("a(b)c", [("abc", True)]),
    ("ab?c", [("a", True), ("c", True)]),
    ("ab+c", [("a", True), ("b", True), ("c", True)]),
    ("(ab){2,}c", [("ab", True), ("c", True)]),
    ("(ab){0,2}c", [("c", True)]),
    ("^ab$", [("ab", True)]),
    (r"a\.b\\", [("a.b\\", True)]),
    (r"\x41\101", [("AA", True)]),
    ("ab|cd", []),
    ("xab|xcd", [("x", True)]),
    ("x|xab", [("x", True)]),
    ("[ab]c", [("c", True)]),
    (r"a\db\w", [("a", True), ("b", True)]),
    ("(?i)abc", [("abc", False)]),
    ("(?i)task", [("ta", False)]),
    ("(?i)a\u00e9b", [("a", False), ("b", False)]),
    ("a(?i:b)c", [("a", True), ("b", False), ("c", True)]),
    ("(?i)a(?-i:b)", [("a", False), ("b", True)]),
    (r"a\pNb\p{Greek}c", [("a", True), ("b", True), ("c", True)]),
    (r"\Qa.b\Ec", [("a.bc", True)]),
    (r"\Qa.b", [("a.b", True)]),
    (r"\Qab\E*", [("a", True)]),
    ("[[:alpha:]]x", [("x", True)]),
    ("[]a]x[^]b]y[a\\]]z", [("x", True), ("y", True), ("z", True)]),
    ("a{,5}", [("a{,5}", True)]),
    ("a{2}{,3}", [("a", True), ("{,3}", True)]),
    ("a[.]b", [("a.b", True)]),
    ("[eE][rR][rR]-5", [("err-5", False)]),
    ("[sS\u017f][kK]", [("sk", False)]),
    ("[kK\u212a]x", [("x", True)]),
    ("(?i)[ab]c", [("c", False)]),
    ("(?i)504", [("504", True)]),
    ("(x(ab|ac)y)z", [("xa", True), ("yz", True)]),
    ("(?P<n>a)(?:b)(?s:c)", [("abc", True)]),
    (r"a\x{1F600}\n", [("a\U0001f600\n", True)]),
    (r"a*?b+?c??d{2,3}?", [("b", True), ("d", True)]),
    ("", []),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "expected"), LITERALS)
def test_required_texts(pattern: str, expected: list[tuple[str, bool]]) -> None:
    assert list(required_texts(pattern)) == expected


PIECES = [
    *["a", "b", "k", "K", "s", "i", "\u00e9", ".", r"\.", "-", " ", r"\x61", r"\101", r"\Q", r"\E", "[ab]", "[^a]"],
    *[
        "(",
        "(?:",
        "(?i:",
        "(?P<n>",
        ")",
        "|",
        "*",
        "+",
        "?",
        "{2}",
        "{,2}",
        "{1,}",
        "[[:alpha:]]",
        r"\d",
        r"\w",
        r"\pL",
    ],
    *["^", "$", r"\b", "(?i)", "(?s)"],
]
pieces = st.sampled_from(PIECES)


@examples(600)
@given(
    pattern=st.lists(pieces, max_size=8).map("".join),
    values=st.lists(st.text("abkKsSi.- {}2,\u00e9\u00c9\u212a\u017f\u0131:]", max_size=8), max_size=10),
)
def test_what_matches_has_the_required_texts(pattern: str, values: list[str]) -> None:
    try:
        found = pc.match_substring_regex(pa.array(values, pa.string()), pattern).to_pylist()
    except pa.ArrowInvalid:
        return
    for value, matches in zip(values, found, strict=True):
        if matches:
            for text, case_sensitive in required_texts(pattern):
                assert operators.is_true("contains", value, text, case_sensitive), (pattern, value, text)


LACKED = [
    ("a(?=b)", "no lookahead (?="),
    ("a(?!b)", "no lookahead (?!"),
    ("(?<=a)b", "no lookbehind (?<="),
    ("(?<!a)b", "no lookbehind (?<!"),
    (r"(a)\1", r"no backreferences \1"),
    (r"(?P<n>a)(?P=n)", "no backreferences (?P=n)"),
    (r"(?P<n>a)\k<n>", r"no backreferences \k"),
    ("(?>a)b", "no atomic groups (?>"),
    ("a++b", "no possessive repetition ++"),
    ("a{2}+", "no possessive repetition {2}+"),
    ("(a)?(?(1)b|c)", "no conditionals (?("),
    ("a(?#b)", "no comments (?#"),
    ("(?|a|b)", "no branch reset (?|"),
    ("a(?R)?b", "no recursion (?R)"),
    ("(?x)a b", "no flag (?x)"),
    ("(?iu:a)", "no flag (?iu:"),
    (r"a\Z", r"no escape \Z"),
    (r"a\h", r"no escape \h"),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "message"), LACKED)
def test_what_re2_lacks_is_named(pattern: str, message: str) -> None:
    with pytest.raises(UnsupportedFeature) as error:
        require_regex("column 'a'", pattern)
    assert message in str(error.value)
    assert str(error.value).startswith("column 'a': expected the syntax of RE2")
    with pytest.raises(pa.ArrowInvalid):
        pc.match_substring_regex(pa.array(["a"]), pattern)


@pytest.mark.parametrize("pattern", [r"\(?=", "[(?=]", r"\Q(?=\E", r"\\(1)", "[a++]", r"[\]]*", "(?i-s:a)", r"\012"])
def test_what_only_looks_so_is_not_refused(pattern: str) -> None:
    require_regex("x", pattern)


@pytest.mark.parametrize("pattern", ["(a", "a)", "[a", "a**", "*", "a\\", "a{2000}", "[b-a]", r"\pX"])
def test_what_is_no_regular_expression_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidArgument, match="x: expected a regular expression, found"):
        require_regex("x", pattern)


odd_pieces = st.sampled_from([*PIECES, "(?=", r"\1", "(?x)", r"\Z", "+", "[", "]", "[^]"])


@examples(300)
@given(pattern=st.lists(odd_pieces, max_size=8).map("".join))
def test_what_re2_can_read_is_not_refused(pattern: str) -> None:
    try:
        pc.match_substring_regex(pa.array(["a"]), pattern)
    except pa.ArrowInvalid:
        with pytest.raises((InvalidArgument, UnsupportedFeature)):
            require_regex("x", pattern)
    else:
        require_regex("x", pattern)


@examples(100)
@given(text=st.text(max_size=6), others=st.lists(st.text(max_size=6), max_size=4))
def test_quoted_texts_match_themselves(text: str, others: list[str]) -> None:
    values = [text, f"a{text}b", *others]
    found = pc.match_substring_regex(pa.array(values), quoted(text)).to_pylist()
    assert found == [text in value for value in values]
    assert all(each.text in text and each.case_sensitive for each in required_texts(quoted(text)))
