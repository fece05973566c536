"""How is it read?

`run.py` runs the plan of a scan, part by part, on the threads of `threads.py`. `tasks.py` cuts a scan into tasks for
other processes and runs them there. `receipt.py` says what a scan did.
"""

from amudai.scan.receipt import Explanation, LeafReport
from amudai.scan.run import ScanRun
from amudai.scan.tasks import run_task, tasks_of
from amudai.scan.threads import run_each, thread_count

__all__ = ["Explanation", "LeafReport", "ScanRun", "run_each", "run_task", "tasks_of", "thread_count"]
