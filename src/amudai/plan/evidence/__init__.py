"""What tells, before values are read, for which rows a leaf can be true?

There is one module for each kind of evidence, and all have the same shape: they say for which rows one leaf is true.
Rows that no evidence decides are checked on their values.
"""
