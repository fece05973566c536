"""Which rows have this term?

`kind.py` registers the type, and `spec.py` has the class that users pass. `builder.py` collects terms while rows are
written; `pages.py` writes the terms and `positions.py` their lists, and `budget.py` makes the index fit a size limit.
`reader.py` answers questions with the pages that `tree.py` reads, and `slots.py` finds the rows of positions that are
slots. Bytes: docs/format/term-index.md.
"""
