"""Does `make quick` ask something of every room?"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

pytestmark = pytest.mark.source

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "amudai"
ROOMS = sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))


def is_slow(mark: ast.expr) -> bool:
    """Whether an expression mentions the mark `slow`."""
    return any(isinstance(node, ast.Attribute) and node.attr == "slow" for node in ast.walk(mark))


def quick_tests(path: Path) -> list[str]:
    """The tests of a file that are not marked `slow`, neither one by one nor all together."""
    found: list[str] = []
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark" and is_slow(node.value):
            return []
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name.lower().startswith("test"):
            found += [] if any(map(is_slow, node.decorator_list)) else [node.name]
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_quick_tests(room: str) -> None:
    files = [*(TESTS / room).rglob("test_*.py"), *TESTS.glob(f"test_{room}.py")]
    assert [name for path in files for name in quick_tests(path)], f"tests/{room}: every test is slow, or there is none"


def test_slow_tests_are_told_from_quick_ones(tmp_path: Path) -> None:
    path = tmp_path / "test_some.py"
    path.write_text("@pytest.mark.slow\ndef test_a(): ...\n\n@mark.parametrize('x', [1])\ndef test_b(): ...\n")
    assert quick_tests(path) == ["test_b"]
    path.write_text("pytestmark = [pytest.mark.native, pytest.mark.slow]\n\ndef test_a(): ...\n")
    assert quick_tests(path) == []
