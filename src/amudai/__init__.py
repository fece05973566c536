"""Amudai: columnar shards that carry their own indexes, read as Arrow."""
