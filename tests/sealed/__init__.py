"""Shards of every feature as they were written once. They are kept for ever and must always be read."""
