"""Does a shard find what a full scan finds, and how fast is it compared with Parquet?  make demo"""
