"""Where is this value?

`contract.py` defines an index type, `questions.py` the questions that an index can answer, and `catalog.py` lists the
types. Answers are `rows.Positions`.
"""

from typing import TYPE_CHECKING

from amudai.lazy import lazy_names

if TYPE_CHECKING:
    from amudai.index.artifacts import IndexArtifactReader, open_artifact
    from amudai.index.build import index_sinks
    from amudai.index.carrying import carried_indexes, is_movable, specs_of
    from amudai.index.catalog import index_type, register
    from amudai.index.changes import index_before_renaming, index_without
    from amudai.index.checking import check_index
    from amudai.index.contract import (
        BuildPlan,
        Capabilities,
        IndexReader,
        IndexSpec,
        IndexType,
        TermCounts,
        Vocabulary,
        require_level,
    )
    from amudai.index.hash.need import needless_fields
    from amudai.index.hash.spec import HashIndex
    from amudai.index.numbering import Numbering
    from amudai.index.paths import field_paths
    from amudai.index.questions import (
        Between,
        CompositeKeys,
        Every,
        IndexQuestion,
        Keys,
        Match,
        Number,
        Question,
        StoredKeys,
        Terms,
    )
    from amudai.index.range import RangeProbe, open_range
    from amudai.index.statistics import Matching, bloom_rules_out, could_hold
    from amudai.index.term.custom import OPERATORS, Collation, Tokenizer, register_collation, register_tokenizer
    from amudai.index.term.kind import TERM
    from amudai.index.term.spec import TermIndex
    from amudai.index.term.vocabulary import term_hash
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "amudai.index.artifacts": "IndexArtifactReader open_artifact",
            "amudai.index.build": "index_sinks",
            "amudai.index.carrying": "carried_indexes is_movable specs_of",
            "amudai.index.catalog": "index_type register",
            "amudai.index.changes": "index_before_renaming index_without",
            "amudai.index.checking": "check_index",
            "amudai.index.contract": (
                "BuildPlan Capabilities IndexReader IndexSpec IndexType TermCounts Vocabulary require_level"
            ),
            "amudai.index.hash.need": "needless_fields",
            "amudai.index.hash.spec": "HashIndex",
            "amudai.index.numbering": "Numbering",
            "amudai.index.paths": "field_paths",
            "amudai.index.questions": (
                "Between CompositeKeys Every IndexQuestion Keys Match Number Question StoredKeys Terms"
            ),
            "amudai.index.range": "RangeProbe open_range",
            "amudai.index.statistics": "Matching bloom_rules_out could_hold",
            "amudai.index.term.custom": "OPERATORS Collation Tokenizer register_collation register_tokenizer",
            "amudai.index.term.kind": "TERM",
            "amudai.index.term.spec": "TermIndex",
            "amudai.index.term.vocabulary": "term_hash",
        },
    )

__all__ = [
    "OPERATORS",
    "TERM",
    "Between",
    "BuildPlan",
    "Capabilities",
    "Collation",
    "CompositeKeys",
    "Every",
    "HashIndex",
    "IndexArtifactReader",
    "IndexQuestion",
    "IndexReader",
    "IndexSpec",
    "IndexType",
    "Keys",
    "Match",
    "Matching",
    "Number",
    "Numbering",
    "Question",
    "RangeProbe",
    "StoredKeys",
    "TermCounts",
    "TermIndex",
    "Terms",
    "Tokenizer",
    "Vocabulary",
    "bloom_rules_out",
    "carried_indexes",
    "check_index",
    "could_hold",
    "field_paths",
    "index_before_renaming",
    "index_sinks",
    "index_type",
    "index_without",
    "is_movable",
    "needless_fields",
    "open_artifact",
    "open_range",
    "register",
    "register_collation",
    "register_tokenizer",
    "require_level",
    "specs_of",
    "term_hash",
]
