"""`amudai.follow`: no line is lost or taken twice, whatever happens to the file."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import amudai
from tests.effort import examples


def taken(source: Path | int, to: Path, **options: Any) -> list[int]:
    """What is added up to the end of a file: the rows of the shard after each addition."""
    return [shard.num_rows for shard in amudai.follow(source, to, at_end="stop", **options)]


def log_line(number: int) -> str:
    return f"2026-01-01 10:{number // 60 % 60:02}:{number % 60:02} INFO request {number} done\n"


def append_text(path: Path, text: str) -> None:
    with path.open("a", newline="") as file:
        file.write(text)


def test_each_run_goes_on_where_the_one_before_ended(tmp_path: Path) -> None:
    log, folder = tmp_path / "app.log", tmp_path / "logs"
    lines = [log_line(number) for number in range(10)]
    for part in (lines[:3], lines[3:4], [], lines[4:]):
        append_text(log, "".join(part))
        taken(log, folder)
    found = amudai.dataset(folder)
    assert found.read(["line"])["line"].to_pylist() == [line.rstrip() for line in lines]
    assert found.read(["line_number"])["line_number"].to_pylist() == list(range(1, 11))
    assert set(found.read(["level"])["level"].to_pylist()) == {"INFO"}
    assert len(found.shards) == 1  # all were added to one shard
    assert amudai.open(folder / found.shards[0]).verify().ok


def test_an_unfinished_line_waits_for_its_end(tmp_path: Path) -> None:
    log, folder = tmp_path / "app.jsonl", tmp_path / "logs"
    append_text(log, '{"n": 1}\n{"n": ')
    taken(log, folder)
    append_text(log, "2}\n")
    taken(log, folder)
    assert amudai.dataset(folder).read()["n"].to_pylist() == [1, 2]


def test_csv_goes_on_without_its_header_and_with_its_types(tmp_path: Path) -> None:
    table, folder = tmp_path / "t.csv", tmp_path / "lake"
    append_text(table, "id;price\n")
    assert taken(table, folder) == []  # a header does not say what the columns hold
    append_text(table, "1;1.5\n")
    taken(table, folder)
    append_text(table, "2;3\n3;\n")
    taken(table, folder)
    found = amudai.dataset(folder)
    assert found.schema.field("price").type == pa.float64()
    assert found.read().to_pydict() == {"id": [1, 2, 3], "price": [1.5, 3.0, None]}


def test_a_quoted_line_end_does_not_cut_a_csv_record(tmp_path: Path) -> None:
    table, folder = tmp_path / "t.csv", tmp_path / "lake"
    append_text(table, 'id,text\n1,"one"\n2,"two\n')
    follower = amudai.follow(table, folder, every_seconds=30, every_rows=3)
    assert next(follower).num_rows == 1
    append_text(table, 'lines"\n3,""\n4,""\n')
    assert next(follower).num_rows == 4
    follower.close()
    assert amudai.dataset(folder).read(["text"])["text"].to_pylist() == ["one", "two\nlines", "", ""]


def test_a_record_of_several_lines_stays_together(tmp_path: Path) -> None:
    log, folder = tmp_path / "app.log", tmp_path / "logs"
    append_text(log, "2026-01-01 10:00:00 INFO one\n2026-01-01 10:00:01 ERROR two\n")
    follower = amudai.follow(log, folder, every_seconds=30, every_rows=2)
    assert next(follower).num_rows == 1  # lines of the second record may follow
    append_text(log, "  at f()\n2026-01-01 10:00:02 INFO three\n")
    assert next(follower).num_rows == 2
    follower.close()  # adds the last record
    lines = amudai.dataset(folder).read(["line", "line_number"])
    assert [line.count("\n") for line in lines["line"].to_pylist()] == [0, 1, 0]
    assert lines["line_number"].to_pylist() == [1, 2, 4]


def test_continuing_lines_of_a_later_piece_inherit_time_and_level(tmp_path: Path) -> None:
    log, folder = tmp_path / "app.log", tmp_path / "logs"
    append_text(log, "2026-01-01 10:00:00 ERROR failed\n")
    follower = amudai.follow(log, folder, every_seconds=0.1)
    assert next(follower).num_rows == 1
    append_text(log, "  at f()\n")
    assert next(follower).num_rows == 2
    follower.close()
    assert amudai.dataset(folder).read(["level"])["level"].to_pylist() == ["ERROR", "ERROR"]


@pytest.mark.parametrize("how", ["moved", "cut"])
def test_a_rotated_log_is_read_to_its_end_and_then_the_new_one(tmp_path: Path, how: str) -> None:
    log, folder = tmp_path / "app.log", tmp_path / "logs"
    append_text(log, log_line(1) + log_line(2))
    follower = amudai.follow(log, folder, every_seconds=0.1)
    assert next(follower).num_rows == 2
    if how == "moved":
        append_text(log, log_line(3).rstrip())  # the last line has no end
        log.rename(tmp_path / "app.log.1")
    else:
        log.write_text("")
    append_text(log, log_line(4))
    expected = [1, 2, 3, 4] if how == "moved" else [1, 2, 4]
    assert any(shard.num_rows == len(expected) for shard in follower)
    follower.close()
    found = amudai.dataset(folder).read(["line", "line_number"]).to_pydict()
    assert found["line"] == [log_line(number).rstrip() for number in expected]
    assert found["line_number"] == ([1, 2, 3, 1] if how == "moved" else [1, 2, 1])
    append_text(log, log_line(5))
    assert taken(log, folder) == [len(expected) + 1]  # goes on in the new file


def test_a_writer_may_write_to_a_moved_log_until_it_opens_the_new_one(tmp_path: Path) -> None:
    log, folder = tmp_path / "app.log", tmp_path / "logs"
    append_text(log, log_line(1))
    follower = amudai.follow(log, folder, every_seconds=0.1)
    with open(log, "a") as writer:
        assert next(follower).num_rows == 1
        log.rename(tmp_path / "app.log.1")
        log.touch()  # as logrotate makes the new file, before it tells the writer

        def go_on() -> None:
            print(log_line(2), end="", file=writer, flush=True)
            append_text(log, log_line(3))

        threading.Timer(0.3, go_on).start()
        for shard in follower:
            if log_line(3).rstrip() in shard.read(["line"])["line"].to_pylist():
                break
    follower.close()
    found = amudai.dataset(folder).read(["line", "line_number"]).to_pydict()
    assert found["line"] == [log_line(number).rstrip() for number in (1, 2, 3)]
    assert found["line_number"] == [1, 2, 1]


@pytest.mark.parametrize("name", ["app.log.1", "app-2026.log"])
def test_a_log_that_was_rotated_while_nobody_followed_is_read_to_its_end(tmp_path: Path, name: str) -> None:
    log, folder = tmp_path / "app.log", tmp_path / "logs"
    append_text(log, log_line(1) + log_line(2))
    taken(log, folder)
    append_text(log, log_line(3))
    log.rename(tmp_path / name)
    (tmp_path / "app.log.2").write_text(log_line(0))  # an older one, which was never followed
    append_text(log, log_line(4))
    for number in (5, 6):
        taken(log, folder)
        append_text(log, log_line(number))
    taken(log, folder)
    found = amudai.dataset(folder).read(["line", "line_number"]).to_pydict()
    assert found["line"] == [log_line(number).rstrip() for number in range(1, 7)]
    assert found["line_number"] == [1, 2, 3, 1, 2, 3]


def test_another_file_of_the_same_name_is_read_from_its_beginning(tmp_path: Path) -> None:
    log, folder = tmp_path / "app.log", tmp_path / "logs"
    banner = "2026-01-01 00:00:00 INFO banner " + "x" * 2000 + "\n"
    log.write_text(banner + log_line(1))
    taken(log, folder)
    log.write_text(banner + log_line(7) + log_line(8))  # begins as the old one did, and is longer
    taken(log, folder)
    lines = amudai.dataset(folder).read(["line"])["line"].to_pylist()
    assert lines == [text.rstrip() for text in (banner, log_line(1), banner, log_line(7), log_line(8))]


def test_shards_end_after_some_rows(tmp_path: Path) -> None:
    log, folder = tmp_path / "n.jsonl", tmp_path / "lake"
    for start in range(0, 50, 10):
        append_text(log, "".join(f'{{"n": {number}}}\n' for number in range(start, start + 10)))
        taken(log, folder, rows_per_shard=20)
    found = amudai.dataset(folder)
    assert [found.shard(name).num_rows for name in found.shards] == [20, 20, 10]
    assert found.read()["n"].to_pylist() == list(range(50))


def test_one_shard_takes_all_rows_and_keeps_its_index(tmp_path: Path) -> None:
    log, shard = tmp_path / "app.log", tmp_path / "app.amudai.shard"
    for number in range(3):
        append_text(log, log_line(number))
        taken(log, shard, indexes=[amudai.TermIndex("line")])
    found = amudai.open(shard)
    assert found.num_rows == 3
    assert [index.fields for index in found.indexes] == [("line",)]
    assert found.count(amudai.col("line").has("2")) == 1


def test_a_pipe_ends_when_its_writer_closes_it(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, b'{"n": 1}\n{"n": 2}')  # the last line has no end
    os.close(writing)
    assert taken(reading, tmp_path / "lake") == [2]
    os.close(reading)


def test_bad_records_have_their_own_lines(tmp_path: Path) -> None:
    log, folder = tmp_path / "n.jsonl", tmp_path / "lake"
    append_text(log, '{"n": 1}\n')
    taken(log, folder)
    append_text(log, '{"n": 2}\n{"n": \n')
    with pytest.raises(amudai.CorruptedData, match="line 3"):
        taken(log, folder)
    bad: list[amudai.BadRecord] = []
    taken(log, folder, on_error="skip", on_bad_record=bad.append)
    assert [record.line for record in bad] == [3]
    assert amudai.dataset(folder).read()["n"].to_pylist() == [1, 2]


def test_lines_appear_while_they_are_written(tmp_path: Path) -> None:
    log, folder = tmp_path / "app.log", tmp_path / "logs"
    log.touch()
    lines = [log_line(number) for number in range(60)]

    has_appeared = threading.Event()

    def write_slowly() -> None:
        for number, line in enumerate(lines):
            middle = len(line) // 2
            append_text(log, line[:middle])
            append_text(log, line[middle:])
            time.sleep(0.01)
            if number == len(lines) // 2:
                has_appeared.wait(60)  # however slowly a busy machine makes the first shard

    writer = threading.Thread(target=write_slowly)
    writer.start()
    counts = []
    for shard in amudai.follow(log, folder, every_seconds=0.15):
        counts.append(shard.num_rows)
        has_appeared.set()
        if shard.num_rows == len(lines):
            break
    writer.join()
    assert len(counts) > 1
    assert amudai.dataset(folder).read(["line"])["line"].to_pylist() == [line.rstrip() for line in lines]


@pytest.mark.slow
@examples(40)
@given(
    texts=st.lists(st.text('ab "é,', max_size=6), min_size=1, max_size=12),
    cuts=st.lists(st.integers(0, 40), max_size=4),
)
def test_pieces_make_the_same_rows_as_the_whole_file(
    texts: list[str], cuts: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("pieces")
    whole = "".join(f"{log_line(number).rstrip()} {text}\n" for number, text in enumerate(texts)).encode()
    log = folder / "app.log"
    log.write_bytes(b"")
    done = 0
    for cut in [*sorted(min(cut * 7, len(whole)) for cut in cuts), len(whole)]:
        with log.open("ab") as file:
            file.write(whole[done:cut])
        done = max(done, cut)
        taken(log, folder / "logs")
    expected = amudai.ingest(log, folder / "whole.amudai.shard").read()
    found = amudai.dataset(folder / "logs").read()
    assert found.select(expected.column_names).to_pydict() == expected.to_pydict()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda folder: amudai.follow(folder / "none.log", folder), "No such file"),
        (lambda folder: amudai.follow(folder / "a.log.gz", folder), "not compressed"),
        (lambda folder: amudai.follow(0, folder, at_end="never"), "at_end"),
        (lambda folder: amudai.follow(0, folder, every_rows=0), "every_rows"),
        (lambda folder: amudai.follow(0, folder, every_seconds=-1), "every_seconds"),
        (lambda folder: amudai.follow(0, "s3://bucket/logs"), "local folder"),
    ],
)
def test_what_cannot_be_followed_is_refused(tmp_path: Path, make: Callable[[Path], object], said: str) -> None:
    with pytest.raises(amudai.AmudaiError, match=said):
        make(tmp_path)


@pytest.mark.parametrize("ending", [".json", ".csv", ".parquet"])
def test_text_that_is_not_made_of_lines_is_refused(tmp_path: Path, ending: str) -> None:
    text = {".json": b'{\n "n": 1\n}\n', ".csv": "a,b\n1,2\n".encode("utf-16"), ".parquet": b"PAR1\n"}[ending]
    file = tmp_path / f"x{ending}"
    file.write_bytes(text)
    with pytest.raises(amudai.AmudaiError):
        taken(file, tmp_path / "lake")
    assert not (tmp_path / "lake").exists()
