# SPDX-License-Identifier: BSD-3-Clause
"""Fits inside every kind of parallel work: they end, agree, and leave no thread behind.

Each runs in a child process with a time limit, because what is tested for is hanging.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from typing import Any

import numpy as np
import pytest
from child import TIME_LIMIT, run_child

from fasttree import TreeClassifier
from fasttree.base.threads import ThreadTeam
from fasttree.encoding import training_set
from fasttree.trees import predict

PRELUDE = """
import threading, time
import joblib
import numpy as np
import fasttree

def table(n=40_000, d=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X[:, 0] * X[:, 1] + rng.normal(size=n) > 0).astype(int)
    return X, y

X, y = table()

def fingerprint(n_jobs=2, max_bins=None):
    model = fasttree.TreeClassifier(n_jobs=n_jobs, max_bins=max_bins, max_depth=9).fit(X, y)
    return model.tree_.fingerprint()

def threads_left():
    for _ in range(100):
        if threading.active_count() == 1:
            return 0
        time.sleep(0.01)
    return threading.active_count() - 1
"""


def check(body: str) -> str:
    return run_child(PRELUDE + "\nexpected = fingerprint(1)\n" + textwrap.dedent(body))


def test_any_number_of_jobs_and_no_thread_left() -> None:
    check("""
        assert {fingerprint(n) for n in (None, 1, 2, 4, 7, -1, -2)} == {expected}
        assert threads_left() == 0
    """)


def test_sequential_backend() -> None:
    check("""
        for n_jobs in (None, 1, 2, 4, -1):
            with joblib.parallel_config("sequential"):
                assert fingerprint(n_jobs) == expected
            with joblib.parallel_config("sequential", n_jobs=4):
                assert fingerprint(n_jobs) == expected
    """)


def test_parallel_config_sets_the_number_of_jobs() -> None:
    check("""
        with joblib.parallel_config(n_jobs=2):
            assert fingerprint(None) == expected
        for backend in ("threading", "loky", "multiprocessing"):
            with joblib.parallel_config(backend, n_jobs=2):
                assert fingerprint(None) == expected
                assert fingerprint(3) == expected
    """)


def test_threads_inside_threads() -> None:
    check("""
        from concurrent.futures import ThreadPoolExecutor

        def inner(n_jobs):
            return joblib.Parallel(n_jobs=2, backend="threading")(
                joblib.delayed(fingerprint)(n_jobs) for _ in range(2)
            )

        jobs = (joblib.delayed(inner)(n) for n in (1, 2, 4))
        for prints in joblib.Parallel(n_jobs=3, backend="threading")(jobs):
            assert prints == [expected] * 2
        with ThreadPoolExecutor(4) as pool:
            assert set(pool.map(fingerprint, [2, 4, -1, None] * 2)) == {expected}
        assert threads_left() == 0
    """)


def test_loky_workers() -> None:
    check("""
        jobs = [joblib.delayed(fingerprint)(n) for n in (None, 1, 2, 4)]
        assert joblib.Parallel(n_jobs=2, backend="loky")(jobs) == [expected] * 4
    """)


def test_threads_inside_threads_inside_loky() -> None:
    check("""
        def inner(n_jobs):
            return joblib.Parallel(n_jobs=2, backend="threading", require="sharedmem")(
                joblib.delayed(fingerprint)(n_jobs) for _ in range(2)
            )

        def outer(n_jobs):
            return joblib.Parallel(n_jobs=2, backend="threading")(
                joblib.delayed(inner)(n_jobs) for _ in range(2)
            )

        jobs = [joblib.delayed(outer)(n) for n in (2, -1)]
        for group in joblib.Parallel(n_jobs=2, backend="loky")(jobs):
            assert group == [[expected] * 2] * 2
    """)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_fork_after_a_parallel_fit() -> None:
    check("""
        import multiprocessing, warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        assert fingerprint(2) == expected
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(fingerprint, [2, 1, -1]) == [expected] * 3
    """)


def test_import_starts_nothing() -> None:
    run_child("""
        import threading
        import fasttree
        fasttree.TreeClassifier(n_jobs=4)
        assert threading.active_count() == 1
    """)


def test_concurrent_predictions_agree() -> None:
    check("""
        model = fasttree.TreeClassifier(n_jobs=2).fit(X, y)
        rows, expected_rows = np.tile(X, (3, 1)), model.predict_proba(np.tile(X, (3, 1)))
        threads = [
            threading.Thread(
                target=lambda place: results.__setitem__(place, model.predict_proba(rows)),
                args=(place,),
            )
            for place in range(6)
        ]
        results = [None] * 6
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert all(np.array_equal(r, expected_rows) for r in results)
    """)


def test_concurrent_fits_share_columns() -> None:
    check("""
        from concurrent.futures import ThreadPoolExecutor

        columns = fasttree.Columns(X, y)

        def fit(n_jobs):
            model = fasttree.TreeClassifier(n_jobs=n_jobs, max_depth=9).fit(columns)
            return model.tree_.fingerprint()

        with ThreadPoolExecutor(4) as pool:
            assert set(pool.map(fit, [1, 2, 4, None] * 3)) == {expected}
    """)


def test_no_thread_outlives_a_fit_that_fails() -> None:
    before = threading.active_count()
    X = np.random.default_rng(0).normal(size=(50_000, 8))
    X[49_999, 7] = np.nan
    with pytest.raises(ValueError, match="x7"):
        TreeClassifier(missing="error", n_jobs=4).fit(X, np.arange(50_000) % 2)
    time.sleep(0.05)
    assert threading.active_count() <= before


LONG_FITS = {
    # Very many cheap levels: most of the time passes between two calls of the core.
    "many levels": """
        n = 60_000
        X, y = np.arange(n, dtype=float).reshape(-1, 1), np.arange(n) % 2
        parameters = {}
    """,
    # Few levels of much work each.
    "heavy levels": """
        rng = np.random.default_rng(0)
        X = rng.random((400_000, 60), dtype=np.float32)
        y = rng.integers(0, 2, len(X))
        parameters = {}
    """,
    "many classes": """
        rng = np.random.default_rng(0)
        X = rng.random((100_000, 30), dtype=np.float32)
        y = rng.integers(0, 400, len(X))
        parameters = {"criterion": "entropy"}
    """,
    # One node whose best subset takes long to find.
    "many categories of many classes": """
        rng = np.random.default_rng(0)
        n = 300_000
        X = {"id": fasttree.Categorical(rng.integers(0, 50_000, n), list(range(50_000)))}
        y = rng.integers(0, 300, n)
        parameters = {}
    """,
}

INTERRUPTED = """
import time
print("begin", flush=True)
try:
    fasttree.TreeClassifier(n_jobs=N_JOBS, **parameters).fit(X, y)
except KeyboardInterrupt:
    print("interrupted", time.monotonic(), threads_left(), flush=True)
    # The library is none the worse for it.
    X, y = table()
    assert fingerprint(2) == fingerprint(1)
    print("well", flush=True)
else:
    print("finished", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("kind", list(LONG_FITS))
@pytest.mark.parametrize("delay", [0.15, 0.8])
def test_interrupt_ends_a_fit_within_a_second(kind: str, n_jobs: int, delay: float) -> None:
    code = PRELUDE + textwrap.dedent(LONG_FITS[kind])
    code += INTERRUPTED.replace("N_JOBS", str(n_jobs))
    # A busy machine may hold a process back for a while: one prompt answer in three is enough.
    answers = []
    for _ in range(3):
        answers.append(seconds_to_interrupt(code, delay))
        if answers[-1] < 1.0:
            return
    pytest.fail(f"took {answers} seconds")


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
@pytest.mark.parametrize("moment", ["__init__", "_repopulate_pool", "terminate"])
@pytest.mark.parametrize("before", [True, False])
def test_interrupt_while_threads_start_or_end_leaves_none(moment: str, before: bool) -> None:
    run_child(
        PRELUDE
        + f"moment, before = {moment!r}, {before}\n"
        + textwrap.dedent("""
            import signal
            from multiprocessing.pool import ThreadPool

            expected = fingerprint(1)
            original, struck = getattr(ThreadPool, moment), []

            def interrupted(self, *args, **kwargs):
                if before and not struck:
                    struck.append(signal.pthread_kill(threading.main_thread().ident, signal.SIGINT))
                result = original(self, *args, **kwargs)
                if not struck:
                    struck.append(signal.pthread_kill(threading.main_thread().ident, signal.SIGINT))
                return result

            setattr(ThreadPool, moment, interrupted)
            try:
                fingerprint(2)
                time.sleep(1)
            except KeyboardInterrupt:
                pass
            else:
                raise AssertionError(f"not interrupted: {struck}")
            assert threads_left() == 0
            assert fingerprint(2) == expected
        """)
    )


def seconds_to_interrupt(code: str, delay: float) -> float:
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    watchdog = threading.Timer(TIME_LIMIT, child.kill)
    watchdog.start()
    try:
        assert child.stdout is not None
        first = child.stdout.readline()
        if first.strip() != "begin":
            pytest.fail(f"the child failed: {child.communicate()[1]}")
        time.sleep(delay)
        sent = time.monotonic()
        child.send_signal(signal.SIGINT)
        out, err = child.communicate()
    finally:
        watchdog.cancel()
        child.kill()
    lines = out.split("\n")
    words = lines[0].split()
    assert words[:1] == ["interrupted"], f"{out!r} {err}"
    assert words[2] == "0", f"{words[2]} threads left"
    assert lines[1] == "well", err
    return float(words[1]) - sent


# -- the threads of predict --------------------------------------------------------------------------


def _many_rows() -> tuple[TreeClassifier, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400_000, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    return TreeClassifier(missing="error", max_depth=12, n_jobs=2).fit(X[:5000], y[:5000]), X


def test_predictions_do_not_depend_on_the_threads() -> None:
    model, X = _many_rows()
    expected = model.predict_proba(X)
    for n_jobs in (None, 1, 3, 8, -1):
        np.testing.assert_array_equal(model.set_params(n_jobs=n_jobs).predict_proba(X), expected)


@pytest.mark.parametrize("row", [5, 200_000, 399_999])
def test_an_error_in_any_thread_of_predict_is_raised(row: int) -> None:
    model, X = _many_rows()
    X[row, 1] = np.nan
    for _ in range(20):
        with pytest.raises(ValueError, match=f"row {row}"):
            model.predict(X)


def test_predict_goes_on_where_no_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    model, X = _many_rows()
    expected = model.predict_proba(X)

    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("_thread.start_new_thread", refuse)
    np.testing.assert_array_equal(model.predict_proba(X), expected)


@pytest.mark.parametrize("error", ["RuntimeError", "MemoryError"])
@pytest.mark.parametrize("n_started", [0, 1, 2, 4])
def test_a_fit_goes_on_where_no_more_threads_can_be_started(error: str, n_started: int) -> None:
    check(f"""
        import _thread

        fingerprint(n_jobs=2)  # what is imported then may start threads of its own
        n_left = {n_started}

        def start(thread, start=threading.Thread.start):
            global n_left
            n_left -= 1
            if n_left < 0:
                raise {error}("can't start new thread")
            start(thread)

        threading.Thread.start = start
        assert fingerprint(n_jobs=4) == expected

        def refuse(function, args):
            raise {error}("can't start new thread")

        _thread.start_new_thread = refuse
        assert fingerprint(n_jobs=4) == expected
    """)


def test_no_more_threads_than_there_is_work_for(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    class Noted(ThreadTeam):
        def __init__(self, *args: Any, **how: Any) -> None:
            super().__init__(*args, **how)
            sizes.append(self.size)

    monkeypatch.setattr(training_set, "ThreadTeam", Noted)
    monkeypatch.setattr(predict, "ThreadTeam", Noted)
    draw = np.random.default_rng(0)
    X = draw.normal(size=(60_000, 6))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = TreeClassifier(n_jobs=3000, max_depth=20).fit(X, y)
    model.predict(np.tile(X, (4, 1)))
    assert sizes == [6, 8]  # attributes; pieces of 32,768 rows
    assert TreeClassifier(max_depth=20).fit(X, y).tree_.fingerprint() == model.tree_.fingerprint()


CHANGING = """
import pickle, re, sys

kind, number = sys.argv[1:]
draw = np.random.default_rng(int(number))
n = 20_000
reals = draw.normal(size=(n, 4))
X = {
    "matrix": lambda: reals,
    "bins": lambda: reals,
    "whole numbers": lambda: draw.integers(0, 1000, size=(n, 4)),
    "few": lambda: np.round(reals * 4),
    "declared": lambda: draw.integers(0, 300, size=(n, 4)),
    "columns": lambda: {
        "real": reals[:, 0].copy(),
        "narrow": reals[:, 1].astype(np.float32),
        "level": fasttree.Categorical.from_codes(draw.integers(-1, 400, n), range(400)),
        "words": [str(code) for code in draw.integers(0, 9, n)],
    },
}[kind]()
how = {"bins": {"max_bins": 32}, "declared": {"categorical_features": [0, 1]}}.get(kind, {})
y, weight = draw.integers(0, 3, n), draw.random(n) + 0.1
others = [
    {"missing": "surrogate"}, {"missing": "fractional"}, {"threshold": "value"}, {"criterion": "evidence"},
    {"pruning": "error_based"}, {"pruning": fasttree.pruning.CostComplexity(folds=2)}, {"missing": "category"},
]
over = threading.Event()

def change():
    draw = np.random.default_rng(1)
    odd = [0.0, -1.0, 1e308, -1e308, 7.0, np.nan, np.inf, 1e9]
    while not over.is_set():
        for array in X.values() if isinstance(X, dict) else [X]:
            if isinstance(array, list):
                place = int(draw.integers(len(array)))
                array[place] = str(place)
                continue
            codes = getattr(array, "codes", array)
            if codes.dtype.kind == "f":
                codes[draw.integers(len(codes), size=50)] = draw.choice(odd)
                codes[:] = codes[::-1].copy()
            else:
                codes[draw.integers(len(codes), size=50)] = draw.integers(0, 399)
                codes[5] = 2**30
                codes[5] = 1
        y[draw.integers(n, size=9)] = draw.choice([0, 1, 2, 10**9])
        y[:] = np.where(y > 2, 1, y)
        weight[draw.integers(n, size=9)] = draw.choice([0.0, 1e300, np.nan])
        weight[:] = np.where(weight < 2, weight, 1.0)

changer = threading.Thread(target=change, daemon=True)
changer.start()
stop = time.monotonic() + 3
fits = refused = 0
while time.monotonic() < stop and fits < 200:
    try:
        weights = [None, weight][fits % 2]
        model = fasttree.TreeClassifier(max_depth=8, n_jobs=1 + fits % 2, **how, **others[fits % len(others)])
        model.fit(X, y, sample_weight=weights)
        pickle.loads(pickle.dumps(model)).predict_proba(X)
    except (ValueError, RuntimeError) as error:
        refused += 1
        # Also a class that was caught in the first of its rows is too rare to be dealt to folds.
        known = "was modified|sample_weight|the same paths|folds=2 is greater than the number of rows"
        assert re.search(known, str(error)), error
    fits += 1
over.set()
changer.join()
print(fits, refused)
"""


@pytest.mark.parametrize("kind", ["matrix", "bins", "whole numbers", "few", "declared", "columns"])
@pytest.mark.parametrize("number", [1, 2])
def test_arrays_that_change_while_a_model_is_fitted(kind: str, number: int) -> None:
    """Such a fit is refused, or gives a model that is a whole one, whatever its numbers mean."""
    fits, refused = run_child(
        PRELUDE + f"\nimport sys; sys.argv = ['', {kind!r}, '{number}']\n" + CHANGING
    ).split()
    assert int(fits) > int(refused)
