"""What is measured on a data set."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Spec:
    make: object  # number of rows -> pyarrow.Table
    rows: int  # default size
    two: list  # columns of the 2-column projection
    decode: dict = field(default_factory=dict)  # class of column -> column name
    take: bool = False
    filters: object = None  # table -> {work name: ([(col, op, value)...], output columns)}
    text: str | None = None  # column searched for `searches` and `part`
    searches: dict = field(default_factory=dict)  # name -> words that a row must have; substring match == word match
    part: str = ""  # part of a word
    check: str | None = None  # integer-like column used as a cheap checksum
