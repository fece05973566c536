"""One file per encoding of strings and bytes, each with its code, `decode` and `encode`."""
