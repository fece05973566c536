"""Is the house in order? Rooms, their doors, stubs, docstrings, native arguments, catalogs."""

from __future__ import annotations

import ast
import inspect
import pickle
import re
from collections.abc import Iterator
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import amudai
from amudai import _kernels
from amudai.encoding import BINARY, NUMERIC
from tests.encoding.runs import Block, Opened
from tests.kernel_modules import KERNELS
from tests.oracle import block
from tests.oracle.binary import plain as binary_plain
from tests.oracle.numeric import plain

pytestmark = pytest.mark.source

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "amudai"

# A room may import the rooms of the lines above its own, and itself.
ORDER = [
    {"errors", "frozen", "lazy"},
    {"arguments", "pool"},
    {"collection", "limits", "threads"},
    {"types"},
    {"storage"},
    {"rows"},
    {"format"},
    {"encoding"},
    {"stats"},
    {"column"},
    {"shard"},
    {"arrow"},
    {"edit"},
    {"index"},
    {"sources"},
    {"exports"},
    {"predicate"},
    {"plan"},
    {"scan"},
    {"inspect"},
    {"datasets"},
    {"api"},
    {"testing"},
    {"interop"},
    {"spark"},
    {"asking"},
    {"web"},
    {"cli"},
]
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}
KERNEL_ROOMS = {"types", "rows", "format", "encoding", "stats", "column", "index"}
KERNEL_ROOMS |= {"exports", "sources", "predicate", "plan", "scan"}


# ---- rooms ----


def rooms() -> list[str]:
    """The rooms that are built."""
    folders = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    modules = {path.stem for path in SOURCE.glob("*.py")} - {"__init__", "__main__", "_kernels"}
    return sorted(folders | modules)


def modules_of(room: str) -> list[Path]:
    single = SOURCE / f"{room}.py"
    return [single] if single.is_file() else sorted((SOURCE / room).rglob("*.py"))


def imported_rooms(path: Path) -> Iterator[tuple[int, str]]:
    """Line and room of every import of our own, those for type checkers and those inside functions included."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import hides the room"
            parts = (node.module or "").split(".")
            if parts == ["amudai"]:
                yield from ((node.lineno, name.name) for name in node.names)
            elif parts[0] == "amudai":
                yield node.lineno, parts[1]
        elif isinstance(node, ast.Import):
            for name in node.names:
                parts = name.name.split(".")
                if parts[0] == "amudai":
                    assert len(parts) > 1, f"{path}:{node.lineno}: a room imports the whole house"
                    yield node.lineno, parts[1]


def test_every_room_has_its_place_in_the_order() -> None:
    assert set(rooms()) <= set(LEVEL)


# Programs like any other, which know nothing but the public face, and the programs above them in the order.
OUTSIDE = {"asking", "cli", "web"}


@pytest.mark.parametrize("room", [room for room in rooms() if room not in OUTSIDE])
def test_rooms_import_only_rooms_below_them(room: str) -> None:
    for path in modules_of(room):
        for line, other in imported_rooms(path):
            place = f"{path.relative_to(ROOT)}:{line}: {room} imports {other}"
            if other.startswith("_kernels"):
                assert room in KERNEL_ROOMS, place
            elif other != room:
                assert other in LEVEL, place
                assert LEVEL[other] < LEVEL[room], place


def private_uses(source: str, room: str) -> Iterator[str]:
    """Uses of private names of the library in a program: line and text."""
    known = {room, "lazy", *(other for other in OUTSIDE if LEVEL[other] < LEVEL[room])}
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ImportFrom(module="amudai", names=names):
                found = [name.name for name in names if name.name not in amudai.__all__]
            case ast.ImportFrom(module=str(module)) if module.startswith("amudai."):
                found = [module] if module.split(".")[1] not in known else []
            case ast.Import(names=names):
                found = [name.name for name in names if name.name.startswith("amudai.")]
            case ast.Attribute(value=ast.Name(id="amudai"), attr=name):
                found = [f"amudai.{name}"] if name not in amudai.__all__ else []
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                found = []
            case ast.Attribute(attr=name) if name.startswith("_") and not name.startswith("__"):
                found = [f".{name}"]
            case _:
                found = []
        yield from (f"{node.lineno}: {each}" for each in found)  # type: ignore[attr-defined]


@pytest.mark.parametrize("room", sorted(OUTSIDE & set(rooms())))
def test_programs_use_public_names_only(room: str) -> None:
    for path in modules_of(room):
        assert list(private_uses(path.read_text("utf-8"), room)) == [], path.relative_to(ROOT)


@pytest.mark.parametrize(
    "source",
    [
        "from amudai.api import Shard",
        "from amudai import errors",
        "import amudai.api",
        "import amudai\n\namudai.api.Shard",
        "def f(shard):\n    return shard._reader",
    ],
)
def test_private_uses_are_noticed(source: str) -> None:
    assert len(list(private_uses(source, "cli"))) == 1


def test_the_front_door_opens_to_api_interop_and_errors_alone() -> None:
    assert {room for _, room in imported_rooms(SOURCE / "__init__.py")} == {"api", "errors", "interop", "lazy"}
    assert {room for _, room in imported_rooms(SOURCE / "_kernels.py")} == {"_processor"}
    assert {room for _, room in imported_rooms(SOURCE / "__main__.py")} == {"cli"}


# ---- doors ----
#
# The door of a room is its package. A module of another room imports `amudai.index` and takes names from its `__all__`:
# it imports no module inside, and no sub-package, which has no door of its own. No private name crosses a wall. The
# modules that are rooms themselves (`amudai.errors`, `amudai.lazy`) and `amudai._kernels` are doors too.


def packages() -> list[str]:
    """Every package of ours, by its folder; "" is `amudai` itself."""
    folders = (path.parent.relative_to(SOURCE) for path in SOURCE.rglob("__init__.py"))
    return sorted("" if folder == Path() else folder.as_posix() for folder in folders)


def name_of(package: str) -> str:
    return ".".join(["amudai", *package.split("/")]) if package else "amudai"


def names_offered(module: str) -> set[str]:
    found = import_module(module)
    return set(getattr(found, "__all__", ()))


def wrong_doors(path: Path, room: str) -> Iterator[str]:
    """Imports of other rooms that go around their doors."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        place = f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.Import):
            deep = [each.name for each in node.names if each.name.startswith("amudai.") and each.name.count(".") > 1]
            yield from (f"{place}: import {name}" for name in deep if name.split(".")[1] != room)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("amudai."):
            parts = (node.module or "").split(".")
            if parts[1] in (room, "_kernels"):
                continue
            if len(parts) > 2:
                yield f"{place}: from {node.module} import ..."
            else:
                missing = {each.name for each in node.names} - names_offered(f"amudai.{parts[1]}")
                yield from (f"{place}: amudai.{parts[1]} does not offer {name}" for name in sorted(missing))


def private_names(room: str) -> set[str]:
    """The private attributes, functions and classes that a room defines."""
    found = set()
    for path in modules_of(room):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    found.add(name)
                case ast.Name(id=name, ctx=ast.Store()):
                    found.add(name)
                case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=name, ctx=ast.Store()):
                    found.add(name)
                case ast.Assign(targets=[ast.Name(id="__slots__")], value=ast.Tuple(elts=slots)):
                    found.update(slot.value for slot in slots if isinstance(slot, ast.Constant))
    return {name for name in found if isinstance(name, str) and name.startswith("_")}


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


@pytest.mark.parametrize("room", rooms())
def test_rooms_are_entered_by_their_doors(room: str) -> None:
    assert [wrong for path in modules_of(room) for wrong in wrong_doors(path, room)] == []


@pytest.mark.parametrize("room", rooms())
def test_no_private_name_crosses_a_wall(room: str) -> None:
    own = private_names(room)
    for path in modules_of(room):
        if "wire" in path.parts:
            continue  # generated
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[:2] != ["amudai", room]:
                taken = [each.name for each in node.names if is_private(each.name) and each.name != "_kernels"]
                assert taken == [], f"{path.relative_to(ROOT)}:{node.lineno}"
            elif isinstance(node, ast.Attribute) and is_private(node.attr):
                assert node.attr in own, f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}"


def lazy_table(package: str) -> dict[str, set[str]] | None:
    """The table that the package's `__init__` gives to `lazy_names`; None where it gives none."""
    tree = ast.parse((SOURCE / package / "__init__.py").read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "lazy_names":
            assert ast.unparse(node.args[0]) == "__name__"
            return {home: set(names.split()) for home, names in ast.literal_eval(node.args[1]).items()}
    return None


@pytest.mark.parametrize("package", packages())
def test_packages_import_nothing_of_their_own(package: str) -> None:
    body = ast.parse((SOURCE / package / "__init__.py").read_text("utf-8")).body
    imports = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    ours = [ast.unparse(node) for node in imports if "amudai" in ast.unparse(node)]
    assert ours in ([], ["from amudai.lazy import lazy_names"])


@pytest.mark.parametrize("package", packages())
def test_names_of_a_package_are_listed_three_times_alike(package: str) -> None:
    """For Python the table, for type checkers imports, for `import *` a list."""
    table = lazy_table(package)
    if table is None:
        return
    body = ast.parse((SOURCE / package / "__init__.py").read_text("utf-8")).body
    checked = next(node for node in body if isinstance(node, ast.If))
    assert ast.unparse(checked.test) == "TYPE_CHECKING"
    imports = {
        node.module: {each.name for each in node.names} for node in checked.body if isinstance(node, ast.ImportFrom)
    }
    assert imports == table
    listed = import_module(name_of(package)).__all__
    assert len(listed) == len(set(listed))
    assert set(listed) == {name for names in table.values() for name in names}


@pytest.mark.parametrize("package", packages())
def test_no_module_is_named_like_a_name_of_its_package(package: str) -> None:
    """The import of the module would put it in the name's place."""
    table = lazy_table(package) or {}
    folder = SOURCE / package
    modules = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
    offered = {name for home, names in table.items() if home != name_of(package) for name in names}
    assert modules & offered == set()


@pytest.mark.parametrize("package", packages())
def test_every_name_of_a_package_is_found(package: str) -> None:
    module = import_module(name_of(package))
    for name in names_offered(name_of(package)):
        assert getattr(module, name) is vars(module)[name]  # from then on without being looked for
        assert name in dir(module)
    if lazy_table(package) is not None:
        with pytest.raises(AttributeError, match=f"^module '{module.__name__}' has no attribute 'nothing'$"):
            _ = module.nothing


def test_everything_of_a_package_can_be_imported_at_once() -> None:
    found: dict[str, Any] = {}
    exec("from amudai.types import *", found)
    assert set(import_module("amudai.types").__all__) <= set(found)


def test_what_a_package_offers_is_pickled_by_its_own_name() -> None:
    for value in (amudai.open, amudai.Shard, amudai.TermIndex, amudai.CorruptedData):
        assert pickle.loads(pickle.dumps(value)) is value


# ---- names ----


def types_named(path: Path) -> Iterator[tuple[str, str]]:
    """The name of each type that a module defines, and its meaning: where a class is, what an alias stands for."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        match node:
            case ast.ClassDef(name=name):
                yield name, f"{path.relative_to(ROOT)}:{node.lineno}"
            case ast.AnnAssign(
                target=ast.Name(id=name), annotation=ast.Name(id="TypeAlias"), value=ast.expr() as value
            ):
                yield name, ast.unparse(value).replace("npt.", "")


def ambiguous_types(modules: list[Path]) -> dict[str, set[str]]:
    """Names that mean several types, a leading underscore aside. Aliases of one type may repeat."""
    meanings: dict[str, set[str]] = {}
    for path in modules:
        for name, value in types_named(path):
            meanings.setdefault(name.lstrip("_"), set()).add(value)
    return {name: values for name, values in meanings.items() if len(values) > 1}


def test_the_name_of_a_type_has_one_meaning() -> None:
    modules = [path for path in SOURCE.rglob("*.py") if "wire" not in path.parts]  # those are generated
    assert ambiguous_types(modules) == {}


def test_names_with_two_meanings_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.test_house.ROOT", tmp_path)
    first, second = tmp_path / "a.py", tmp_path / "b.py"
    first.write_text(
        "class Field: ...\nclass Own: ...\nBits: TypeAlias = npt.NDArray[np.bool_]\nOther: TypeAlias = int"
    )
    second.write_text("class _Field: ...\nBits: TypeAlias = NDArray[np.bool_]\nOther: TypeAlias = str")
    assert ambiguous_types([first, second]) == {"Field": {"a.py:1", "b.py:1"}, "Other": {"int", "str"}}


# ---- docstrings ----


@pytest.mark.parametrize("room", rooms())
def test_a_room_answers_a_question(room: str) -> None:
    path = modules_of(room)[0]
    docstring = ast.get_docstring(ast.parse(path.read_text("utf-8")))
    assert docstring is not None
    assert docstring.splitlines()[0].endswith("?"), f"{path.relative_to(ROOT)}: {docstring.splitlines()[0]}"


@pytest.mark.parametrize("room", rooms())
def test_a_module_says_what_is_in_it(room: str) -> None:
    for path in modules_of(room):
        if "wire" in path.parts:
            continue  # generated
        assert ast.get_docstring(ast.parse(path.read_text("utf-8"))), path


def test_no_plans_are_left_in_the_code() -> None:
    words = re.compile(r"\b(TODO|FIXME|XXX)\b")
    for folder in ("src", "cpp"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".pyi", ".hpp", ".cpp"):
                found = words.search(path.read_text("utf-8"))
                assert found is None, f"{path.relative_to(ROOT)}: {found and found.group()}"


# ---- the changelog ----

KINDS_OF_CHANGES = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
SHAPES = {"## [": "version", "### ": "kind", "#### ": "topic", "- ": "item", "  ": "more", "": "gap"}
MAY_FOLLOW = {"kind": {"gap"}, "topic": {"gap"}, "item": {"gap", "item", "more"}, "more": {"item", "more"}}


def misplaced_lines(changelog: str) -> Iterator[str]:
    """The lines of versions that are not as https://keepachangelog.com has them, with topics below kinds of changes."""
    lines = changelog[changelog.index("## [") :].splitlines()
    before, kinds = "gap", set[str]()
    for line in lines:
        shape = next((shape for begin, shape in SHAPES.items() if line.startswith(begin) and (begin or not line)), "")
        kind = line.removeprefix("### ")
        if shape == "version":
            kinds.clear()
        if shape == "kind" and (kind not in KINDS_OF_CHANGES or kind in kinds):
            yield line
        if shape == "kind":
            kinds.add(kind)
        if not shape or before not in MAY_FOLLOW.get(shape, {before}):
            yield line
        before = "item" if shape == "more" else shape


def test_the_changelog_has_the_form_of_keepachangelog() -> None:
    assert list(misplaced_lines((ROOT / "CHANGELOG.md").read_text("utf-8"))) == []


@pytest.mark.parametrize(
    "wrong",
    ["Reading\n", "### New\n", "### Added\n", "- a\n- b\n#### Topic\n", "#### Topic\n- a\n", "  more\n", "* a\n"],
)
def test_loose_lines_of_a_changelog_are_noticed(wrong: str) -> None:
    sound = "# Changelog\n\n## [Unreleased]\n\n### Added\n\n#### Topic\n\n- a\n  more\n- b\n\n### Fixed\n\n"
    assert list(misplaced_lines(sound + "- a\n")) == []
    assert len(list(misplaced_lines(sound + wrong))) == 1


# ---- the public face ----


@pytest.mark.parametrize("name", amudai.__all__)
def test_public_names_are_explained(name: str) -> None:
    value = getattr(amudai, name)
    docstring = inspect.getdoc(value)
    assert docstring
    if not (inspect.isclass(value) and issubclass(value, Exception)):
        assert ">>>" in docstring, f"{name} has no example"
    if inspect.isclass(value):
        assert value.__doc__ is not None
        for member, attribute in vars(value).items():
            if not member.startswith("_") and (inspect.isfunction(attribute) or isinstance(attribute, property)):
                assert inspect.getdoc(attribute), f"{name}.{member} has no docstring"


def test_all_lists_what_there_is() -> None:
    assert amudai.__all__ == sorted(amudai.__all__)
    assert {name for name in dir(amudai) if not name.startswith("_")} == set(amudai.__all__)
    assert "__version__" in dir(amudai)


# ---- the native border ----


def test_stubs_are_those_of_the_module() -> None:
    pytest.importorskip("nanobind")
    spec = spec_from_file_location("stubs", ROOT / "tools" / "stubs.py")
    assert spec is not None
    assert spec.loader is not None
    tool = module_from_spec(spec)
    spec.loader.exec_module(tool)
    assert tool.TARGET == SOURCE / "_kernels.pyi"
    assert tool.stubs() == tool.TARGET.read_text("utf-8")


@pytest.mark.parametrize("kernels", KERNELS, ids=lambda kernels: kernels.__name__)
def test_catalogs_agree_with_the_kernels(kernels: Any) -> None:
    assert kernels.numeric_encodings() == {encoding.code: encoding.name for encoding in NUMERIC}
    assert kernels.binary_encodings() == {encoding.code: encoding.name for encoding in BINARY}


def test_the_kernels_of_this_machine_are_one_of_the_modules() -> None:
    assert _kernels.Blocks in [kernels.Blocks for kernels in KERNELS]
    names = {name for name in dir(KERNELS[0]) if not name.startswith("_")}
    assert all({name for name in dir(kernels) if not name.startswith("_")} == names for kernels in KERNELS)


def strided(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.repeat(array, 2)[::2]


def narrower(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array.astype(np.int8 if array.dtype.itemsize > 1 else np.int16)


def frozen(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    array = array.copy()
    array.flags.writeable = False
    return array


def swapped(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array.astype(array.dtype.newbyteorder(">")) if array.dtype.itemsize > 1 else array.astype("c8")


def two_dimensional(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array.reshape(1, -1)


def u1(*values: int) -> np.ndarray[Any, Any]:
    return np.array(values, np.uint8)


def u4(*values: int) -> np.ndarray[Any, Any]:
    return np.array(values, np.uint32)


def u8(*values: int) -> np.ndarray[Any, Any]:
    return np.array(values, np.uint64)


def i8(*values: int) -> np.ndarray[Any, Any]:
    return np.array(values, np.int64)


def calls(kernels: Any) -> list[tuple[str, list[Any], set[int], set[int]]]:
    """Calls that work: name, arguments, which of these are arrays of one type, and which are written to."""
    numbers = Opened(kernels, [Block(block.build(b"", plain.encode([1, 2], "u1")), 2)]).blocks
    longs = Opened(kernels, [Block(block.build(b"", plain.encode([1, 2], "u8")), 2)]).blocks
    doubles = Opened(kernels, [Block(block.build(b"", plain.encode([1, 2], "f8")), 2)]).blocks
    strings = Opened(kernels, [Block(block.build(b"", binary_plain.encode([b"a", b"b"])), 2)]).blocks
    fixed = Opened(kernels, [Block(block.build(b"", binary_plain.encode([b"a", b"b"], 1)), 2)]).blocks
    where = [u4(0), u4(0), u4(2)]
    offsets = np.array([0, 1, 2], np.int32)
    out = np.zeros(9, np.uint8)
    column = kernels.TextColumn.integers(i8(1, 2), None, 0)
    record = [np.frombuffer(b"{}{}", np.uint8), np.array([0, 2]), np.array([2, 4])]
    return [
        ("json_cut", [record[0], 0, (0, 0, 0)], {0}, set()),
        ("json_kinds", [*record, False, False, 9], {0, 1, 2}, set()),
        ("json_columns", [*record, [(11, "", 0)], False], {0, 1, 2}, set()),
        ("decode_numbers", [doubles, *where, np.zeros(4, np.float64), out, 0], {1, 2, 3, 5}, {4, 5}),
        ("decode_bits", [numbers, *where, out, 0], {1, 2, 3, 4}, {4}),
        ("decode_offsets", [strings, *where, offsets, out, 0, u8(0), u8(0)], {1, 2, 3, 5, 7, 8}, {4, 5, 7, 8}),
        ("decode_bytes", [strings, *where, u8(0), offsets, 0, True, out], {1, 2, 3, 4, 8}, {8}),
        ("decode_few_bytes", [strings, 0, i8(0, 1, 2), 0], {2}, set()),
        ("decode_fixed", [fixed, *where, 1, out, u1(0), 0], {1, 2, 3, 5, 6}, {5, 6}),
        ("payload_frames", [strings, u8(0)], {1}, set()),
        ("gather_offsets", [u4(0, 0), u8(0, 1), None, offsets, out], {0, 1, 4}, {3, 4}),
        ("gather_bytes", [u4(0, 0), u1(7), u8(0, 1), out], {0, 1, 2, 3}, {3}),
        ("gather_fixed", [u4(0, 0), u1(7), 1, None, out, u1(0)], {0, 1, 4, 5}, {4, 5}),
        ("require_text", [u1(65), u8(0, 1)], {0, 1}, set()),
        ("lz4_compress", [u1(65), True], {0}, set()),
        ("split_lines", [u1(65)], {0}, set()),
        ("is_text", [offsets, u1(65, 66)], {1}, set()),
        ("divide_exactly", [np.array([4]), 0, 2, np.zeros(1, np.int64)], {0}, {3}),
        ("match_text", [offsets, u1(65, 66), "has", "a", False, np.zeros(2, np.uint8)], {1, 5}, {5}),
        ("unite_ranges", [u8(1, 5), u8(2, 6), u8(3, 9), u8(4, 10)], {0, 1, 2, 3}, set()),
        ("intersect_ranges", [u8(1, 5), u8(2, 6), u8(3, 9), u8(4, 10)], {0, 1, 2, 3}, set()),
        ("subtract_ranges", [u8(1, 5), u8(2, 6), u8(3, 9), u8(4, 10)], {0, 1, 2, 3}, set()),
        ("positions_of_ranges", [u8(1, 5), u8(2, 6)], {0, 1}, set()),
        ("ranges_of_positions", [u8(1, 5)], {0}, set()),
        ("ranges_of_bitmap", [u1(1, 5), 0, 9, 0], {0}, set()),
        ("few_ranges_of_bitmap", [u1(1, 5), 9, 0, 4], {0}, set()),
        ("hash_keys", [b"x:", None, u1(1, 5), 1, None, 0, 2], {2}, set()),
        ("partition_entries", [u8(1, 5), u8(1, 5), 3], {0, 1}, set()),
        ("group_entries", [u8(1, 5)], {0}, set()),
        ("order_by_bucket", [u8(1, 5), u8(1, 2), u8(1, 5), 2], {0, 1, 2}, set()),
        ("term_range", [i8(0, 1), u1(65), b"A", False], {0, 1}, set()),
        ("match_terms", [i8(0, 1), u1(65), 0, 1, b"A", "equal", False, False], {0, 1}, set()),
        (
            "row_ranges",
            [u8(0, 1), u8(1, 1), u1(0, 0), 2, u8(0, 0, 0), u8(0, 0, 0)],
            {0, 1, 2, 4, 5},
            {4, 5},
        ),
        (
            "common_rows",
            [[(longs, 0, 2)], 3, u8(0), u8(2), u8(0, 0, 0), u8(0, 0, 0)],
            {2, 3, 4, 5},
            {4, 5},
        ),
        ("TextColumn.booleans", [u1(1), 0, 2, u1(1), 0], {0, 3}, set()),
        ("TextColumn.integers", [i8(1, 2), u1(1), 0], {0, 1}, set()),
        ("TextColumn.doubles", [np.zeros(2), u1(1), 0], {0, 1}, set()),
        ("TextColumn.decimals", [np.zeros(16, np.uint8), 2, u1(1), 0], {0, 2}, set()),
        ("TextColumn.uuids", [np.zeros(16, np.uint8), u1(1), 0], {0, 1}, set()),
        ("TextColumn.texts", [offsets, u1(65, 66), None, 2, u1(1), 0], {1, 4}, set()),
        ("TextColumn.binary", [offsets, u1(65, 66), None, 2, u1(1), 0], {1, 4}, set()),
        ("TextColumn.dates", [np.zeros(2, np.int32), u1(1), 0], {0, 1}, set()),
        ("TextColumn.times", [i8(1, 2), 3, u1(1), 0], {0, 2}, set()),
        ("TextColumn.durations", [i8(1, 2), 3, u1(1), 0], {0, 2}, set()),
        ("TextColumn.instants", [i8(1, 2), 3, True, np.zeros(2, np.int32), u1(1), 0], {0, 3, 4}, set()),
        ("TextColumn.lists", [i8(0, 1), i8(1, 2), column, u1(1), 0], {0, 1, 3}, set()),
        ("TextColumn.maps", [i8(0, 1), i8(1, 2), False, column, column, u1(1), 0], {0, 1, 5}, set()),
        ("TextColumn.structs", [["a"], [column], 2, u1(1), 0], {3}, set()),
        ("TextColumn.unions", [u1(0, 0), i8(0, 1), [column]], {0, 1}, set()),
    ]


@pytest.mark.parametrize("kernels", KERNELS, ids=lambda kernels: kernels.__name__)
def test_native_arguments_are_never_converted(kernels: Any) -> None:
    """A copy would be filled and dropped in silence: whatever does not fit as it is must be refused."""
    for name, arguments, typed, written in calls(kernels):
        function = attrgetter(name)(kernels)
        function(*arguments)
        for index in typed | written:
            changes = [strided, two_dimensional, swapped, list]
            changes += [narrower] if index in typed else []
            changes += [frozen] if index in written else []
            for change in changes:
                if change is strided and len(arguments[index]) < 2:
                    continue  # one element has no stride
                changed = [*arguments[:index], change(arguments[index]), *arguments[index + 1 :]]
                try:
                    function(*changed)
                except TypeError:
                    continue
                pytest.fail(f"{name} took argument {index} changed by {change.__name__}")


@pytest.mark.parametrize("kernels", KERNELS, ids=lambda kernels: kernels.__name__)
def test_outputs_that_are_too_short_are_refused(kernels: Any) -> None:
    for name, arguments, _, written in calls(kernels):
        for index in written:
            changed = [*arguments[:index], arguments[index][:0].copy(), *arguments[index + 1 :]]
            if name in ("decode_numbers", "decode_offsets") and index == 4:
                changed[4] = arguments[4][:1].copy()
            with pytest.raises(ValueError, match=r"expected|too short|wrong length|more slots"):
                attrgetter(name)(kernels)(*changed)


@pytest.mark.parametrize("kernels", KERNELS, ids=lambda kernels: kernels.__name__)
def test_blocks_take_their_arguments_as_they_are(kernels: Any) -> None:
    data = block.build(b"", plain.encode([1, 2], "u1"))
    arguments = [[memoryview(data)], u4(0), u8(0), u8(len(data)), u8(2), u8(0)]
    assert len(kernels.Blocks(*arguments, True, True)) == 1
    for index in range(1, 6):
        for change in (narrower, two_dimensional, swapped, list):
            changed = [*arguments[:index], change(arguments[index]), *arguments[index + 1 :]]
            with pytest.raises(TypeError):
                kernels.Blocks(*changed, True, True)
