"""Importing amudai: what it needs of the system, and what it leaves for later."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path
from textwrap import dedent

import pytest

from amudai import _kernels

# Not on every system that Python runs on: these modules, these names of `os`, and the folder /proc.
WITHOUT = """
    import os, sys

    for module in ("fcntl", "grp", "pwd", "resource", "termios"):
        sys.modules[module] = None
    for name in {names}:
        if hasattr(os, name):
            delattr(os, name)

    def refuse(event, arguments):
        if event in ("open", "os.listdir") and str(arguments[0]).startswith("/proc"):
            raise FileNotFoundError(arguments[0])

    sys.addaudithook(refuse)
"""
FLAGS = ["O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "O_TMPFILE"]
FUNCTIONS = ["getuid", "sched_getaffinity", "sched_setaffinity", "sysconf", "sysconf_names"]


def run(*programs: str, folder: Path | None = None) -> str:
    program = "".join(map(dedent, programs))
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="needs Python without the GIL")
def test_importing_leaves_the_gil_off() -> None:
    program = """
    import sys
    import amudai, amudai.cli, amudai._kernels
    amudai.open, amudai.write, amudai.dataset
    assert not sys._is_gil_enabled()
    """
    run(program)


@pytest.mark.slow
def test_importing_needs_little_of_the_system() -> None:
    run(WITHOUT.format(names=FLAGS + FUNCTIONS), "import amudai; import amudai.cli; amudai.open; amudai.write\n")


@pytest.mark.slow
def test_reading_and_writing_need_no_resource_no_sysconf_and_no_proc(tmp_path: Path) -> None:
    program = """
    import amudai

    table = {"n": [1, 2, 3], "s": ["a", "b", None]}
    amudai.write(table, "t.amudai.shard", layout="two-level", indexes=[amudai.TermIndex("s")])
    assert amudai.open("t.amudai.shard").scan(where=amudai.col("n") > 1).to_table().num_rows == 2
    """
    run(WITHOUT.format(names=FUNCTIONS), program, folder=tmp_path)


@pytest.mark.slow
def test_rich_and_typer_wait_until_something_is_shown(tmp_path: Path) -> None:
    program = """
    import json
    import sys
    import amudai

    def shown():
        return sorted({name.partition(".")[0] for name in sys.modules} & {"click", "rich", "typer"})

    amudai.write({"n": [1, 2, 3], "s": ["a", "b", None]}, "t.amudai.shard", indexes=[amudai.TermIndex("s")])
    shard = amudai.open("t.amudai.shard")
    assert shard.scan(where=amudai.col("s").has("a")).to_table().num_rows == 1
    repr(shard), shard.verify(), str(shard.scan(where=amudai.col("n") > 1).explain())
    before = shown()
    amudai.write({"n": [1]}, "u.amudai.shard", progress=True)
    with open("shown.json", "w") as file:
        json.dump({"before": before, "after": shown()}, file)
    """
    run(program, folder=tmp_path)
    assert json.loads((tmp_path / "shown.json").read_text()) == {"before": [], "after": ["rich"]}


SAMPLE = Path(__file__).parent / "fixtures" / "sample.amudai.shard"
IMPORTED = """
    import sys

    def imported(*prefixes):
        print(*sorted(name for name in sys.modules if name.startswith(prefixes)))
"""


def test_importing_amudai_imports_no_room() -> None:
    program = """
    import amudai
    imported("amudai", "numpy", "pyarrow")
    """
    assert run(IMPORTED, program).split() == ["amudai", "amudai.lazy"]


WRITERS = [
    "amudai.shard.build",
    "amudai.sources",
    "amudai.edit",
    "amudai.index.hash.builder",
    "amudai.index.term.builder",
]
OTHERS = ["pyarrow.csv", "pyarrow.dataset", "pyarrow.fs", "pyarrow.json", "pyarrow.parquet", "pandas", "rich", "typer"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "read",
    [
        "shard.read()",
        "shard.take([7, 3])",
        "shard.scan(where=amudai.col('status') >= 500).to_table()",
        "shard.scan(where='message has \"failed\" and status = 500').to_table()",
        "shard.search('failed').count()",
    ],
)
def test_reading_imports_no_writer(read: str) -> None:
    program = f"""
    import amudai
    shard = amudai.open({str(SAMPLE)!r})
    {read}
    imported(*{[*WRITERS, *OTHERS]})
    """
    assert run(IMPORTED, program).split() == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.log", "2026-01-01 10:00:00 INFO started\nat line 7\n2026-01-01 10:00:01 WARN slow\n"),
        ("a.txt", "2026-01-01 10:00:00 started\n2026-01-01 10:00:01 slow\n"),
        ("a.csv", "n,name\n1,one\n2,two\n"),
        ("a.jsonl", '{"n": 1, "name": "one"}\n{"n": 2, "tags": ["x"]}\n'),
    ],
)
def test_ingest_of_text_imports_no_pandas(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    program = f"""
    import amudai
    amudai.ingest({str(tmp_path / name)!r}, {str(tmp_path / "a.amudai.shard")!r}).close()
    imported("pandas", "rich", "typer")
    """
    assert run(IMPORTED, program).split() == []


@pytest.mark.slow
def test_reading_without_a_predicate_imports_no_evidence_and_no_functions_of_pyarrow() -> None:
    program = f"""
    import amudai
    amudai.open({str(SAMPLE)!r}).read()
    imported("amudai.index.", "amudai.plan.evidence", "amudai.plan.check", "pyarrow.compute")
    """
    assert run(IMPORTED, program).split() == []


@pytest.mark.skipif(find_spec("amudai._processor") is None, reason="one kind of kernels is built for this processor")
class TestTheProcessorIsAsked:
    def test_about_everything_that_the_better_kernels_use(self) -> None:
        from amudai._processor import runs_v3

        cpuinfo = Path("/proc/cpuinfo")
        if not cpuinfo.exists():
            pytest.skip("the system does not say what the processor can do")
        flags = next(line for line in cpuinfo.read_text().splitlines() if line.startswith("flags")).split()
        # The list of x86-64-v3; Linux calls lzcnt abm, and has xsave only where the system uses it.
        needed = {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"}
        assert runs_v3() == (needed <= set(flags))

    def test_and_only_the_kernels_that_fit_are_loaded(self) -> None:
        program = """
        import sys
        import amudai._kernels
        print(*sorted(name for name in sys.modules if name.startswith("amudai._kernels_")))
        """
        found = run(program).split()
        assert found == [_kernels._native.__name__]  # type: ignore[attr-defined]


@pytest.mark.slow
def test_writing_a_table_imports_no_reader_of_files(tmp_path: Path) -> None:
    program = """
    import amudai

    amudai.write({"n": [1, 2, 3], "s": ["a", "b", None]}, "t.amudai.shard")
    imported("amudai.sources.csv", "amudai.sources.json", "amudai.sources.logs", "pyarrow.parquet")
    """
    assert run(IMPORTED, program, folder=tmp_path).split() == []
