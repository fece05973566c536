"""`python -m tests.fuzz [TARGET ...] --seconds 60`: fuzz each target with libFuzzer, by way of Atheris.

Inputs that reach new code are kept in `build/fuzz-corpus`. Those that are part of the repository are in
`tests/fuzz/corpus`; `--keep` adds the smallest set that reaches all that was reached. An input that fails is written
to `tests/fuzz/crashers`. `tests/fuzz/test_targets.py` reads both again whenever the tests run.

With the kernels of `build/fuzz`, which `make fuzz` compiles if there is a Clang, the fuzzer sees what the kernels
cover, and AddressSanitizer and UndefinedBehaviorSanitizer check them.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

from tests.fuzz.corpus import CORPUS, CRASHERS, content_of
from tests.fuzz.targets import TARGETS

ROOT = Path(__file__).resolve().parents[2]
FOUND = ROOT / "build" / "fuzz-corpus"
KERNELS = ROOT / "build" / "fuzz"
LIMITS = ("-rss_limit_mb=3000", "-timeout=60", "-report_slow_units=60", "-print_final_stats=1")
_PROGRESS = re.compile(r"#(\d+)\s+\w+\s+cov: (\d+) ft: (\d+) corp: (\d+)")


def environment(kernels: str | None) -> dict[str, str]:
    """The environment of a fuzzing process: sanitized kernels of this level, or those that are installed."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    found = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    if kernels is None:
        return found
    import atheris

    runtime = Path(atheris.path()) / "asan_with_fuzzer.so"
    return found | {
        "LD_PRELOAD": str(runtime),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1:quarantine_size_mb=16",
        "PYTHONMALLOC": "malloc",
        "ARROW_DEFAULT_MEMORY_POOL": "system",
        "AMUDAI_KERNELS_DIR": str(KERNELS),
        "AMUDAI_KERNELS": kernels,
    }


def fuzz(name: str, seconds: int, kernels: str | None, keep: bool) -> bool:
    """Fuzz one target. Whether nothing was found."""
    corpus = FOUND / name
    corpus.mkdir(parents=True, exist_ok=True)
    (CRASHERS / name).mkdir(parents=True, exist_ok=True)
    for number, data in enumerate([*content_of(name), *TARGETS[name].seeds()]):
        (corpus / f"seed-{number}").write_bytes(data)
    command = [sys.executable, "-m", "tests.fuzz.one", name, *LIMITS]
    output = [f"-artifact_prefix={CRASHERS / name}/"]
    done = subprocess.run(
        [*command, *output, f"-max_total_time={seconds}", corpus],
        env=environment(kernels), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace",
        check=False,
    )  # fmt: skip
    steps = _PROGRESS.findall(done.stderr)
    runs, edges, features, inputs = steps[-1] if steps else ("0", "0", "0", "0")
    label = f"{name} ({kernels or 'installed'} kernels)"
    print(f"{label:32} {runs:>9} runs  {edges:>6} edges  {features:>7} features  {inputs:>5} inputs", flush=True)
    if done.returncode:
        print("\n".join(done.stderr.splitlines()[-60:]))
        return False
    if keep:
        kept = CORPUS / name
        kept.mkdir(parents=True, exist_ok=True)
        subprocess.run([*command, "-merge=1", kept, corpus], env=environment(kernels), capture_output=True, check=True)
        assert any(kept.iterdir()), f"{name}: libFuzzer kept no input"
    return True


def main() -> int:
    """Fuzz the named targets, or all of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--seconds", type=int, default=60, help="for each target and each level of kernels")
    parser.add_argument("--keep", action="store_true", help="add to tests/fuzz/corpus what reaches new code")
    parser.add_argument("--kernels", choices=("base", "v3"), help="one level; both if it is not given")
    given = parser.parse_args()
    levels: list[str | None] = [None]
    if list(KERNELS.glob("_kernels_v3*.so")):
        levels = ["base", "v3"] if given.kernels is None else [given.kernels]
    if levels == [None]:
        print("The kernels are not instrumented: no Clang was found. The fuzzer sees what Python covers.")
    found = [fuzz(name, given.seconds, level, given.keep) for name in given.targets or TARGETS for level in levels]
    return 0 if all(found) else 1


if __name__ == "__main__":
    raise SystemExit(main())
