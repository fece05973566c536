"""Which rows have just this value?

An index of hashes: `kind.py` says which questions it answers, `spec.py` is what a user asks for, `keys.py` what is
hashed, `layout.py` what is stored. `builder.py` gathers hashes and rows, `partition.py` writes them in buckets,
`reader.py` looks one up. Bytes: docs/format/hash-index.md.
"""
