"""Which rows have just this value?

An index of hashes: `spec.py` is what a user asks for, `keys.py` what is hashed, `builder.py` gathers hashes and rows,
`partition.py` writes them in buckets, `reader.py` looks one up. Bytes: docs/format/hash-index.md.
"""

from amudai.index.hash.builder import HashIndexBuilder
from amudai.index.hash.keys import KEY_TYPES
from amudai.index.hash.reader import HashIndexReader
from amudai.index.hash.spec import FIELD_HASHING, HashIndex

__all__ = ["FIELD_HASHING", "KEY_TYPES", "HashIndex", "HashIndexBuilder", "HashIndexReader"]
