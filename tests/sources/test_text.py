"""Encodings of text files: which one a file has, and what it says in UTF-8."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amudai.errors import InvalidArgument
from amudai.sources.files import InputFile
from amudai.sources.text import TextStream, check_encoding, encoding_of

TEXT = "name;city\nMüller;Zürich\nŁukasz;Łódź\n"


def read(path: Path, encoding: str, size: int = 7) -> bytes:
    with TextStream(InputFile.at(str(path)), encoding) as stream:
        return b"".join(iter(lambda: stream.read(size), b""))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be"])
def test_unicode_is_recognised(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_bytes(TEXT.encode(encoding))
    found, _ = encoding_of(path.read_bytes())
    assert found == encoding.removesuffix("-sig")
    assert read(path, found) == TEXT.encode()


def test_other_bytes_are_windows_1252_or_latin_1() -> None:
    assert encoding_of("Zürich, 5 €".encode("cp1252")) == ("cp1252", "not UTF-8")
    assert encoding_of("Zürich\x81".encode("latin-1")) == ("latin-1", "not UTF-8")
    # One bad byte among many good ones is damage.
    assert encoding_of("äöü".encode() * 20 + b"\xff") == ("utf-8", "mostly UTF-8")
    assert encoding_of(b"") == ("utf-8", "")
    assert encoding_of("ü".encode()[:1]) == ("utf-8", "")  # the sample ends within a character


@given(text=st.text(st.characters(codec="utf-8", exclude_characters="\ufeff"), max_size=20), size=st.integers(1, 9))
def test_blocks_may_end_within_characters(text: str, size: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("text") / "t"
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-be"):
        path.write_bytes(text.encode(encoding))
        assert read(path, encoding, size) == text.encode()


def test_bytes_without_meaning_are_no_utf8_either(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_bytes(b"a\n\x81\nb")
    found = read(path, "cp1252")
    assert found.split(b"\n")[::2] == [b"a", b"b"]
    with pytest.raises(UnicodeDecodeError):
        found.decode()


def test_encodings_have_names() -> None:
    with pytest.raises(InvalidArgument, match=r"encoding: expected a name such as .* found 'klingon'"):
        check_encoding("klingon")
