"""Tokenizers and collations of other packages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from amudai import _kernels
from amudai.arguments import shown
from amudai.errors import InvalidArgument
from amudai.index.plugins import COLLATIONS_GROUP, TOKENIZERS_GROUP, load_announced
from amudai.index.term.stored_form import COLLATIONS, TOKENIZERS

__all__ = [
    "OPERATORS",
    "Collation",
    "Tokenizer",
    "collation_of",
    "custom_terms",
    "folded_term",
    "is_unicode",
    "register_collation",
    "register_tokenizer",
    "tokenizer_of",
]

OPERATORS: Final = ("equals", "has", "hasprefix", "hassuffix", "contains", "startswith", "endswith")


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """A way to split text into the terms of a `TermIndex`.

    A tokenizer is sound if every value for which an operator is true has all terms that `required` names for it.
    Otherwise scans lose rows: `amudai.testing.check_tokenizer` looks for such values.

    Attributes
    ----------
    name
        The name that users give to `TermIndex`, and that shards state. A shard whose tokenizer is not registered is
        searched without its index.
    terms
        The terms of a value. Terms of more than 128 bytes are cut.
    required
        The terms that a value must have if an operator is true for it: called with the name of the operator (`equals`,
        `has`, `hasprefix`, `hassuffix`, `contains`, `startswith`, `endswith`) and the text that is asked for. No terms
        means that the index cannot help. Operators without `_cs` ignore case, and compare terms without regard to case.

    Examples
    --------
    >>> from amudai import Tokenizer
    >>> def pairs(text):
    ...     return {text[at : at + 2] for at in range(len(text) - 1)}
    >>> two = Tokenizer("doctest-pairs", pairs, lambda operator, text: pairs(text))
    >>> sorted(two.terms("abca"))
    ['ab', 'bc', 'ca']
    """

    name: str
    terms: Callable[[str], Iterable[str]]
    required: Callable[[str, str], Iterable[str]]


@dataclass(frozen=True, slots=True)
class Collation:
    """What terms of a `TermIndex` are stored as: terms with the same form are one term.

    Attributes
    ----------
    name
        The name that users give to `TermIndex`, and that shards state.
    fold
        The form of a term. It is called with the term in lower case, so an index with the collation always ignores
        case. It finds whole terms only, and scans check what it finds.

    Examples
    --------
    >>> import unicodedata
    >>> from amudai import Collation
    >>> def without_marks(term):
    ...     return "".join(each for each in unicodedata.normalize("NFD", term) if not unicodedata.combining(each))
    >>> Collation("doctest-marks", without_marks).fold("café")
    'cafe'
    """

    name: str
    fold: Callable[[str], str]


_tokenizers: dict[str, Tokenizer] = {}
_collations: dict[str, Collation] = {}


def register_tokenizer(tokenizer: Tokenizer) -> None:
    """Let `TermIndex` use a tokenizer of another package: `TermIndex("url", tokenizer="pairs")`.

    A package can announce its tokenizers instead, as entry points of the group `amudai.tokenizers`.

    Examples
    --------
    >>> def dotted(text):
    ...     return text.split(".")
    >>> def required(operator, text):
    ...     return text.split(".") if operator == "equals" else ()
    >>> amudai.register_tokenizer(amudai.Tokenizer("doctest-dotted", dotted, required))
    >>> index = amudai.TermIndex("host", tokenizer="doctest-dotted")
    >>> hosts = {"host": ["a.example", "b.example"]}
    >>> shard = amudai.write(hosts, "hosts.amudai.shard", indexes=[index], overwrite=True)
    >>> shard["host"].terms().column("term").to_pylist()
    ['example', 'a', 'b']
    """
    if not isinstance(tokenizer, Tokenizer):
        raise InvalidArgument(f"tokenizer: expected an amudai.Tokenizer, found {shown(tokenizer)}")
    _require_free(tokenizer.name, "tokenizer", {*TOKENIZERS, *TOKENIZERS.values(), *_tokenizers})
    _tokenizers[tokenizer.name] = tokenizer


def register_collation(collation: Collation) -> None:
    """Let `TermIndex` use a collation of another package: `TermIndex("name", collation="without-marks")`.

    A package can announce its collations instead, as entry points of the group `amudai.collations`.

    Examples
    --------
    >>> amudai.register_collation(amudai.Collation("doctest-dashes", lambda term: term.replace("\u2011", "")))
    >>> index = amudai.TermIndex("text", collation="doctest-dashes")
    >>> shard = amudai.write({"text": ["Disk full"]}, "dashes.amudai.shard", indexes=[index], overwrite=True)
    >>> shard.count(amudai.col("text").has("disk"))
    1
    """
    if not isinstance(collation, Collation):
        raise InvalidArgument(f"collation: expected an amudai.Collation, found {shown(collation)}")
    _require_free(collation.name, "collation", {*COLLATIONS, *COLLATIONS.values(), *_collations})
    _collations[collation.name] = collation


def _require_free(name: str, what: str, taken: set[str]) -> None:
    if not isinstance(name, str) or not name:
        raise InvalidArgument(f"{what}: expected a name, found {shown(name)}")
    if name in taken:
        raise InvalidArgument(f"{what}: expected a name that is not taken, found {shown(name)}")


def tokenizer_of(name: object) -> Tokenizer | None:
    """The registered tokenizer of this name; None if there is none, and for those of this library."""
    if not isinstance(name, str) or name in TOKENIZERS or name in TOKENIZERS.values():
        return None
    if name not in _tokenizers:
        load_announced(TOKENIZERS_GROUP, register_tokenizer)
    return _tokenizers.get(name)


def collation_of(name: object) -> Collation | None:
    """The registered collation of this name; None if there is none, and for those of this library."""
    if not isinstance(name, str) or name in COLLATIONS or name in COLLATIONS.values():
        return None
    if name not in _collations:
        load_announced(COLLATIONS_GROUP, register_collation)
    return _collations.get(name)


def custom_terms(tokenizer: str, collation: str) -> Callable[[str], Iterable[str]] | None:
    """The function that makes the terms of a value; None if tokenizer and collation are those of this library."""
    found, form = tokenizer_of(tokenizer), collation_of(collation)
    if found is None and form is None:
        return None
    if found is not None:
        split = found.terms
    elif tokenizer == "trivial":
        split = _whole
    else:
        split = _words
    return split if form is None else lambda text: (folded_term(form, term) for term in split(text))


def _whole(text: str) -> Iterable[str]:
    return (text,)


def _words(text: str) -> Iterable[str]:
    return (word for word, _, _ in _kernels.split_words(text))


def folded_term(collation: Collation, term: str) -> str:
    """The form of a term in an index with this collation."""
    if not is_unicode(term):
        return ""
    # The kernel folds to upper case. Whatever differs in case alone is the same here, too.
    found = collation.fold(_kernels.fold(term.encode()).decode().lower())
    return found if is_unicode(found) else ""


def is_unicode(text: str) -> bool:
    """Whether a text can be stored: half a surrogate pair cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
