# SPDX-License-Identifier: BSD-3-Clause
"""Loads damaged and edited model files by the thousand, and counts what becomes of them.

    python tests/fuzz/fuzz_model_file.py --n 100000 --seed 0

Each mutant is loaded in a child process, which may crash or hang without harm. One that is accepted goes to an
independent validator, and classifies hostile rows. Every mutant depends on the seed and its number alone; `--only 4711`
makes one again, and `--keep FOLDER` writes those that did harm to files.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import io
import json
import select
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

import numpy as np  # noqa: E402
from fuzz.mutants import mutant  # noqa: E402
from fuzz.seeds import models, rows_for  # noqa: E402
from fuzz.slow_validator import faults  # noqa: E402

import fasttree  # noqa: E402

REFUSED, VALID, INVALID = "refused", "accepted and valid", "accepted and invalid"
WRONG_ERROR, CRASHED, HUNG = "refused by another error", "crashed", "hung"
OUTCOMES = (REFUSED, VALID, INVALID, WRONG_ERROR, CRASHED, HUNG)
HARMLESS = (REFUSED, VALID)
MOST_SECONDS = 20.0  # for one mutant, on a busy machine
MOST_MEMORY = 3 * 2**30


# -- in the child --------------------------------------------------------------------------------------------------


def judge(path: Path) -> tuple[str, str]:
    """What becomes of one file, and a word on it."""
    memory_map = path.name.endswith("map")
    try:
        model = fasttree.load(path, mmap=memory_map)
    except fasttree.ModelFileError as error:
        return REFUSED, str(error)
    except BaseException as error:  # whatever else comes is what is looked for here
        return WRONG_ERROR, f"{type(error).__name__}: {error}"
    try:
        found = faults(model.tree_)
        if not found:
            found = list(_misbehaviour(model))
    except Exception as error:
        found = [f"{type(error).__name__}: {error}"]
    return (INVALID, "; ".join(found[:3])) if found else (VALID, "")


def _misbehaviour(model: Any) -> Iterator[str]:
    """What a tree that passed the validator does not do as it should."""
    rows, tree = rows_for(model.tree_.schema), model.tree_
    refuses = "error" in (getattr(model, "_missing_policy", ""), getattr(model, "unknown", ""))
    refuses = refuses or (hasattr(model, "rules_") and not model.rules_.allow_missing)
    refuses = refuses or (hasattr(model, "rules_") and model.rules_.unknown == "error")
    if tree.node_count > 1:
        tree.subtree(tree.depth < 1)
    model.to_text()
    repr(model), tree.importances(), tree.fingerprint()
    if hasattr(model, "rules") and not model.averaged:
        model.rules().to_text()
    of_numbers = not hasattr(model, "classes_")
    try:
        shares = np.ones((1, 1)) if of_numbers else model.predict_proba(rows)
        labels = model.predict(rows)
    except ValueError as error:
        if not refuses:
            yield f"predict: {error}"
        return
    if not np.isfinite(shares).all() or not np.allclose(shares.sum(axis=1), 1, atol=1e-5):
        yield "class shares of rows"
    known = tree.prediction if of_numbers else model.classes_
    if not set(labels.tolist()) <= set(known.tolist()):
        yield "labels of rows"
    if hasattr(model, "apply"):
        leaves = model.apply(rows)
        if ((leaves < 0) | (leaves >= tree.node_count)).any():
            yield "leaves of rows"


def child() -> None:
    """Mutants by number from stdin; an outcome a line to stdout."""
    with contextlib.suppress(ImportError):  # elsewhere than on Unix a bomb is felt otherwise
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    warnings.simplefilter("ignore")
    originals = originals_of(models())
    with tempfile.TemporaryDirectory() as folder:
        for line in sys.stdin:
            seed, number = map(int, line.split())
            how, data = mutant(seed, number, originals)
            path = Path(folder, "mutant.map" if number % 4 == 0 else "mutant.file")
            path.unlink(missing_ok=True)
            path.write_bytes(data)
            outcome, text = judge(path)
            print(json.dumps([number, how, outcome, text[:300]]), flush=True)


def originals_of(fitted: Sequence[Any]) -> list[bytes]:
    files = []
    with tempfile.TemporaryDirectory() as folder:
        for model in fitted:
            path = Path(folder, "model")
            model.save(path)
            files.append(path.read_bytes())
    return files


# -- in the parent -------------------------------------------------------------------------------------------------


class Child:
    """A process that judges mutants; a new one takes over where one dies or hangs."""

    def __init__(self) -> None:
        self.deaths = ""
        self._start()

    def _start(self) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  it lives as long as the process
        self._process = subprocess.Popen(
            [sys.executable, "-X", "faulthandler", str(HERE / "fuzz_model_file.py"), "--child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        self._is_new = True

    def ask(self, seed: int, number: int) -> tuple[str, str, str]:
        """How the mutant was made, what became of it, and a word on it."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(f"{seed} {number}\n".encode())
            process.stdin.flush()
            limit = MOST_SECONDS * (4 if self._is_new else 1)  # it has models to fit at first
            ready, _, _ = select.select([process.stdout], [], [], limit)
            line = process.stdout.readline() if ready else b""
        except BrokenPipeError:
            ready, line = [process.stdout], b""
        self._is_new = False
        if line:
            _, how, outcome, text = json.loads(line)
            return how, outcome, text
        outcome = CRASHED if ready else HUNG
        process.kill()
        process.wait()
        self._errors.seek(0)
        text = self._errors.read()[-2000:].decode(errors="replace")
        self.close()
        self._start()
        return "?", outcome, text

    def close(self) -> None:
        process = self._process
        for pipe in (process.stdin, process.stdout):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        process.wait()
        self._errors.close()


def run(n: int, seed: int, first: int = 0) -> Iterator[tuple[int, str, str, str]]:
    """Number, mutation, outcome and a word on each mutant."""
    judge_of = Child()
    try:
        for number in range(first, first + n):
            yield (number, *judge_of.ask(seed, number))
    finally:
        judge_of.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--n", type=int, default=1000, help="how many mutants")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first one")
    parser.add_argument("--only", type=int, help="judge this one, in this process")
    parser.add_argument("--keep", type=Path, help="a folder for the files that did harm")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child()
        return 0
    if given.only is not None:
        return _only(given.seed, given.only)
    outcomes: collections.Counter[str] = collections.Counter()
    by_mutation: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    texts: collections.Counter[str] = collections.Counter()
    started = time.perf_counter()
    originals = originals_of(models()) if given.keep else []
    for number, how, outcome, text in run(given.n, given.seed, given.first):
        outcomes[outcome] += 1
        by_mutation[how][outcome] += 1
        if outcome == REFUSED:
            texts[_without_numbers(text)] += 1
        elif outcome not in HARMLESS:
            print(f"mutant {number} ({how}): {outcome}: {text}", flush=True)
            if given.keep:
                given.keep.mkdir(exist_ok=True)
                (given.keep / f"mutant-{given.seed}-{number}").write_bytes(
                    mutant(given.seed, number, originals)[1]
                )
        done = number - given.first + 1
        if done % 5000 == 0:
            print(f"{done} of {given.n}", file=sys.stderr, flush=True)
    _report(outcomes, by_mutation, texts, time.perf_counter() - started)
    return int(any(outcomes[bad] for bad in OUTCOMES if bad not in HARMLESS))


def _only(seed: int, number: int) -> int:
    warnings.simplefilter("ignore")
    how, data = mutant(seed, number, originals_of(models()))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "mutant")
        path.write_bytes(data)
        outcome, text = judge(path)
    print(f"mutant {number} ({how}): {outcome}: {text}")
    return int(outcome not in HARMLESS)


def _without_numbers(text: str) -> str:
    text = text.split(": ", 1)[1]  # the path
    return "".join("#" if letter.isdigit() else letter for letter in text)[:60]


def _report(
    outcomes: collections.Counter[str],
    by_mutation: dict[str, collections.Counter[str]],
    texts: collections.Counter[str],
    seconds: float,
) -> None:
    out = io.StringIO()
    total = sum(outcomes.values())
    print(f"{total} mutants in {seconds:.0f} s", file=out)
    for outcome in OUTCOMES:
        print(f"  {outcome:<26}{outcomes[outcome]:>8}", file=out)
    print("by mutation:", file=out)
    for how, counts in sorted(by_mutation.items()):
        listed = ", ".join(f"{outcome} {n}" for outcome, n in counts.most_common())
        print(f"  {how:<20}{listed}", file=out)
    print(f"{len(texts)} different refusals; the most frequent:", file=out)
    for text, n in texts.most_common(25):
        print(f"  {n:>7}  {text}", file=out)
    print(out.getvalue(), end="")


if __name__ == "__main__":
    sys.exit(main())
