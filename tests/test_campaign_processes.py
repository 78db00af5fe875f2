# SPDX-License-Identifier: BSD-3-Clause
"""A campaign: fits and predictions in many threads, in forks of a process that is at work, and interrupted by signals.

Each runs in a child process with a time limit. Whatever happens, the next fit grows the same tree, and no thread is
left.
"""

from __future__ import annotations

import os
import sys
import textwrap

import pytest
from child import run_child

pytestmark = pytest.mark.campaign

SECONDS = 120.0  # for a campaign of the ordinary length, on a busy machine
PRELUDE = """
import os, random, signal, sys, threading, time
import numpy as np
import fasttree

rng = np.random.default_rng(0)
X = {f"x{k}": rng.normal(size=20_000) for k in range(4)}
X["word"] = np.array([f"w{k}" for k in range(40)], dtype=object)[rng.integers(0, 40, 20_000)]
X["x0"][::50] = np.nan
y = (X["x1"] * X["x2"] + (X["word"] < "w2") + rng.normal(size=20_000) > 0).astype(int)
KINDS = {
    "tree": dict(max_depth=8),
    "bins": dict(max_depth=8, max_bins=50),
    "multiway": dict(max_depth=5, categorical_split="multiway"),
    "surrogates": dict(max_depth=5, missing="surrogate"),
    "fractional": dict(max_depth=5, missing="fractional"),
}

def made(kind, n_jobs=2):
    return fasttree.TreeClassifier(n_jobs=n_jobs, **KINDS[kind]).fit(X, y)

MODELS = {kind: made(kind, n_jobs=1) for kind in KINDS}
EXPECTED = {kind: model.tree_.fingerprint() for kind, model in MODELS.items()}
CLASSES = {kind: model.predict(X) for kind, model in MODELS.items()}

def check(kind, n_jobs=2):
    model = made(kind, n_jobs)
    assert model.tree_.fingerprint() == EXPECTED[kind], kind
    assert np.array_equal(model.predict(X), CLASSES[kind]), kind

def no_thread_left():
    for _ in range(500):
        if threading.active_count() == 1:
            return
        time.sleep(0.01)
    raise AssertionError(threading.enumerate())
"""


def run(body: str, rounds: int, length: int) -> None:
    run_child(
        PRELUDE + f"\nROUNDS = {rounds * length}\n" + textwrap.dedent(body),
        time_limit=SECONDS * length,
    )


def test_many_threads(length: int) -> None:
    """Each fits and predicts with threads of its own, in an order of its own."""
    run(
        """
        wrong = []

        def work(seed):
            draw = random.Random(seed)
            try:
                for _ in range(ROUNDS):
                    check(draw.choice(list(KINDS)), draw.choice((1, 2, 3, -1)))
            except BaseException as error:
                wrong.append(error)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong, wrong
        no_thread_left()
        """,
        rounds=3,
        length=length,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
def test_signals_at_any_moment(length: int) -> None:
    """Some strike before the work has begun and some after it: of these the result is as ever."""
    run(
        """
        class Struck(Exception):
            pass

        def strike(*_):
            raise Struck

        signal.signal(signal.SIGALRM, strike)
        draw, n_struck = random.Random(1), 0
        for _ in range(ROUNDS):
            kind = draw.choice(list(KINDS))
            n_jobs = draw.choice((1, 2, 3))
            started = time.perf_counter()
            try:
                try:
                    signal.setitimer(signal.ITIMER_REAL, 10 ** draw.uniform(-4, -0.7))
                    model = made(kind, n_jobs)
                    assert np.array_equal(model.predict(X), CLASSES[kind])
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            except Struck:
                n_struck += 1
            else:
                assert model.tree_.fingerprint() == EXPECTED[kind]
            no_thread_left()
        assert n_struck > 0
        for kind in KINDS:
            check(kind)
        no_thread_left()
        """,
        rounds=40,
        length=length,
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_forks_at_any_moment(length: int) -> None:
    """A thread fits while another one forks; the child has the thread that forked alone, and fits."""
    run(
        """
        draw, stop, wrong = random.Random(2), threading.Event(), []

        def work():
            try:
                while not stop.is_set():
                    for kind in KINDS:
                        check(kind)
            except BaseException as error:
                wrong.append(error)

        at_work = threading.Thread(target=work)
        at_work.start()
        try:
            for _ in range(ROUNDS):
                time.sleep(draw.uniform(0, 0.1))
                child = os.fork()
                if child == 0:
                    code = 1
                    try:
                        kind = draw.choice(list(KINDS))
                        check(kind, 1)
                        check(kind, 2)
                        code = 0
                    finally:
                        os._exit(code)
                for _ in range(600):
                    done, status = os.waitpid(child, os.WNOHANG)
                    if done:
                        break
                    time.sleep(0.1)
                else:
                    os.kill(child, signal.SIGKILL)
                    raise AssertionError("a child hangs")
                assert status == 0, status
        finally:
            stop.set()
            at_work.join()
        assert not wrong, wrong
        no_thread_left()
        """,
        rounds=8,
        length=length,
    )
