r"""Translation of regular expressions from the syntax of Rust, which Polars uses, to the syntax of RE2.

The same pattern can mean different things: in Rust `\d`, `\w` and `\s` cover all of Unicode, in RE2 only ASCII; in Rust
`[a-z&&[^b]]` is an intersection of sets, and `\<` a word boundary. So every part is translated. A part that RE2 cannot
express raises an error that names it. Character classes are those of RE2's version of Unicode.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NoReturn

from amudai.arguments import shown
from amudai.errors import InvalidArgument, UnsupportedFeature
from amudai.predicate.regex import lacking, quoted, require_regex

__all__ = ["rust_to_re2"]

# Rust's classes as members of a set. The ranges are circled letters: alphabetic, but neither letters nor marks.
_DIGIT: Final = r"\p{Nd}"
_WORD: Final = (
    r"\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200C}\x{200D}"
    r"\x{24B6}-\x{24E9}\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189}"
)
_SPACE: Final = r"\t-\r \x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}"
_NO_SPACE: Final = (
    r"\x{0}-\x{8}\x{E}-\x{1F}\x{21}-\x{84}\x{86}-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF}\x{200B}-\x{2027}"
    r"\x{202A}-\x{202E}\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{10FFFF}"
)
_CLASSES: Final = {"d": f"[{_DIGIT}]", "w": f"[{_WORD}]", "s": f"[{_SPACE}]"}
_CLASSES.update({name.upper(): f"[^{text[1:]}" for name, text in list(_CLASSES.items())})
_MEMBERS: Final = {"d": _DIGIT, "D": r"\P{Nd}", "w": _WORD, "s": _SPACE, "S": _NO_SPACE}
_ANY: Final = r"\x{0}-\x{10FFFF}"
_CONTROL: Final = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}

_MIRRORED: Final = {"open": "close", "close": "open"}

_CHARACTER: Final = r"""
    \\[xuU]\{(?P<braced>[0-9A-Fa-f]+)\}
  | \\(?:x(?P<two>[0-9A-Fa-f]{2})|u(?P<four>[0-9A-Fa-f]{4})|U(?P<eight>[0-9A-Fa-f]{8}))
  | \\(?P<control>[afnrtv])
  | \\(?P<escaped>[^\w<>\u0080-\U0010ffff]|_)
"""
_CLASS: Final = r"""
  | \\(?P<class>[dDsSwW])
  | (?P<property>\\[pP](?:\{[^}]*\}|[A-Z]))
"""
_TOKEN: Final = (
    _CHARACTER
    + _CLASS
    + r"""
  | (?P<boundary>\\b(?!\{))
  | (?P<set>\[\^?)
  | (?P<repetition>(?:[*+?]|\{\d+(?:,\d*)?\})\??(?![*+?]|\{\d))
  | (?P<named>\(\?P?<[A-Za-z_]\w*>)
  | (?P<flags>\(\?[imsU-]+\))
  | (?P<open>\((?!\?) | \(\?[imsU-]*:)
  | (?P<close>\))
  | (?P<alternative>\|)
  | (?P<same>\\[Az] | [.^$])
  | (?P<odd>\\.?[^\w\s]? | \(\?.{0,2} | [*+?](?:[*+?]|\{[^}]*\})* | \{[^}]*\}?)
  | (?P<character>[^\\*+?{(\[])
    """
)
_MEMBER: Final = (
    _CHARACTER
    + _CLASS
    + r"""
  | (?P<posix>\[:\^?[a-z]+:\])
  | (?P<odd>&& | -- | ~~ | \[ | \\.?)
  | (?P<character>.)
    """
)


def rust_to_re2(what: str, pattern: str) -> str:
    """The regular expression of RE2 that matches the same texts. Errors begin with `what`."""
    found = _Translation(what, pattern).whole()
    require_regex(what, found)
    return found


@lru_cache(2)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.VERBOSE | re.DOTALL)  # not at import time: compiling takes a while


class _Translation:
    def __init__(self, what: str, pattern: str) -> None:
        self._what = what
        self._pattern = pattern
        self._at = 0

    def whole(self) -> str:
        # Each part with its kind. The kind is "word" for a character or class that is always part of a word.
        parts: list[tuple[str, str]] = []
        while self._at < len(self._pattern):
            token = _compiled(_TOKEN).match(self._pattern, self._at)
            assert token is not None
            self._at = token.end()
            parts.append(self._part(token))
        return "".join(text for _, text in self._with_boundaries(parts))

    def _part(self, token: re.Match[str]) -> tuple[str, str]:
        match token.lastgroup:
            case "class":
                name = token["class"]
                return "word" if name in "dw" else "other", _CLASSES[name]
            case "property":
                self._require_property(token[0])
                return "other", token[0]
            case "set":
                return "other", self._set(negated=token[0] == "[^")
            case "named":
                return "open", "("
            case "repetition":
                return "optional" if token[0][0] in "*?" or token[0].startswith("{0") else "repeated", token[0]
            case "boundary" | "same" | "flags" | "open" | "close" | "alternative" as kind:
                return kind, token[0]
            case "odd":
                self._refuse(token[0] if token[0][0] in "*+?{" else lacking(token[0]) or token[0])
        character = self._character(token)
        is_word = character == "_" or character.isalpha() or character.isdecimal()
        return "word" if is_word else "other", quoted(character)

    def _set(self, *, negated: bool) -> str:
        """Translate a set, up to its closing bracket. Ranges are parsed here, so that a dash has one meaning only."""
        found: list[str] = []
        classes: set[str] = set()
        is_first = True
        while is_first or not self._pattern.startswith("]", self._at):
            is_first = False
            token = self._member()
            if token.lastgroup == "class":
                classes.add(token["class"])
                found.append(_MEMBERS.get(token["class"], ""))
            elif token.lastgroup in ("posix", "property"):
                if token.lastgroup == "property":
                    self._require_property(token[0])
                found.append(token[0])
            else:
                found.append(self._range(token))
        self._at += 1
        if "W" in classes:
            if "w" not in classes:
                self._refuse(r"[\W]")
            found = [_ANY]
        return f"[{'^' if negated else ''}{''.join(found)}]"

    def _member(self) -> re.Match[str]:
        token = _compiled(_MEMBER).match(self._pattern, self._at)
        if token is None:
            raise InvalidArgument(f"{self._what}: expected a closing ], found {shown(self._pattern)}")
        if token.lastgroup == "odd":
            self._refuse(f"{token[0]} in a set")
        self._at = token.end()
        return token

    def _range(self, first: re.Match[str]) -> str:
        low = _in_set(self._character(first))
        is_range = self._pattern.startswith("-", self._at) and self._pattern[self._at + 1 : self._at + 2] not in "-]"
        if not is_range:
            return low
        self._at += 1
        last = self._member()
        if last.lastgroup in ("class", "posix", "property"):
            self._refuse(f"-{last[0]} in a set")
        return f"{low}-{_in_set(self._character(last))}"

    def _character(self, token: re.Match[str]) -> str:
        code = token["braced"] or token["two"] or token["four"] or token["eight"]
        if code is not None:
            number = int(code, 16)
            if number > 0x10FFFF or 0xD800 <= number < 0xE000:
                raise InvalidArgument(f"{self._what}: expected the code of a character, found {shown(token[0])}")
            return chr(number)
        if token["control"] is not None:
            return _CONTROL[token["control"]]
        return token["escaped"] or token["character"]

    def _with_boundaries(self, parts: list[tuple[str, str]]) -> list[tuple[str, str]]:
        r"""Replace a `\b` at the start or end of the pattern, beside a word, by "no word character here".

        The `\b` of RE2 knows only ASCII. A `\b` anywhere else has no equivalent and raises an error.
        """
        if not any(kind == "boundary" for kind, _ in parts):
            return parts
        found = list(parts)
        kinds, places = _operands([kind for kind, _ in parts])
        if kinds[0] == "boundary" and _begins_with_word(kinds[1:]):
            found[places[0]] = ("other", rf"(?:\A|[^{_WORD}])")
        mirrored = [_MIRRORED.get(kind, kind) for kind in reversed(kinds)]
        if mirrored[0] == "boundary" and _begins_with_word(mirrored[1:]):
            found[places[-1]] = ("other", rf"(?:\z|[^{_WORD}])")
        if any(kind == "boundary" for kind, _ in found):
            self._refuse(r"\b (only beside a word, at the start or end of the pattern)")
        return found

    def _require_property(self, text: str) -> None:
        if text[2:].strip("{}") == "C":
            self._refuse(text)  # in Rust it includes unassigned codes, in RE2 it does not
        try:
            require_regex(self._what, text)
        except InvalidArgument:
            self._refuse(text)

    def _refuse(self, construct: str) -> NoReturn:
        raise UnsupportedFeature(
            f"{self._what}: expected a regular expression that RE2 can express, found {construct} in {self._pattern!r}"
        )


def _in_set(character: str) -> str:
    return character if character.isalnum() else rf"\x{{{ord(character):X}}}"


def _operands(kinds: list[str]) -> tuple[list[str], list[int]]:
    """The kinds without flags and repetitions, and their places. An operand that may be absent has the kind `other`."""
    found: list[str] = []
    places: list[int] = []
    opened: list[int] = []
    first = 0  # where the last operand begins
    for place, kind in enumerate(kinds):
        if kind == "optional":
            found[first:] = ["other"] * (len(found) - first)
        if kind in ("optional", "repeated", "flags"):
            continue
        if kind == "open":
            opened.append(len(found))
        first = opened.pop() if kind == "close" and opened else len(found)
        found.append(kind)
        places.append(place)
    return found, places


def _begins_with_word(kinds: list[str]) -> bool:
    """Whether the first operand begins with a word character; for a group, whether all its alternatives do."""
    if kinds[:1] != ["open"]:
        return kinds[:1] == ["word"]
    depth = 0
    starts = [1]
    for place, kind in enumerate(kinds):
        depth += (kind == "open") - (kind == "close")
        if not depth:
            break
        if kind == "alternative" and depth == 1:
            starts.append(place + 1)
    return all(_begins_with_word(kinds[start:]) for start in starts)
