"""Does it find what a full scan finds, and how fast, beside Parquet?  make demo"""
