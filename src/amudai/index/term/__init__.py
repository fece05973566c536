"""Which rows have this term?

`kind.py` says which questions it answers, `spec.py` is what a user asks for. `builder.py` gathers terms while rows are
written and puts `pages.py` and `positions.py` together, within `budget.py` where one is set; `reader.py` answers
questions over the pages of `tree.py`, and `slots.py` knows the rows of positions that are none. Bytes:
docs/format/term-index.md.
"""
