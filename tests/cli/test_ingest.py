"""What `ingest` says about files, the command that a dry run prints, and messages in the words of the command line."""

from __future__ import annotations

import json
import lzma
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import amudai
from amudai.cli.ingest_report import command_of
from amudai.cli.option_words import spoken
from amudai.cli.reading_options import flags_of, reading_options, type_flags
from amudai.sources import Decision
from tests.cli.runs import run

DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(["encoding", "delimiter", "quote", "escape", "header", "columns", "null", "comment"]),
    **dict.fromkeys(["year", "timezone"]),
    "pattern": None,
    "duplicates": "raise",
    "mixed_zones": "raise",
    "skip": 0,
    "decimal": ".",
    "nan": False,
    "multiline": "join",
    "extract": False,
}


def run_command(command: str, code: int = 0) -> Any:
    """Run a command as a shell would, in this process."""
    words = shlex.split(command)
    assert words[0] == "amudai"
    return run(*words[1:], code=code)


# ---- dry runs ----


def test_the_command_of_a_dry_run_does_what_was_shown(tmp_path: Path) -> None:
    (tmp_path / "our data").mkdir()
    (tmp_path / "our data" / "a.csv").write_text("id,it's a name,when\n1,x,2024-01-01 10:00:00\n2,y,\n")
    target = tmp_path / "x y.amudai.shard"
    options = ["-t", "id=int16", "--index", "it's a name", "--profile", "plain", "--on-error", "skip"]
    text = run("ingest", tmp_path / "our data", "-o", target, *options, "--dry-run").stdout
    assert "1 file" in text
    assert "nothing was written" in text
    assert list(tmp_path.iterdir()) == [tmp_path / "our data"]
    command = text.strip().splitlines()[-1]
    assert command.startswith("amudai ingest ")
    assert "--type id=int16" in command
    assert """--type 'it'"'"'s a name=string'""" in command
    assert "--dry-run" not in command
    run_command(command)
    shard = amudai.open(target)
    found = json.loads(run("ingest", tmp_path / "our data", "-o", target, *options, "--dry-run", "--json").stdout)
    assert [(each["name"], each["type"]) for each in found["schema"]] == [
        (each.name, str(each.type)) for each in shard.schema
    ]
    assert shard.schema.field("id").type == pa.int16()
    assert [index.fields for index in shard.indexes] == [("it's a name",)]
    assert run_command(found["command"], code=3).stderr.count("exists") == 1


def test_a_dry_run_needs_no_target_and_shows_decisions(tmp_path: Path) -> None:
    for name in ("syslog", "messages"):
        (tmp_path / name).write_text("Jan  5 10:00:00 host sshd[1]: accepted\n" * 3)
    (tmp_path / "core").write_bytes(bytes(range(256)))
    result = run("ingest", tmp_path, "--dry-run")
    assert "format log (by its content)" in result.stderr
    assert f"not read: {tmp_path}/core: it is no text" in result.stderr
    command = result.stdout.strip().splitlines()[-1]
    assert "--format" not in command  # core is no log
    assert command.split(" -o ")[1].split()[0].endswith(".amudai.shard")
    assert " --format log" in run("ingest", tmp_path / "syslog", "--dry-run").stdout
    found = json.loads(run("ingest", tmp_path, "--dry-run", "--json").stdout)
    assert found["files"] == [str(tmp_path / "messages"), str(tmp_path / "syslog")]
    assert found["decisions"][0]["decided"][0] == {"option": "format", "value": "log", "reason": "by its content"}
    assert found["files_skipped"][0]["file"] == str(tmp_path / "core")
    assert "--output" in run("ingest", tmp_path, code=2).stderr
    run_command(command.replace(" -o ", f" -o {tmp_path}/"))


@dataclass(frozen=True)
class Decided:
    """A source about whose files something was decided."""

    decisions: dict[str, tuple[Decision, ...]]
    skipped: tuple[()] = ()
    schema: pa.Schema = field(default_factory=lambda: pa.schema([("a=b", pa.timestamp("us", "UTC"))]))


def test_the_command_of_a_dry_run_says_what_the_caller_said(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    target = tmp_path / "o.amudai.shard"
    told = ["--no-header", "--null", "-", "--skip", "0"]
    command = run("ingest", tmp_path / "a.csv", "-o", target, *told, "--dry-run").stdout.strip().splitlines()[-1]
    run_command(command)
    assert amudai.open(target).read().to_pydict() == {"column_1": ["a", "1"], "column_2": ["b", "2"]}


@pytest.mark.parametrize(
    "text", ["Title\n\nx,y\n1,2\n3,4\n", "sep=;\nx;y\n1;2\n3;4\n", "#by, hand\n#\nx,y\n1,2\n3,4\n"]
)
def test_lines_that_are_left_out_are_in_the_command(text: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.csv").write_text(text)
    for name in ("one", "two"):
        result = run("ingest", tmp_path / "in", "-o", tmp_path / f"{name}.amudai.shard", "--dry-run")
        command = result.stdout.strip().splitlines()[-1]
        assert ("--skip" in command or "--comment" in command) == (name == "one")
        run_command(command)
        found = amudai.open(tmp_path / f"{name}.amudai.shard").read().to_pydict()
        assert found == {"x": [1, 3], "y": [2, 4]} if name == "one" else {"x": [1, 3, 5, 7], "y": [2, 4, 6, 8]}
        # The first lines of this file are none to leave out.
        (tmp_path / "in/b.csv").write_text("x,y\n5,6\n7,8\n")


def test_options_of_csv_are_in_the_command_if_there_are_logs_too(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id;city\n1;Oslo\n2;Rome\n")
    (tmp_path / "b.log").write_text("2026-01-01 10:00:00 INFO started\n" * 3)
    result = run("ingest", tmp_path / "a.csv", tmp_path / "b.log", "-o", tmp_path / "o.amudai.shard", "--dry-run")
    command = result.stdout.strip().splitlines()[-1]
    assert "--delimiter ';'" in command
    assert "--encoding" not in command
    assert "matched" not in result.stderr


def test_decisions_become_options_where_files_agree() -> None:
    told = {**reading_options(None, **DEFAULTS), "format": None}
    first = (Decision("delimiter", "\t"), Decision("header", False), Decision("null", ("-", "NA")))
    source: Any = Decided({"a": (*first, Decision("encoding", "latin-1")), "b": first})
    command = command_of(["a", "b"], "x", source, told, ["--overwrite"])
    assert command == (
        "amudai ingest a b -o x --delimiter tab --no-header --null - --null NA "
        "--type 'a=b=timestamp[us, UTC]' --overwrite"
    )
    told = {**reading_options(["a=b=text"], **{**DEFAULTS, "delimiter": ";"}), "format": "csv"}
    assert command_of(["a"], "x", source, told, []) == (
        "amudai ingest a -o x --delimiter ';' --no-header --null - --null NA --format csv --type a=b=text"
    )


def test_options_and_words_mean_the_same() -> None:
    told = {**DEFAULTS, "delimiter": "\t", "columns": ["a", "b,c", 'd"'], "null": ["", "-"], "header": True}
    told |= {"quote": "", "skip": 3, "comment": "#", "decimal": ",", "encoding": "latin-1", "nan": True}
    told |= {"year": 2024, "timezone": "+02:00", "multiline": "inherit", "pattern": "(?P<x>.*)", "extract": True}
    words = list(flags_of(told))
    given = {**DEFAULTS, "columns": words[words.index("--columns") + 1], "delimiter": "tab"}
    assert reading_options(None, **given)["columns"] == ["a", "b,c", 'd"']
    assert reading_options(None, **given)["delimiter"] == "\t"
    assert "--no-header" not in words
    assert words[words.index("--quote") + 1] == ""
    assert len(set(flags_of(DEFAULTS))) == 0


def test_types_are_named_as_the_command_line_takes_them(tmp_path: Path) -> None:
    schema = pa.schema(
        {
            "b": pa.bool_(), "i": pa.int8(), "u": pa.uint64(), "f": pa.float32(), "d": pa.float64(), "s": pa.string(),
            "l": pa.large_string(), "x": pa.binary(), "day": pa.date32(), "time": pa.time64("us"), "n": pa.null(),
            "t": pa.timestamp("ns"), "z": pa.timestamp("us", "Europe/Berlin"), "dec": pa.decimal128(20, 2),
            "list": pa.list_(pa.int8()), "struct": pa.struct({"a": pa.int8()}),
        }
    )  # fmt: skip
    words = list(type_flags(schema, schema.names))[1::2]
    assert len(words) == len(schema) - 2
    types = reading_options(words, **DEFAULTS)["types"]
    (tmp_path / "a.jsonl").write_text("{}\n")
    found = amudai.read_files(tmp_path / "a.jsonl", types=types).schema
    assert [found.field(name).type for name in types] == [schema.field(name).type for name in types]


# ---- what the summary says ----


def test_the_summary_names_what_was_not_read(tmp_path: Path) -> None:
    (tmp_path / "app.out.xz").write_bytes(lzma.compress(b"one\ntwo\n"))
    (tmp_path / "x.bin").write_bytes(bytes(range(256)))
    target = tmp_path / "out" / "x.amudai.shard"
    target.parent.mkdir()
    result = run("ingest", tmp_path, "-o", target)
    assert "app.out.xz: format log (by its content)" in result.stderr
    assert f"not read: {tmp_path}/x.bin: it is no text, and no format that is known" in result.stderr
    found = json.loads(run("ingest", tmp_path, "-o", target, "--overwrite", "--json").stdout)
    assert found["files"] == [str(tmp_path / "app.out.xz")]
    assert found["rows"] == 2
    reasons = [each["reason"] for each in found["files_skipped"]]
    assert reasons == ["it is no text, and no format that is known", "it is part of a shard"]


def test_bad_records_are_kept(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("n\n1\nx\n2\n")
    target = tmp_path / "x.amudai.shard"
    options = ["--on-error", "keep", "--type", "n=int64"]
    result = run("ingest", tmp_path / "a.csv", "-o", target, *options)
    assert "1 bad record kept" in result.stdout
    assert f"kept {tmp_path}/a.csv:3: " in result.stderr
    assert "1 bad record because of --type n=" in result.stderr
    assert amudai.open(target).read(["bad_record"], where="n is null")["bad_record"].to_pylist() == ["x"]
    found = json.loads(run("ingest", tmp_path / "a.csv", "-o", target, *options, "--overwrite", "--json").stdout)
    assert (found["kept"], found["kept_by_type"]) == (1, {"n": 1})


def test_only_new_files(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("n\n1\n")
    first, second = tmp_path / "1.amudai.shard", tmp_path / "2.amudai.shard"
    run("ingest", tmp_path / "in", "-o", first, "--only-new")
    result = run("ingest", tmp_path / "in", "-o", second, "--only-new")
    assert "nothing is new: 1 file taken in before; nothing was written" in result.stderr
    assert not second.exists()
    assert run("ingest", tmp_path / "in", "-o", first, "--only-new").exit_code == 0
    found = json.loads(run("ingest", tmp_path / "in", "-o", second, "--only-new", "--json").stdout)
    assert found["shard"] is None
    (tmp_path / "in" / "b.csv").write_text("n\n2\n")
    run("ingest", tmp_path / "in", "-o", second, "--only-new")
    assert amudai.open(second).read().to_pydict() == {"n": [2]}
    (tmp_path / "in" / "c.csv").write_text("n\n3\n")
    assert "exists" in run("ingest", tmp_path / "in", "-o", second, "--only-new", code=3).stderr


def test_help_groups_the_options() -> None:
    text = run("ingest", "--help").stdout
    csv = "--delimiter --quote --escape --no-header --header --columns --null --skip --comment --decimal"
    logs = "--year --timezone --multiline --pattern --extract"
    others = "--encoding --duplicates --mixed-zones --nan --on-error --dry-run --only-new"
    for option in f"{csv} {logs} {others}".split():
        assert option in text, option
    for panel in ("CSV", "JSON", "Logs"):
        assert f"─ {panel} ─" in text


# ---- messages ----


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("found double: say types={'Date': ...}", "found double: say --type 'Date=TYPE'"),
        ('say types={"id": pa.uint64()}, pa.string() or', "say --type 'id=uint64', string or"),
        ("types: expected columns of the files", "--type: expected columns of the files"),
        ("types= can say what a column holds", "--type can say what a column holds"),
        ('duplicates="rename" keeps both', "--duplicates rename keeps both"),
        ("one of .parquet, or format=", "one of .parquet, or --format"),
        ("overwrite=True replaces it", "--overwrite replaces it"),
        ("set the type of column 'n' (types= or --type)", "set the type of column 'n' (--type)"),
        ("header=False says so", "--no-header says so"),
        ("year= can say another", "--year can say another"),
        ("expected bytes, found none", "expected bytes, found none"),
    ],
)
def test_messages_speak_of_options(said: str, shown: str) -> None:
    assert spoken(said) == shown


def test_errors_speak_of_options(tmp_path: Path) -> None:
    pa.parquet.write_table(pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]), tmp_path / "a.parquet")
    target = tmp_path / "x.amudai.shard"
    error = run("ingest", tmp_path / "a.parquet", "-o", target, code=3).stderr
    assert "column 'a': expected unique names, found it twice: --duplicates rename keeps both" in error
    run("ingest", tmp_path / "a.parquet", "-o", target, "--duplicates", "rename")
    assert amudai.open(target).read().to_pydict() == {"a": [1], "a_1": [2]}
    (tmp_path / "twice.csv").write_text("a,a\n1,2\n")
    error = run("ingest", tmp_path / "twice.csv", "-o", target, "--overwrite", code=3).stderr
    assert "error: header: expected unique names, found 'a' twice: name the columns (--columns); --duplicates" in error
    assert "error: pattern: expected some file" in run("ingest", tmp_path / "*.x", "--dry-run", code=3).stderr
    (tmp_path / "app.log").write_text("Jan  5 10:00:00 host sshd[1]: accepted\n")
    for option in ("--year=0", "--year=10000", "--pattern=(?P<a>.)(?P<a>.)", "--timezone=Mars"):
        error = run("ingest", tmp_path / "app.log", "--dry-run", option, code=2).stderr
        assert error.startswith(f"error: {option.partition('=')[0]}: expected")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.csv").write_text("Date\ntrue\n")
    (tmp_path / "in" / "2.csv").write_text("Date\n2024-01-01\n")
    error = run("ingest", tmp_path / "in", "-o", tmp_path / "y.amudai.shard", code=3).stderr
    assert "--type" in error
    assert "types=" not in error


def test_statistics_keys_and_groups(tmp_path: Path) -> None:
    source = tmp_path / "x.csv"
    source.write_text("tenant,user,n\n" + "".join(f"{n % 7},{n},{n * 3}\n" for n in range(200)))
    target = str(tmp_path / "x.amudai.shard")
    options = ["--hash", "tenant,user", "--bloom", "user=0.001", "--distinct", "n", "--pack", "tenant,user"]
    run("ingest", source, "-o", target, *options)
    with amudai.open(target) as shard:
        assert shard.indexes[0].fields == ("tenant + user",)
        assert shard["n"].stats.distinct_count is not None
        buffers = [stripe.fields[at].buffers[0].member for stripe in shard.inspect().stripes for at in range(3)]
        assert buffers == [0, 1, None]
        assert shard.count((amudai.col("tenant") == 3) & (amudai.col("user") == 10)) == 1
