"""Programs of the native matcher, compiled from templates."""

from __future__ import annotations

import string
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
import numpy.typing as npt

from amudai.sources.logs.template import Group, LiteralText, Named, Node, Op, Run, Step, TemplateField, parsed

__all__ = ["Program", "compiled"]

_WHOLE: Final[dict[tuple[Node, ...], int]] = {
    parsed("%Y%m%d"): Op.DATE,
    parsed("%H%M%S"): Op.CLOCK,
}
_DIGITS: Final = frozenset(string.digits.encode())
_LETTERS: Final = frozenset(string.ascii_letters.encode())
# What a step must begin with.
_FIRST: Final = {
    **dict.fromkeys((Op.NUMBER, Op.FRACTION, Op.EPOCH, Op.DATE, Op.CLOCK), _DIGITS),
    **dict.fromkeys((Op.MONTH_NAME, Op.HALF_DAY, Op.WORD), _LETTERS),
    Op.ZONE: frozenset(b"ZzUG+-"),
}
# What the name of a zone can begin with, besides.
_FIRST_OF_NAMES: Final = _FIRST[Op.ZONE] | frozenset(string.ascii_uppercase.encode())
# Those that are also ordinary words of messages are levels in capitals alone.
_LEVELS: Final = (
    "trace debug verbose FINE FINER FINEST CONFIG info information informational notice LOG success warn warning err "
    "error severe crit critical fatal alert emerg emergency panic "
    "vrb trc dbg inf wrn ftl"
)


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """What `_kernels.match_lines` runs.

    Attributes
    ----------
    fields
        The fields, in the order of the rows that the matcher returns.
    """

    steps: npt.NDArray[np.int32]
    classes: npt.NDArray[np.uint8]
    literals: npt.NDArray[np.uint8]
    fields: tuple[TemplateField, ...]


def _always_fits(node: Node) -> bool:
    if isinstance(node, Run):
        return node.least == 0
    if isinstance(node, Named):
        return all(map(_always_fits, node.nodes))
    if isinstance(node, Group):
        return node.optional or any(all(map(_always_fits, nodes)) for nodes in node.alternatives)
    return isinstance(node, Step) and node.op == Op.REST


def _fused(nodes: tuple[Node, ...]) -> Iterator[Node]:
    """The nodes, with one step for three numbers of a date or of a clock."""
    at = 0
    while at < len(nodes):
        op = _WHOLE.get(nodes[at : at + 5 : 2])
        between = [node.value for node in nodes[at + 1 : at + 4 : 2] if isinstance(node, LiteralText)]
        if op is not None and list(map(len, between)) == [1, 1]:
            yield Step(op, between[0][0], between[1][0])
            at += 5
        else:
            yield nodes[at]
            at += 1


class _Compiler:
    """Makes steps of nodes."""

    def __init__(self, wanted: frozenset[str] | None) -> None:
        self._wanted = wanted
        self._steps: list[list[int]] = []
        self._classes: dict[frozenset[int], int] = {}
        self._literals = bytearray()
        self._fields: dict[TemplateField, int] = {}
        self._open_find: int | None = None

    def program(self, nodes: tuple[Node, ...]) -> Program:
        while nodes and self._is_needless(nodes[-1]):
            nodes = nodes[:-1]
        self._sequence(nodes)
        self._add(Op.END)
        tables = np.zeros((len(self._classes), 256), np.uint8)
        for members, number in self._classes.items():
            tables[number, sorted(members)] = 1
        return Program(
            np.array(self._steps, np.int32).reshape(-1),
            tables.reshape(-1),
            np.frombuffer(bytes(self._literals), np.uint8),
            tuple(self._fields),
        )

    def _is_needless(self, node: Node) -> bool:
        """Whether a node at the end can be left out: it fits every line, and no one asked for what it finds."""
        return _always_fits(node) and not self._finds(node)

    def _finds(self, node: Node) -> bool:
        """Whether there is a time or a wanted field in a node."""
        if isinstance(node, Group):
            return any(self._finds(each) for nodes in node.alternatives for each in nodes)
        if isinstance(node, Named):
            return self._is_wanted(node.field) or any(map(self._finds, node.nodes))
        return isinstance(node, Step) and Op.NUMBER <= node.op <= Op.HALF_DAY

    def _is_wanted(self, field: TemplateField) -> bool:
        return self._wanted is None or field.name in self._wanted

    def _add(self, op: int, x: int = 0, y: int = 0, z: int = 0) -> int:
        if self._open_find is not None and op not in (Op.CLOSE, Op.LITERAL):
            raise ValueError("template: expected a text after .*?")
        self._steps.append([op, x, y, z])
        return len(self._steps) - 1

    def _sequence(self, nodes: tuple[Node, ...]) -> None:
        for node in _fused(nodes):
            if isinstance(node, LiteralText):
                self._literal(Op.LITERAL, node.value)
            elif isinstance(node, Run):
                self._add(Op.RUN, self._class(node.members), node.least, node.most)
            elif isinstance(node, Group):
                self._group(node)
            elif isinstance(node, Named):
                self._named(node)
            elif node.op == Op.WORD:
                self._literal(Op.WORD, "".join(f" {word}" for word in _LEVELS.split()).encode())
            else:
                step = self._add(node.op, node.x, node.least, node.most)
                self._open_find = step if node.op == Op.FIND else None

    def _literal(self, op: int, text: bytes) -> None:
        first = self._literals.find(text)
        if first < 0:
            first = len(self._literals)
            self._literals += text
        self._add(op, first, len(text))
        if self._open_find is not None:
            self._steps[self._open_find][1:3] = [first, len(text)]
            self._open_find = None

    def _named(self, node: Named) -> None:
        if not self._is_wanted(node.field):
            self._sequence(node.nodes)
            return
        number = self._fields.setdefault(node.field, len(self._fields))
        self._add(Op.OPEN, number)
        self._sequence(node.nodes)
        self._add(Op.CLOSE, number)

    def _group(self, group: Group) -> None:
        alternatives = [*group.alternatives, *([()] if group.optional else [])]
        commits = []
        for nodes in alternatives[:-1]:
            choice = self._add(Op.CHOICE)
            self._sequence(nodes)
            commits.append(self._add(Op.COMMIT))
            self._steps[choice][1:] = [len(self._steps), *self._guard(choice + 1)]
        self._sequence(alternatives[-1])
        for commit in commits:
            self._steps[commit][1] = len(self._steps)

    def _guard(self, step: int) -> tuple[int, int]:
        """The byte or the class that the steps from here on begin with, as a choice names them."""
        while self._steps[step][0] == Op.OPEN:
            step += 1
        op, x, least, _ = self._steps[step]
        if op == Op.ZONE and x > 0:
            return 0, self._class(_FIRST_OF_NAMES) + 1
        if op == Op.LITERAL:
            return self._literals[x] + 1, 0
        if op == Op.RUN:
            return (0, x + 1) if least > 0 else (0, 0)
        first = _FIRST.get(op)
        return (0, 0) if first is None else (0, self._class(first) + 1)

    def _class(self, members: frozenset[int]) -> int:
        """The number of a class."""
        return self._classes.setdefault(members, len(self._classes))


@lru_cache(maxsize=1024)
def compiled(template: str, wanted: frozenset[str] | None = None) -> Program:
    """The program of a template. Only the `wanted` fields are found; all if None."""
    return _Compiler(wanted).program(parsed(template))
