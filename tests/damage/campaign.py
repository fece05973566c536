"""Damage shards in many ways, read them in every way, and count what happens.

    python -m tests.damage.campaign [--count N] [--seed N] [--state FILE] [--workers N]

Each number stands for one damage: the same seed and number give the same damage. First every byte of the small subjects
is flipped, then all kinds of damage come by chance. The state file says how far a campaign came, so that it can be
stopped and continued. A worker process that ends, hangs or takes too much memory is an outcome too.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection, wait
from pathlib import Path
from random import Random
from typing import Any

from amudai import Shard
from amudai.errors import AmudaiError
from tests.damage.subjects import LAZILY, QUESTIONS, ROOT, DecayingStore, Subject, subjects

Files = dict[str, bytes]

SEED = 20_261_117
_MOST_WORK = 60.0  # seconds of processor time that one damage may take
_LONGEST = 900.0  # seconds that one damage may take, on a machine that does other things as well
_MEMORY = 6 << 30  # bytes of address space of a worker
_CHUNK = 2000  # damages of a worker process, which takes seconds to start

# What may happen, from harmless to a failure.
OUTCOMES = {
    "error": "every way to read that touches the damage raises an error of this library, others give the right rows",
    "verify": "all ways to read give the right rows, and verify finds the damage",
    "unnoticed": "all ways to read give the right rows, and verify finds nothing",
    "exchanged": "whole blocks of another shard, with their checksums: a way to read gives their rows, verify finds it "
    "if the root notes identities",
    "wrong": "a way to read gives other rows without an error",
    "foreign": "an exception that is not of this library",
    "crash": "the process ends, hangs or takes too much memory",
}
FAILURES = ("wrong", "foreign", "crash")


@dataclass(frozen=True)
class Damage:
    """One damage: to which subject, what was done, and the files afterwards."""

    subject: Subject
    kind: str
    what: str
    files: Files

    @property
    def is_piece_of_another(self) -> bool:
        """Whether a piece of the root, and not a whole file, is that of another shard."""
        changed = {name for name, content in self.files.items() if content != self.subject.files[name]}
        return self.kind == "of another shard" and changed == {ROOT}


@dataclass(frozen=True)
class Outcome:
    """What happened after a damage. `detail` says which way to read gave what, if that was a failure."""

    number: int
    subject: str
    kind: str
    outcome: str
    detail: str = ""


# ---- damages ----


def _flip(content: bytes, at: int, bit: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 1 << bit]) + content[at + 1 :]


def _one(random: Random, subject: Subject) -> tuple[str, bytes]:
    """A file of a subject."""
    return random.choice(sorted(subject.files.items()))


def _flip_one(random: Random, subject: Subject) -> tuple[str, Files]:
    name, content = _one(random, subject)
    at, bit = random.randrange(len(content)), random.randrange(8)
    return f"{name}: bit {bit} of byte {at}", {name: _flip(content, at, bit)}


def _flip_two(random: Random, subject: Subject) -> tuple[str, Files]:
    name, content = _one(random, subject)
    places = [(random.randrange(len(content)), random.randrange(8)) for _ in range(2)]
    for at, bit in places:
        content = _flip(content, at, bit)
    return f"{name}: bits {places}", {name: content}


def _zeros(random: Random, subject: Subject) -> tuple[str, Files]:
    name, content = _one(random, subject)
    start, size = random.randrange(len(content)), random.choice([1, 4, 16, 64, 512, 4096])
    end = min(len(content), start + size)
    return f"{name}: zeros at {start}..{end}", {name: content[:start] + bytes(end - start) + content[end:]}


def _noise(random: Random, subject: Subject) -> tuple[str, Files]:
    name, content = _one(random, subject)
    start = random.randrange(len(content))
    bad = random.randbytes(random.choice([1, 2, 4, 8, 32]))[: len(content) - start]
    return f"{name}: noise at {start}", {name: content[:start] + bad + content[start + len(bad) :]}


def _swap(random: Random, subject: Subject) -> tuple[str, Files]:
    name, content = _one(random, subject)
    size = random.choice([1, 4, 8, 16, 64])
    a, b = sorted(random.randrange(max(1, len(content) - size)) for _ in range(2))
    b = max(b, a + size)
    swapped = content[:a] + content[b : b + size] + content[a + size : b] + content[a : a + size] + content[b + size :]
    return f"{name}: {size} bytes at {a} and {b} swapped", {name: swapped}


def _cut(random: Random, subject: Subject) -> tuple[str, Files]:
    name, content = _one(random, subject)
    size = random.randrange(len(content))
    return f"{name}: cut to {size} bytes", {name: content[:size]}


def _extend(random: Random, subject: Subject) -> tuple[str, Files]:
    name, content = _one(random, subject)
    more = random.randbytes(random.choice([1, 8, 64])) if random.random() < 0.5 else content[-random.randrange(1, 99) :]
    return f"{name}: {len(more)} bytes more", {name: content + more}


def _stale(random: Random, subject: Subject) -> tuple[str, Files]:
    """A file of another shard of the same shape in place of one of its own."""
    name = random.choice(sorted(subject.files))
    suffix = name.rpartition(".")[2]
    others = [other for other in sorted(subject.others) if other.rpartition(".")[2] == suffix and other != ROOT]
    if name == ROOT or not others:
        # A piece of another shard's root at the same place.
        mine, other = subject.files[ROOT], subject.others[ROOT]
        start = random.randrange(min(len(mine), len(other)))
        end = min(start + random.choice([8, 64, 512]), len(mine), len(other))
        return f"{ROOT}: {start}..{end} of another shard", {ROOT: mine[:start] + other[start:end] + mine[end:]}
    other = random.choice(others)
    return f"{name}: the content of another shard's {suffix}", {name: subject.others[other]}


def _exchange(random: Random, subject: Subject) -> tuple[str, Files]:
    """Two files of a shard exchanged, or one that is a copy of the root. Another root would be another shard."""
    names = sorted(set(subject.files) - {ROOT})
    if len(names) < 2:
        return _swap(random, subject)
    one, two = random.sample(names, 2)
    if random.random() < 0.3:
        return f"{one}: a copy of the root", {one: subject.files[ROOT], ROOT: subject.files[ROOT]}
    return f"{one} and {two} exchanged", {one: subject.files[two], two: subject.files[one]}


def _missing(random: Random, subject: Subject) -> tuple[str, Files]:
    names = [name for name in sorted(subject.files) if name != ROOT]
    if not names:
        return f"{ROOT}: empty", {ROOT: b""}
    name = random.choice(names)
    return f"{name}: empty", {name: b""}


KINDS: dict[str, Callable[[Random, Subject], tuple[str, Files]]] = {
    "flipped bit": _flip_one,
    "two flipped bits": _flip_two,
    "zeros": _zeros,
    "noise": _noise,
    "swapped pieces": _swap,
    "cut short": _cut,
    "extended": _extend,
    "of another shard": _stale,
    "exchanged files": _exchange,
    "emptied file": _missing,
}
# Flipped bits are what happens most.
_WEIGHTS = [6, 3, 3, 3, 2, 2, 2, 2, 1, 1]


class Campaign:
    """All damages of a seed, by number."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.subjects = list(subjects())
        self._small = [
            (subject, name, at)
            for subject in self.subjects
            if subject.is_small
            for name in sorted(subject.files)
            for at in range(len(subject.files[name]))
        ]

    @property
    def flips(self) -> int:
        """How many damages flip each byte of the small subjects."""
        return len(self._small)

    def damage(self, number: int) -> Damage:
        random = Random(f"{self.seed} {number}")
        if number < len(self._small):
            subject, name, at = self._small[number]
            files = {name: _flip(subject.files[name], at, random.randrange(8))}
            return Damage(subject, "every byte flipped", f"{name}: byte {at}", {**subject.files, **files})
        subject = random.choice(self.subjects)
        kind = random.choices(list(KINDS), _WEIGHTS)[0]
        while True:
            what, files = KINDS[kind](random, subject)
            damaged = {**subject.files, **files}
            if damaged != subject.files:  # zeros may be zeros already
                return Damage(subject, kind, what, damaged)

    def _ways(self, damage: Damage, number: int) -> Iterator[tuple[str, str, Callable[[], Shard]]]:
        """Each question with a shard to ask: opened anew, asked others before, or opened before the damage."""
        subject = damage.subject
        asked = [name for name in QUESTIONS if subject.answers[name] is not None]  # it has the columns for these
        for name in asked:
            yield "", name, lambda: subject.open(damage.files)
        lazily = [name for name in LAZILY if name in asked]
        order = Random(number).sample(lazily, len(lazily))
        by_turns = cache(lambda: subject.open(damage.files))
        for name in order:
            yield "by turns: ", name, by_turns
        store = DecayingStore(subject.files)
        opened = subject.open_in(store)
        QUESTIONS[order[0]](opened)
        store.decay(damage.files)
        for name in order[1:3]:
            yield f"opened before, asked {order[0]}: ", name, lambda: opened

    def outcome(self, number: int) -> Outcome:
        """Do the damage, and read the shard in every way."""
        damage = self.damage(number)
        subject = damage.subject

        def told(outcome: str, detail: str = "") -> Outcome:
            return Outcome(number, subject.name, damage.kind, outcome, detail and f"{damage.what}: {detail}")

        def is_sound() -> bool:
            try:
                return subject.open(damage.files).verify().ok
            except AmudaiError:
                return False

        raised = False
        for way, name, open_shard in self._ways(damage, number):
            try:
                answer = QUESTIONS[name](open_shard())
            except AmudaiError:
                raised = True
            except Exception as error:
                return told("foreign", f"{way}{name}: {error!r}")
            else:
                if answer != subject.answers[name]:
                    is_exchanged = damage.is_piece_of_another and not (subject.has_identities and is_sound())
                    return told("exchanged" if is_exchanged else "wrong", f"{way}{name}")
        try:
            sound = is_sound()
        except Exception as error:
            return told("foreign", f"verify: {error!r}")
        if raised and sound:
            return told("wrong", "verify finds nothing, and reading raises an error")
        return told("error" if raised else "unnoticed" if sound else "verify")


# ---- processes ----


def _work(seed: int, first: int, end: int, out: Connection) -> None:
    """Send the number of each damage before it is done, and its outcome afterwards."""
    _limit_memory()
    campaign = Campaign(seed)
    # The subjects stay, and shards leave no cycles: looking for some took an eighth of the time.
    gc.freeze()
    gc.set_threshold(20_000, 10, 100)
    for number in range(first, end):
        signal.setitimer(signal.ITIMER_PROF, _MOST_WORK)  # ends the process
        out.send(number)
        out.send(campaign.outcome(number))
    out.close()


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))


@dataclass
class _Worker:
    process: Any
    results: Connection
    next: int
    end: int
    since: float


def run(seed: int, numbers: range, workers: int) -> Iterator[Outcome]:
    """The outcomes of damages, as they come. Workers are processes: one that ends early is replaced."""
    context = multiprocessing.get_context("spawn")
    left = [(start, min(start + _CHUNK, numbers.stop)) for start in range(numbers.start, numbers.stop, _CHUNK)]
    active: list[_Worker] = []
    while left or active:
        while left and len(active) < workers:
            first, end = left.pop(0)
            mine, theirs = context.Pipe(duplex=False)
            process = context.Process(target=_work, args=(seed, first, end, theirs), daemon=True)
            process.start()
            theirs.close()
            active.append(_Worker(process, mine, first, end, time.monotonic()))
        ready = wait([worker.results for worker in active], timeout=1.0)
        for worker in list(active):
            has_ended = False
            if worker.results in ready:
                try:
                    while worker.results.poll():
                        found = worker.results.recv()
                        worker.since = time.monotonic()
                        if isinstance(found, Outcome):
                            worker.next = found.number + 1
                            yield found
                except EOFError:
                    has_ended = True
            if not has_ended and time.monotonic() - worker.since > _LONGEST:
                worker.process.kill()
                has_ended = True
            if has_ended:
                worker.process.join()
                active.remove(worker)
                if worker.next < worker.end:
                    detail = f"the process ended with code {worker.process.exitcode}"
                    yield Outcome(worker.next, "", "", "crash", detail)
                    left.insert(0, (worker.next + 1, worker.end))


# ---- the report ----


def table(counts: Counter[tuple[str, str]]) -> str:
    """The outcomes by kind of damage, as Markdown."""
    kinds = sorted({kind for kind, _ in counts}, key=[*KINDS, "every byte flipped", ""].index)
    lines = [f"| damage | number | {' | '.join(OUTCOMES)} |", f"|---|{'---:|' * (len(OUTCOMES) + 1)}"]
    for kind in [*kinds, None]:
        found = [sum(n for (k, o), n in counts.items() if kind in (None, k) and o == each) for each in OUTCOMES]
        name = "all" if kind is None else kind
        lines.append(f"| {name} | {sum(found):,} | {' | '.join(f'{number:,}' for number in found)} |")
    return "\n".join(lines)


def main() -> int:
    """Run the campaign, or continue it; 0 if nothing failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000, help="damages in all")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--workers", type=int, default=multiprocessing.cpu_count())
    parser.add_argument("--state", type=Path, help="a file that says how far the campaign came")
    parser.add_argument("--number", type=int, help="do this one damage here, and say what happens")
    options = parser.parse_args()
    if options.number is not None:
        print(Campaign(options.seed).outcome(options.number))
        return 0
    done, counts, failures = 0, Counter[tuple[str, str]](), []
    if options.state is not None and options.state.exists():
        saved = json.loads(options.state.read_text())
        if saved["seed"] == options.seed:
            done, failures = saved["done"], saved["failures"]
            counts = Counter({(kind, outcome): number for kind, outcome, number in saved["counts"]})
    step = _CHUNK * options.workers
    for start in range(done, options.count, step):
        numbers = range(start, min(start + step, options.count))
        for found in run(options.seed, numbers, options.workers):
            counts[found.kind, found.outcome] += 1
            if found.outcome in FAILURES:
                failures.append([found.number, found.subject, found.kind, found.outcome, found.detail])
                print(f"{found.outcome}: {found}", file=sys.stderr)
        if options.state is not None:
            flat = [[kind, outcome, number] for (kind, outcome), number in counts.items()]
            saved = {"seed": options.seed, "done": numbers.stop, "counts": flat, "failures": failures}
            options.state.parent.mkdir(parents=True, exist_ok=True)
            options.state.write_text(json.dumps(saved))
        print(f"{numbers.stop:,} of {options.count:,}, {len(failures)} failures", file=sys.stderr)
    print(f"seed {options.seed}\n\n{table(counts)}")
    for each in failures[:20]:
        print(*each)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
