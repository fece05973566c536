"""Several threads and processes on the same shards."""
