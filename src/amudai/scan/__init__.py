"""How is it read?

`run.py` runs the plan of a scan, part by part, on several threads. `tasks.py` splits a scan into tasks for
other processes and runs them there. `receipt.py` reports what a scan did. `sorting.py` puts rows into another order,
even if they do not fit into memory.
"""

from typing import TYPE_CHECKING

from amudai.lazy import lazy_names

if TYPE_CHECKING:
    from amudai.scan.receipt import Explanation, LeafReport
    from amudai.scan.run import ScanRun
    from amudai.scan.sorting import SortBy, sort_keys, sorted_batches
    from amudai.scan.tasks import run_task, tasks_of
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "amudai.scan.receipt": "Explanation LeafReport",
            "amudai.scan.run": "ScanRun",
            "amudai.scan.sorting": "SortBy sort_keys sorted_batches",
            "amudai.scan.tasks": "run_task tasks_of",
        },
    )

__all__ = [
    "Explanation",
    "LeafReport",
    "ScanRun",
    "SortBy",
    "run_task",
    "sort_keys",
    "sorted_batches",
    "tasks_of",
]
