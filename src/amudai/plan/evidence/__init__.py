"""What tells, before values are read, for which rows a leaf can be true?

There is one module for each kind of evidence, all of the same shape: they answer for the rows of one leaf, and what
none of them knows is checked on the values.
"""
