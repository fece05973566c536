"""Does a file appear only once it is complete?"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from amudai.cli.new_file import new_file


def test_a_file_appears_when_it_is_complete(tmp_path: Path) -> None:
    target = tmp_path / "a.csv"
    with new_file(str(target), overwrite=False) as out:
        out.write(b"content")
        assert not target.exists()
    assert target.read_bytes() == b"content"
    assert os.listdir(tmp_path) == ["a.csv"]
    umask = os.umask(0o022)
    os.umask(umask)
    assert target.stat().st_mode & 0o777 == 0o666 & ~umask


def test_an_error_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), new_file(str(tmp_path / "a.csv"), overwrite=True):
        _ = 1 / 0
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("has_links", [True, False])
def test_a_name_that_is_taken_meanwhile_is_kept(
    tmp_path: Path, has_links: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    if not has_links:
        monkeypatch.setattr(os, "link", no_links)
    target = tmp_path / "a.csv"
    with pytest.raises(FileExistsError), new_file(str(target), overwrite=False):
        target.write_text("mine")
    assert target.read_text() == "mine"
    target.unlink()
    with new_file(str(target), overwrite=False) as out:
        out.write(b"ours")
    with new_file(str(target), overwrite=True) as out:
        out.write(b"newer")
    assert target.read_text() == "newer"
    assert os.listdir(tmp_path) == ["a.csv"]
