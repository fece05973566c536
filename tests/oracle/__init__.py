"""What do the bytes of a block mean, said as plainly as possible?

The oracle decodes and encodes every block encoding in slow, pure Python, one small file per encoding. It is written
from the description of the format and shares no code with the package, so that tests can hold the kernels against it.
Encoders here make blocks for tests; they do not try to be small.

Floats travel through the oracle as their bit patterns, never as Python floats: NaN payloads and -0.0 survive. Start
with `block.py` for whole blocks and `section.py` for encoded numbers.
"""
