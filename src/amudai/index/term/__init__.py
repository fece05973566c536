"""Which rows have this term?

`spec.py` is what a user asks for, `builder.py` gathers terms while rows are written and puts `pages.py` and
`positions.py` together, within `budget.py` where one is set; `reader.py` answers questions over the pages of `tree.py`,
and `slots.py` knows the rows of positions that are none. Bytes: docs/format/term-index.md.
"""

from typing import Final

from amudai.index.contract import Capabilities, IndexType
from amudai.index.questions import Every, Terms
from amudai.index.term.builder import build_term_index
from amudai.index.term.names import INDEX_TYPE, OLDER_NAMES
from amudai.index.term.reader import TermReader, open_term_index
from amudai.index.term.spec import TermIndex
from amudai.types import BasicType

__all__ = ["TERM", "TermIndex", "TermReader", "open_term_index"]

TERM: Final = IndexType(
    name=INDEX_TYPE,
    label="term index",
    capabilities=Capabilities(questions=frozenset({Terms, Every}), basic_types=frozenset({BasicType.STRING})),
    open=open_term_index,
    build=build_term_index,
    aliases=OLDER_NAMES,
)
