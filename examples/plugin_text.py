"""A tokenizer and a collation of another package.

    python -m examples.plugin_text

`trigrams` splits text into all runs of three characters, so that an index finds any part of a text of at least three
characters. `without-marks` makes one term of `cafe` and `café`.
"""

from __future__ import annotations

import unicodedata

import amudai
from amudai import Collation, TermIndex, Tokenizer, col


def trigrams(text: str) -> list[str]:
    """All runs of three characters. A shorter text has none."""
    return [text[at : at + 3] for at in range(len(text) - 2)]


def required(_operator: str, text: str) -> list[str]:
    """Whatever the operator: a value for which it is true contains the text, and so all its runs."""
    return trigrams(text)


def without_marks(term: str) -> str:
    """A term without accents."""
    return "".join(each for each in unicodedata.normalize("NFD", term) if not unicodedata.combining(each))


TRIGRAMS = Tokenizer("example.trigrams", trigrams, required)
WITHOUT_MARKS = Collation("example.without-marks", without_marks)
amudai.register_tokenizer(TRIGRAMS)
amudai.register_collation(WITHOUT_MARKS)


def main() -> None:
    """Write shards with both, and ask them."""
    parts = [f"part-{n * 7919 % 100_003:05x}-{'b' if n % 2 else 'a'}" for n in range(20_000)]
    index = TermIndex("part", tokenizer=TRIGRAMS.name)
    shard = amudai.write({"part": parts}, "parts.amudai.shard", indexes=[index], overwrite=True)
    scan = shard.scan(["part"], where=col("part").contains("0beef-"))
    assert scan.to_table()["part"].to_pylist() == [part for part in parts if "0beef-" in part]
    print(scan.explain())

    index = TermIndex("name", collation=WITHOUT_MARKS.name)
    shard = amudai.write({"name": ["Café noir", "cafe", "tea"]}, "drinks.amudai.shard", indexes=[index], overwrite=True)
    assert shard["name"].terms()["term"].to_pylist() == ["cafe", "noir", "tea"]
    assert shard.read(where=col("name").has("CAFÉ"))["name"].to_pylist() == ["Café noir"]


if __name__ == "__main__":
    main()
