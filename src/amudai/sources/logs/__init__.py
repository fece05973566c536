"""How do the lines of a log become rows with times, levels and fields?

`reader.py` reads a file block by block. `recognise.py` finds out which of the shapes in `shapes/` a log has; their
templates (`template.py`) become programs that a native kernel runs on all lines of a block (`block.py`). `extract.py`
makes columns of what they find, or of the groups of the caller's pattern (`pattern.py`, `grok.py`). `multiline.py` says
which lines belong together, `timestamps.py` and `years.py` what moments the times are.
"""
