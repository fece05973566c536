"""Which rows have this term?

`kind.py` registers the type, and `spec.py` has the class that users pass. `builder.py` collects terms while rows are
written; `pages_writer.py` writes the terms and `positions_writer.py` their lists. `budget.py` keeps it within a size
limit. `reader.py` answers questions with the pages that `tree.py` reads, and `slots.py` finds rows of positions that
are slots. Bytes: docs/format/term-index.md.
"""
