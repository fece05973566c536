"""Build the sdist and the wheel, install the wheel in an empty environment, and run the quick tests there.

The wheel is built from the sdist, and the tests come from the sdist too, without its sources: what is missing in either
is noticed. The library is imported with nothing but its dependencies before the packages that tests need are borrowed
from the environment that runs this. `python tools/wheel_test.py` tests the Python that it runs with; arguments go to
pytest.

This is a test of packaging. The kernels of the wheel are compiled for the lowest level of the instruction set and
without optimization, in a fifth of the time: the kernels that users get are tested by `make unit`. So nothing that is
built here is kept.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
FILES = {
    "CHANGELOG.md",
    "CMakeLists.txt",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "PKG-INFO",
    "README.md",
    "SECURITY.md",
    "conftest.py",
    "mkdocs.yml",
    "pyproject.toml",
}
FOLDERS = {"benchmarks", "cpp", "docs", "examples", "proto", "src", "tests", "tools"}
IN_WHEEL = {".py", ".pyi", ".so", ".typed", ".java", ".css", ".js", ".svg"}
QUICK = ["-n", "auto", "--dist", "worksteal", "-m", "not slow and not source"]
# Every module but those of engines and programs, which need extras.
SMOKE = """
import amudai, importlib, pkgutil
for each in pkgutil.walk_packages(amudai.__path__, "amudai."):
    if each.name.split(".")[1] not in {"__main__", "asking", "interop", "spark", "web"}:
        importlib.import_module(each.name)
shard = amudai.write({"n": [1, 2, 3]}, "n.amudai.shard")
assert amudai.open("n.amudai.shard").scan(where="n > 1").to_table().to_pydict() == {"n": [2, 3]}
"""
INSTALLED = """
import sys, amudai._kernels
places = [amudai.__file__, *(file for file in (getattr(each, "__file__", None) for each in sys.modules.values())
                             if file and "/amudai/" in file)]
assert all(place.startswith(sys.prefix) for place in places), places
"""


def run(*command: object, folder: Path = ROOT) -> None:
    """Run a command that does not see the source tree through Python's path."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    subprocess.run([str(part) for part in command], cwd=folder, env=environment, check=True)


def new_environment(folder: Path) -> Path:
    """The Python of a new environment in `folder`."""
    run(sys.executable, "-m", "venv", folder)
    return folder / "bin" / "python"


def pip(python: Path | str, *arguments: object) -> None:
    """Run pip."""
    run(python, "-m", "pip", "--quiet", *arguments)


def build(work: Path) -> tuple[Path, Path]:
    """The sdist, and the wheel that was built from it with nothing but what `build-system.requires` names."""
    target = work / "dist"
    run(sys.executable, "-m", "build", "--quiet", "--sdist", "--no-isolation", "--outdir", target, ROOT)
    (sdist,) = target.glob("*.tar.gz")
    quick = {"AMUDAI_OPTIMIZE": "-O0", "AMUDAI_BASE_ONLY": "ON"}
    options = ["--no-deps", *(f"--config-settings=cmake.define.{name}={value}" for name, value in quick.items())]
    pip(sys.executable, "wheel", *options, "--wheel-dir", target, sdist)
    (wheel,) = target.glob("*.whl")
    return sdist, wheel


def check_content(sdist: Path, wheel: Path) -> None:
    """Raise where an archive lacks something or has more than it should."""
    with tarfile.open(sdist) as archive:
        found = {name.split("/")[1] for name in archive.getnames() if "/" in name}
    expected = FILES | FOLDERS
    if found != expected:
        raise SystemExit(f"{sdist.name}: lacks {sorted(expected - found)}, should not have {sorted(found - expected)}")
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]
    junk = [name for name in names if not name.startswith("amudai/") or Path(name).suffix not in IN_WHEEL | {""}]
    if junk or "amudai/py.typed" not in names:
        raise SystemExit(f"{wheel.name}: expected a typed package, found {junk or names}")


def unpack_tests(sdist: Path, work: Path) -> Path:
    """The folder of the unpacked sdist, without its sources."""
    with tarfile.open(sdist) as archive:
        archive.extractall(work / "sdist", filter="data")
    (folder,) = (work / "sdist").iterdir()
    shutil.rmtree(folder / "src")
    return folder


def borrow_packages(python: Path) -> None:
    """Let an environment see the packages of this one behind its own: they need not be installed again.

    A plain path adds no import hook, so the editable install of this environment stays out of sight.
    """
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    own = subprocess.run([str(python), "-c", ask], capture_output=True, text=True, check=True).stdout.strip()
    (Path(own) / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")


def main(arguments: list[str]) -> None:
    """Build, install, test."""
    with TemporaryDirectory(prefix="amudai-wheel-") as name:
        work = Path(name)
        sdist, wheel = build(work)
        check_content(sdist, wheel)
        python = new_environment(work / "environment")
        pip(python, "install", "--no-compile", wheel)
        # Without the extras first: the library and its command need none of them. What is imported is compiled then:
        # pip would compile all.
        run(python, "-c", SMOKE, folder=work)
        run(python.with_name("amudai"), "verify", "n.amudai.shard", folder=work)
        borrow_packages(python)
        # The extras of the wheel must be met by what is borrowed. What is not is installed.
        pip(python, "install", "--no-compile", f"{wheel}[test]")
        run(python, "-c", INSTALLED, folder=work)
        run(python, "-m", "pytest", *QUICK, "tests", *arguments, folder=unpack_tests(sdist, work))


if __name__ == "__main__":
    main(sys.argv[1:])
