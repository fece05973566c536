"""Fields of systemd's journal that are no plain text."""

import pytest

from amudai.sources.logs.journal import array_text, sized_text


@pytest.mark.parametrize(
    ("stored", "text"),
    [
        (b"[]", ""),
        (b"[0, 255]", "\0\\xff"),
        (b'["a", "b"], "next": 1}', "a\nb"),
        (b'["a", [98, [99]]]', '["a", [98, [99]]]'),
        (b"[true, false]", "[true, false]"),
        (b"[1.5]", "[1.5]"),
        (b"[1, 256] and more", "[1, 256]"),
        (b'["\\ud800"]', "?"),
        (b"[1, 2", "[1, 2"),
    ],
)
def test_arrays_become_text_or_stay_as_they_are(stored: bytes, text: str) -> None:
    assert array_text(stored) == text


@pytest.mark.parametrize("depth", [500, 5_000, 50_000])
def test_deep_arrays_stay_as_they_are(depth: int) -> None:
    stored = b"[" * depth + b"]" * depth
    assert array_text(stored) in ("", stored.decode())


def test_a_size_that_is_wrong_is_text() -> None:
    assert sized_text(bytes([9, 0, 0, 0, 0, 0, 0, 0]) + b"a\n") == "\t" + "\0" * 7 + "a\n"
