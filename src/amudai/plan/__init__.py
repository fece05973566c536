"""What must be read?

A `ScanRequest` has the columns, predicate and limits of a scan, and knows no shard. `ShardPlan` binds it to a shard:
`prune.py` asks all evidence (`evidence/`) which rows match and which stay in doubt, and `check.py` checks the rows in
doubt on their values. A `ScanTask` is a part of a plan that any process can run. `leaf.py`, `plain_leaf.py` and
`words.py` have the questions about columns, `matching_numbers.py` and `wanted.py` the stored values that answer them,
`key_rows.py` asks indexes for many values at once, `term_counts.py` for frequent terms, `vocabulary.py` for all terms,
`known_texts.py` asks dictionaries for the texts of a column, and `unusable.py` has the notes about indexes that cannot
be asked. `columns.py` selects the columns of the result, `stripes.py` finds the stripes of rows, and `reading.py` reads
one column of one stripe, or many small ones.
"""

from typing import TYPE_CHECKING

from amudai.lazy import lazy_names

if TYPE_CHECKING:
    from amudai.plan.byte_range import byte_bounds
    from amudai.plan.columns import SelectedColumn, select, select_nodes
    from amudai.plan.key_rows import rows_with_keys
    from amudai.plan.known_texts import dictionary_texts
    from amudai.plan.open_indexes import ShardIndexes
    from amudai.plan.plain_leaf import PlainLeaf
    from amudai.plan.prune import EvidenceStep, LeafEvidence
    from amudai.plan.reading import prepare_columns, read_arrays, read_small_columns
    from amudai.plan.request import OnDamage, ScanRequest
    from amudai.plan.shard_plan import ShardPlan
    from amudai.plan.stripes import rows_by_stripe
    from amudai.plan.task import ScanTask
    from amudai.plan.term_counts import frequent_terms
    from amudai.plan.vocabulary import vocabularies
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "amudai.plan.byte_range": "byte_bounds",
            "amudai.plan.columns": "SelectedColumn select select_nodes",
            "amudai.plan.key_rows": "rows_with_keys",
            "amudai.plan.known_texts": "dictionary_texts",
            "amudai.plan.open_indexes": "ShardIndexes",
            "amudai.plan.plain_leaf": "PlainLeaf",
            "amudai.plan.prune": "EvidenceStep LeafEvidence",
            "amudai.plan.reading": "prepare_columns read_arrays read_small_columns",
            "amudai.plan.request": "OnDamage ScanRequest",
            "amudai.plan.shard_plan": "ShardPlan",
            "amudai.plan.stripes": "rows_by_stripe",
            "amudai.plan.task": "ScanTask",
            "amudai.plan.term_counts": "frequent_terms",
            "amudai.plan.vocabulary": "vocabularies",
        },
    )

__all__ = [
    "EvidenceStep",
    "LeafEvidence",
    "OnDamage",
    "PlainLeaf",
    "ScanRequest",
    "ScanTask",
    "SelectedColumn",
    "ShardIndexes",
    "ShardPlan",
    "byte_bounds",
    "dictionary_texts",
    "frequent_terms",
    "prepare_columns",
    "read_arrays",
    "read_small_columns",
    "rows_by_stripe",
    "rows_with_keys",
    "select",
    "select_nodes",
    "vocabularies",
]
