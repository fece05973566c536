"""Which rows have exactly this value?

An index of hashes. `kind.py` registers the type, `spec.py` has the class that users pass, `keys.py` computes hashes,
and `layout.py` has the schema of what is stored. `builder.py` collects hashes and rows, `partition.py` writes them in
buckets, and `reader.py` looks hashes up. Bytes: docs/format/hash-index.md.
"""
