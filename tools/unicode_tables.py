"""Write `cpp/text/unicode_tables.hpp`: which code points make words, and how their case folds.

Both tables are frozen: an index holds what they said when it was written. Words follow Unicode 17.0 (Alphabetic, Nd,
Nl, No), which the `regex` package knows up to 2026.1; folding follows the upper case of Unicode 14.0, which Python 3.11
knows, where it is one code point, and takes ß to ẞ besides.

    python3.11 -m venv build/unicode && build/unicode/bin/pip install regex==2026.1.15
    build/unicode/bin/python tools/unicode_tables.py
"""

import unicodedata
from pathlib import Path

import regex

TARGET = Path(__file__).parent.parent / "cpp" / "text" / "unicode_tables.hpp"
LIMIT = 0x110000
WORDS, FOLDS = 149_106, 1_424


def scalars() -> list[int]:
    """All code points that text can hold."""
    return [code for code in range(LIMIT) if not 0xD800 <= code <= 0xDFFF]


def words() -> set[int]:
    """The code points that words are made of."""
    pattern = regex.compile(r"[\p{Alphabetic}\p{Nd}\p{Nl}\p{No}]")
    found = {code for code in scalars() if pattern.match(chr(code))}
    assert len(found) == WORDS, f"regex {regex.__version__} knows another Unicode: {len(found)} instead of {WORDS}"
    return found


def folds() -> dict[int, int]:
    """What each code point that has another case folds to."""
    assert unicodedata.unidata_version == "14.0.0", "run with Python 3.11"
    found = {code: ord(chr(code).upper()) for code in scalars() if len(chr(code).upper()) == 1}
    found = {code: upper for code, upper in found.items() if upper != code}
    found[0xDF] = 0x1E9E
    assert len(found) == FOLDS, len(found)
    return dict(sorted(found.items()))


def rows(values: list[str], width: int) -> str:
    """Values separated by commas, some to a line."""
    lines = (values[at : at + width] for at in range(0, len(values), width))
    return "\n".join("    " + ", ".join(line) + "," for line in lines)


def main() -> None:
    """Write the header."""
    letters = words()
    pages: dict[bytes, int] = {}
    index: list[str] = []
    for start in range(0, LIMIT, 256):
        page = bytearray(32)
        for code in range(256):
            if start + code in letters:
                page[code >> 3] |= 1 << (code & 7)
        index.append(str(pages.setdefault(bytes(page), len(pages))))
    assert len(pages) <= 256
    flat = [f"0x{byte:02x}" for page in pages for byte in page]
    pairs = [f"{{0x{code:x}, 0x{upper:x}}}" for code, upper in folds().items()]
    TARGET.write_text(
        "// Made by tools/unicode_tables.py: do not edit.\n"
        "#pragma once\n\n#include <array>\n#include <cstdint>\n\nnamespace amudai::text {\n\n"
        "// Which page of 256 code points has which bits.\n"
        f"inline constexpr std::array<std::uint8_t, {len(index)}> word_pages{{\n{rows(index, 24)}\n}};\n\n"
        "// Distinct pages: a bit for each code point that words are made of.\n"
        f"inline constexpr std::array<std::uint8_t, {len(flat)}> word_bits{{\n{rows(flat, 16)}\n}};\n\n"
        "struct Fold {\n    std::uint32_t code, upper;\n};\n\n"
        f"inline constexpr std::array<Fold, {len(pairs)}> folds{{{{\n{rows(pairs, 6)}\n}}}};\n\n"
        "}  // namespace amudai::text\n"
    )


if __name__ == "__main__":
    main()
