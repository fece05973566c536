"""The encodings of text files: deciding which one a file has, and reading it as UTF-8.

A byte order mark decides. Without one, text that is UTF-8 is UTF-8; text in which every second byte is zero is UTF-16;
other text is Windows-1252, or Latin-1 where it has bytes that Windows-1252 lacks. A few other bytes among many
characters of UTF-8 are damage, not another encoding.
"""

from __future__ import annotations

import codecs
from types import TracebackType
from typing import Final, Self

from amudai import _kernels
from amudai.errors import InvalidArgument
from amudai.sources.files import InputFile

__all__ = ["SAMPLE", "SINGLE_BYTE", "TextStream", "check_encoding", "encoding_of"]

# The bytes from which an encoding is decided.
SAMPLE: Final = 1 << 18
# What `encoding_of` calls text that is neither UTF-8 nor UTF-16.
SINGLE_BYTE: Final = frozenset({"cp1252", "latin-1"})

_MARK: Final = "\ufeff".encode()
_MARKS: Final = {
    b"\xff\xfe\x00\x00": "utf-32",
    b"\x00\x00\xfe\xff": "utf-32",
    _MARK: "utf-8",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
_NOT_TEXT: Final = "amudai.not-text"


def _mark_error(error: UnicodeError) -> tuple[str, int]:
    """A lone surrogate in place of bytes that have no meaning: as UTF-8 it is wrong too, so its record is bad."""
    assert isinstance(error, UnicodeDecodeError)
    return "\ud800", error.end


codecs.register_error(_NOT_TEXT, _mark_error)


def check_encoding(name: str) -> None:
    """Raise an error for an encoding that Python does not know.

    >>> check_encoding("latin-1")
    """
    try:
        codecs.lookup(name)
    except (LookupError, ValueError) as error:  # a null character, or a lone surrogate
        message = f"encoding: expected a name such as utf-8, utf-16 or cp1252, found {name!r}"
        raise InvalidArgument(message) from error


def encoding_of(beginning: bytes) -> tuple[str, str]:
    """The encoding of a file that begins with these bytes, and why.

    >>> encoding_of("Zürich".encode("cp1252"))
    ('cp1252', 'not UTF-8')
    """
    for mark, name in _MARKS.items():
        if beginning.startswith(mark):
            return name, "byte order mark"
    wide = _wide(beginning)
    if wide is not None:
        return wide, "every second byte is zero"
    try:
        # The sample may end within a character.
        codecs.getincrementaldecoder("utf-8")().decode(beginning)
    except UnicodeDecodeError:
        pass
    else:
        return "utf-8", ""
    if _is_damaged(beginning):
        return "utf-8", "mostly UTF-8"
    undefined = any(byte in beginning for byte in (0x81, 0x8D, 0x8F, 0x90, 0x9D))
    return "latin-1" if undefined else "cp1252", "not UTF-8"


def _wide(beginning: bytes) -> str | None:
    """UTF-16, in which every second byte of Western text is zero; None for other text."""
    half = len(beginning) // 2
    if half >= 8 and beginning.count(0) > half // 2:
        if beginning[1::2].count(0) > 0.7 * half and beginning[::2].count(0) < 0.1 * half:
            return "utf-16-le"
        if beginning[::2].count(0) > 0.7 * half and beginning[1::2].count(0) < 0.1 * half:
            return "utf-16-be"
    return None


def _is_damaged(beginning: bytes) -> bool:
    text = beginning.decode("utf-8", "replace")
    return sum(char > "\x7f" for char in text) >= 10 * text.count("\ufffd")


class TextStream:
    """The content of a file as UTF-8, without a byte order mark."""

    def __init__(self, file: InputFile, encoding: str) -> None:
        self._stream = file.open()
        self._decoder = None
        if codecs.lookup(encoding).name not in ("utf-8", "utf-8-sig"):
            self._decoder = codecs.getincrementaldecoder(encoding)(_NOT_TEXT)
        self._begun = False

    def read(self, size: int) -> bytes:
        """The next bytes, about `size` of them; none at the end."""
        while True:
            found = self._stream.read(size if self._begun else max(size, len(_MARK)))
            is_final = not found
            if self._decoder is not None:
                found = self._decoder.decode(found, is_final).encode("utf-8", "surrogatepass")
            if not self._begun and found:
                self._begun = True
                found = found.removeprefix(_MARK)
            if found or is_final:
                return bytes(found)

    def read_behind(self, rest: bytes, size: int) -> memoryview:
        """`rest` and the next bytes in one piece. It is `rest` at the end of the file."""
        if self._decoder is not None or (rest and not self._begun):
            return memoryview(rest + self.read(size))
        size = size if self._begun else max(size, len(_MARK))
        memory = _kernels.new_bytes(len(rest) + size).data
        memory[: len(rest)] = rest
        found = memory[: len(rest) + self._stream.readinto(memory[len(rest) :])]
        if not self._begun and found:
            self._begun = True
            if found[: len(_MARK)] == _MARK:
                return found[len(_MARK) :] if len(found) > len(_MARK) else self.read_behind(rest, size)
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()
