"""How is it read?

`run.py` runs the plan of a scan, part by part, on several threads, and splits a scan into tasks. `tasks.py` runs tasks
in other processes. `result.py` gives rows of several shards the same columns. `receipt.py` reports what a scan did.
`sorting.py` puts rows into another order, even if they do not fit into memory.
"""

from typing import TYPE_CHECKING

from amudai.lazy import lazy_names

if TYPE_CHECKING:
    from amudai.scan.receipt import Explanation, LeafReport, Note, Receipt
    from amudai.scan.result import ResultColumns
    from amudai.scan.run import ScanRun
    from amudai.scan.sorting import SortBy, sort_keys, sorted_batches
    from amudai.scan.tasks import run_task
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "amudai.scan.receipt": "Explanation LeafReport Note Receipt",
            "amudai.scan.result": "ResultColumns",
            "amudai.scan.run": "ScanRun",
            "amudai.scan.sorting": "SortBy sort_keys sorted_batches",
            "amudai.scan.tasks": "run_task",
        },
    )

__all__ = [
    "Explanation",
    "LeafReport",
    "Note",
    "Receipt",
    "ResultColumns",
    "ScanRun",
    "SortBy",
    "run_task",
    "sort_keys",
    "sorted_batches",
]
