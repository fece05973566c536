"""Analysis of regular expressions in RE2 syntax: constructs that RE2 lacks, and texts that every match contains."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from string import ascii_letters, punctuation
from typing import Final, NamedTuple, TypeAlias

import pyarrow as pa

from amudai import _kernels
from amudai.arguments import shown
from amudai.errors import InvalidArgument, UnsupportedFeature

__all__ = ["RequiredText", "lacking", "quoted", "require_regex", "required_texts"]


class RequiredText(NamedTuple):
    """A text that is contained in everything a regular expression matches."""

    text: str
    case_sensitive: bool


# A character that must directly follow the one before it, and whether its case matters (None for characters without
# case). None instead of a character is a gap: anything may stand there.
_Character: TypeAlias = tuple[str, bool | None]
_Piece: TypeAlias = _Character | None
_GAP: Final = None

_QUOTED: Final = frozenset(punctuation) - {"_"}
_LETTERS: Final = frozenset(ascii_letters)
# When RE2 ignores case, it treats the Kelvin sign as k and the long s as s. The case folding of indexes does not.
_SAFE_IN_ANY_CASE: Final = _LETTERS - frozenset("kKsS")
_CONTROL: Final = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}

# Constructs of other engines that RE2 lacks. Errors show the names of these groups, with spaces.
_LACKING: Final = r"""
    (?P<lookahead>\(\?[=!])
  | (?P<lookbehind>\(\?<[=!])
  | (?P<atomic_groups>\(\?>)
  | (?P<conditionals>\(\?\()
  | (?P<comments>\(\?\#)
  | (?P<branch_reset>\(\?\|)
  | (?P<recursion>\(\?(?:R|[+-]?\d+|&\w+|P>\w+)\))
  | (?P<backreferences>\(\?P=\w+\) | \\(?:[1-7](?![0-7])|[89]|[kg](?=[<{'\d-])))
  | (?P<possessive_repetition>(?:[*+?]|\{\d+(?:,\d*)?\})\+)
  | (?P<this_flag>\(\?(?![imsU-]*[:)])[a-zA-Z-]+[:)])
  | (?P<this_escape>\\[F-ORT-VX-Zceg-moquy])
"""
_TOKEN: Final = (
    r"""
    \\Q(?P<verbatim>.*?)(?:\\E|\Z)
  | \\x(?:\{(?P<hex>[0-9a-fA-F]+)\}|(?P<byte>[0-9a-fA-F]{2}))
  | \\(?P<octal>0[0-7]{0,2}|[1-7][0-7]{1,2})
  | \\(?P<control>[afnrtv])
  | \\(?P<escaped>[^\w\u0080-\U0010ffff])
  | (?P<set>\[\^?\]?(?:\[:.*?:\]|\\[pP]\{[^}]*\}|\\.|[^\]\\])*+\])
  | (?P<open>\((?!\?) | \(\?P?<\w+> | \(\?(?P<flags>[imsU-]*)(?P<end>[:)]))
  | (?P<close>\))
  | (?P<alternative>\|)
  |"""
    + _LACKING
    + r"""
  | (?P<repetition>(?:[*+?]|\{(?P<least>\d+)(?:,\d*)?\})\??)
  | (?P<gap>\\[pP]\{[^}]*\} | \\[pP]. | \\. | [.^$])
  | (?P<character>.)
    """
)
_LACKING_NAMES: Final = frozenset(re.findall(r"\?P<(\w+)>", _LACKING))
# A set of a few characters, without ranges and escapes.
_PLAIN_SET: Final = re.compile(r"\[([^\]\[\\^-]{1,8})\]")


def quoted(text: str) -> str:
    """A regular expression that matches exactly this text."""
    return "".join("\\x00" if each == "\0" else f"\\{each}" if each in _QUOTED else each for each in text)


def require_regex(what: str, pattern: str) -> None:
    """Raise an error that begins with `what` if RE2 cannot parse the pattern. It names a construct that RE2 lacks."""
    import pyarrow.compute as pc  # slow to import, and rarely needed

    missing = lacking(pattern)
    if missing is not None:
        raise UnsupportedFeature(f"{what}: expected the syntax of RE2, which has no {missing}, found {pattern!r}")
    try:
        pc.match_substring_regex(pa.array([""]), pattern)
    except pa.ArrowInvalid as error:
        reason = str(error).splitlines()[0]
        raise InvalidArgument(f"{what}: expected a regular expression, found {shown(pattern)}: {reason}") from None


def lacking(pattern: str) -> str | None:
    """The first construct of a pattern that RE2 lacks, as a text such as "lookahead (?=", or None."""
    for token in _tokens().finditer(pattern):
        name = token.lastgroup or ""
        if name in _LACKING_NAMES:
            return f"{name.removeprefix('this_').replace('_', ' ')} {token[0]}"
    return None


@lru_cache(256)
def required_texts(pattern: str) -> tuple[RequiredText, ...]:
    """Texts that are contained in everything a regular expression matches. There may be more than are found here."""
    return tuple(dict.fromkeys(_texts(_pieces(pattern))))


@lru_cache(1)
def _tokens() -> re.Pattern[str]:
    return re.compile(_TOKEN, re.VERBOSE | re.DOTALL)  # not at import time: compiling takes a while


class _OpenGroup:
    """A group that is being read: its alternatives so far, and where its last operand begins."""

    def __init__(self, ignore_case: bool) -> None:
        self.branches: list[list[_Piece]] = [[]]
        self.ignore_case = ignore_case
        self.operand = 0

    def add(self, *pieces: _Piece) -> None:
        self.operand = len(self.branches[-1])
        self.branches[-1] += pieces

    def repeat(self, least: int) -> None:
        """Repeat the last operand. If it may be absent it becomes a gap, otherwise it gets a gap on both sides."""
        last = self.branches[-1]
        last[self.operand :] = [_GAP, *last[self.operand :], _GAP] if least else [_GAP]

    def pieces(self) -> list[_Piece]:
        """What all alternatives share: the only alternative, or their common beginning."""
        if len(self.branches) == 1:
            return self.branches[0]
        found: list[_Piece] = []
        for first, *others in zip(*self.branches, strict=False):
            if first is None or any(other != first for other in others):
                break
            found.append(first)
        return [*found, _GAP]


def _pieces(pattern: str) -> list[_Piece]:
    """The characters and gaps that every match consists of. The pattern must be one that RE2 can parse."""
    groups = [_OpenGroup(ignore_case=False)]
    for token in _tokens().finditer(pattern):
        group = groups[-1]
        match token.lastgroup:
            case "open":
                ignore_case = _ignores_case(token["flags"] or "", group.ignore_case)
                if token["end"] == ")":
                    group.ignore_case = ignore_case  # until the group ends
                else:
                    groups.append(_OpenGroup(ignore_case))
            case "close":
                if len(groups) > 1:
                    groups.pop()
                    groups[-1].add(*group.pieces())
            case "alternative":
                group.branches.append([])
            case "repetition":
                group.repeat(int(token["least"]) if token["least"] else int(token[0][0] == "+"))
            case "set":
                group.add(_set(token[0], group.ignore_case))
            case "gap":
                group.add(_GAP)
            case "verbatim":
                for character in token["verbatim"]:
                    group.add(_piece(character, group.ignore_case))
            case "hex" | "byte":
                code = int(token["hex"] or token["byte"], 16)
                group.add(_piece(chr(code), group.ignore_case) if code <= 0x10FFFF else _GAP)
            case "octal":
                group.add(_piece(chr(int(token["octal"], 8)), group.ignore_case))
            case "control":
                group.add(_piece(_CONTROL[token["control"]], group.ignore_case))
            case "escaped":
                group.add(_piece(token["escaped"], group.ignore_case))
            case "character":
                group.add(_piece(token[0], group.ignore_case))
            case _:
                return []  # RE2 refuses this pattern
    return groups[0].pieces() if len(groups) == 1 else []


def _ignores_case(flags: str, ignore_case: bool) -> bool:
    on, _, off = flags.partition("-")
    return ("i" in on or ignore_case) and "i" not in off


def _piece(character: str, ignore_case: bool) -> _Piece:
    if character.isascii() and character not in _LETTERS:
        return character, None
    if not ignore_case:
        return character, True
    return (character, False) if character in _SAFE_IN_ANY_CASE else _GAP


def _set(text: str, ignore_case: bool) -> _Piece:
    """The character of a set that has only one, or only its upper and lower case. Other sets are gaps."""
    found = _PLAIN_SET.fullmatch(text)
    if found is None:
        return _GAP
    characters = found[1]
    if len(characters) == 1:
        return _piece(characters, ignore_case)
    is_one = not ignore_case and len({_kernels.fold(each.encode()) for each in characters}) == 1
    return (characters[0], False) if is_one else _GAP


def _texts(pieces: list[_Piece]) -> Iterator[RequiredText]:
    """The texts between gaps. They are split where case-sensitive characters meet case-insensitive ones."""
    text, case = "", None
    for piece in [*pieces, _GAP]:
        if piece is not None and (case is None or piece[1] in (None, case)):
            text, case = text + piece[0], case if piece[1] is None else piece[1]
            continue
        if text:
            yield RequiredText(text, case is not False)
        text, case = ("", None) if piece is None else piece
