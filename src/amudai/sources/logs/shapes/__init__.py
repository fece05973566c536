"""Which line formats are well known?

Each module has the shapes of one family. `catalog.py` lists them all. A shape whose template depends on the file, such
as one with a header, is made by a function in `headed.py` or `keyed.py`.
"""
