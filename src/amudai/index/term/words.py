"""What are the words of a text?"""

from __future__ import annotations

from amudai import _kernels

__all__ = ["words"]


def words(text: str) -> list[str]:
    """The runs of letters and digits in `text`, in any script, as the tokenizers `word` and `log` see them.

    Long ones are whole here; an index cuts them.

    >>> words("don't panic: 3-4 tries")
    ['don', 't', 'panic', '3', '4', 'tries']
    """
    # Half a code point is in no word.
    return [word.decode() for word in _kernels.words(text.encode("utf-8", "replace"))]
