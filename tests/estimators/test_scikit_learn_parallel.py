# SPDX-License-Identifier: BSD-3-Clause
"""Many at once: joblib's backends, rows that loky maps into memory read-only, threads that share an estimator.

In child processes, so that what they define can be sent to joblib's workers.
"""

from __future__ import annotations

import textwrap

import pytest
from child import run_child

PRELUDE = """
import warnings
warnings.simplefilter("error")
warnings.filterwarnings("ignore", "the tree is one leaf")  # as it is of two columns of words
import threading
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pandas as pd
import polars as pl
from sklearn.base import clone

import fasttree
from fasttree import C45Classifier, RuleClassifier, TreeClassifier

rng = np.random.default_rng(0)
n = 24_000
numbers = rng.normal(size=(n, 6))
numbers[:, 5] = rng.integers(0, 5, n)
words = np.array(["red", "green", "blue", "a colour with a long name"])[rng.integers(0, 4, n)]
y = ((numbers[:, 0] > 0) ^ (words == "red")).astype(int) + (numbers[:, 1] > 1)
labels = np.array(["low", "mid", "top"])[y]
holed = np.where(rng.random(n) < 0.1, None, words.astype(object))

TABLES = {
    "numbers": numbers,
    "columns": np.asfortranarray(numbers.astype(np.float32)),
    "words": np.column_stack([words, words[::-1]]),
    "dict": {"n": numbers[:, 0].copy(), "w": words},
    "pandas": pd.DataFrame(numbers, columns=list("abcdef")).assign(w=holed),
    "categories": pd.DataFrame({"w": pd.Categorical(words), "a": numbers[:, 0]}),
    "polars": pl.DataFrame({"a": numbers[:, 0], "b": numbers[:, 1], "w": words}),
}
MODELS = [TreeClassifier(max_depth=6), C45Classifier(max_depth=5), RuleClassifier(base=TreeClassifier(max_depth=4))]

def fit(model, X, y):
    model = clone(model).fit(X, y)
    return model, model.tree_.fingerprint()

def mapped(X):
    # What a worker sees of a large array.
    return isinstance(X, np.memmap) and not X.flags.writeable

def answers(model, X):
    return model.predict(X), model.predict_proba(X), model.score(X, labels)

def same(these, those):
    return all(np.array_equal(a, b) for a, b in zip(these, those, strict=True))
"""


def check(body: str) -> None:
    # Each of loky's workers imports what we do, which takes long on a busy machine.
    run_child(PRELUDE + textwrap.dedent(body), time_limit=240.0)


@pytest.mark.parametrize("backend", ["loky", "threading", "sequential"])
def test_backends_agree(backend: str) -> None:
    check(f"""
        backend = {backend!r}
        if backend == "loky":
            maps = joblib.Parallel(n_jobs=2)(joblib.delayed(mapped)(X) for X in (numbers, TABLES["words"]))
            assert maps == [True] * 2, maps
        for name, X in TABLES.items():
            with joblib.parallel_config(backend=backend, n_jobs=2):
                parallel = joblib.Parallel()
                fitted = parallel(joblib.delayed(fit)(model, X, labels) for model in MODELS)
                said = parallel(joblib.delayed(answers)(model, X) for model, _ in fitted)
            for plain, (model, fingerprint), answer in zip(MODELS, fitted, said, strict=True):
                expected, own = fit(plain, X, labels)
                assert fingerprint == own == model.tree_.fingerprint(), name
                assert same(answer, answers(expected, X)), name
                assert answer[2] > (0.4 if name == "words" else 0.5), (name, plain, answer[2])
    """)


@pytest.mark.parametrize("backend", ["loky", "threading", "sequential"])
def test_ensembles_under_backends(backend: str) -> None:
    """Their members get the whole table, mapped read-only, and rows that were drawn as weights."""
    check(f"""
        from sklearn.ensemble import BaggingClassifier, VotingClassifier
        from sklearn.model_selection import StratifiedKFold, cross_val_predict

        bag = BaggingClassifier(C45Classifier(max_depth=5), 4, random_state=0)
        alone = bag.fit(numbers, labels).predict_proba(numbers)
        vote = VotingClassifier([("a", MODELS[0]), ("b", MODELS[1])], voting="soft")
        X = TABLES["pandas"]
        agreed = np.mean([clone(model).fit(X, labels).predict_proba(X) for model in MODELS[:2]], axis=0)
        folds = StratifiedKFold(2)
        shares = np.empty((n, 3))
        for train, test in folds.split(X, labels):
            part = clone(MODELS[2]).fit(X.iloc[train], labels[train])
            shares[test] = part.predict_proba(X.iloc[test])
        with joblib.parallel_config(backend={backend!r}, n_jobs=2):
            together = clone(bag).fit(numbers, labels)
            assert np.allclose(together.predict_proba(numbers), alone, rtol=0, atol=1e-12)  # sums in another order
            assert np.allclose(vote.fit(X, labels).predict_proba(X), agreed, rtol=0, atol=1e-15)
            found = cross_val_predict(MODELS[2], X, labels, cv=folds, method="predict_proba")
            assert np.array_equal(found, shares)
    """)


def test_threads_share_an_estimator() -> None:
    """Of one that was just unpickled, too: what it makes on first use is made by several at once."""
    check("""
        import pickle
        asked = {name: X[:4000] if name not in ("dict", "pandas", "categories") else X for name, X in TABLES.items()}
        for name, X in asked.items():
            for plain in MODELS:
                fitted = clone(plain).fit(TABLES[name], labels)
                expected = fitted.predict(X), fitted.predict_proba(X)
                fresh = pickle.loads(pickle.dumps(fitted))
                barrier = threading.Barrier(8)

                def ask(number):
                    barrier.wait()
                    for _ in range(3):
                        if not same((fresh.predict(X), fresh.predict_proba(X)), expected):
                            return False
                        fresh.tree_.fingerprint(), fresh.to_text(), repr(fresh), fresh._repr_html_()
                    return True

                with ThreadPoolExecutor(8) as pool:
                    assert all(pool.map(ask, range(8))), name
    """)


def test_fits_at_once() -> None:
    """Of different estimators on one table, each with threads of its own."""
    check("""
        X = TABLES["pandas"]
        models = [model.set_params(n_jobs=2) if "n_jobs" in model.get_params() else model for model in MODELS]
        expected = [fit(model, X, labels)[1] for model in models]
        with ThreadPoolExecutor(6) as pool:
            for _ in range(3):
                found = pool.map(lambda model: fit(model, X, labels)[1], models * 2)
                assert list(found) == expected * 2
    """)


def test_an_estimator_may_be_fitted_while_others_ask_it() -> None:
    """They get the answers of the one tree or of the other, never of a mixture."""
    check("""
        first, second = numbers[:2000], numbers[:2000] * -1
        target = labels[:2000]
        model = TreeClassifier(max_depth=6).fit(first, target)
        other = TreeClassifier(max_depth=6).fit(second, target)
        allowed = [of_one.predict_proba(numbers[:300]) for of_one in (model, other)]
        done = threading.Event()

        def refit():
            for _ in range(60):
                model.fit(second, target)
                model.fit(first, target)
            done.set()

        def ask():
            while not done.is_set():
                shares = model.predict_proba(numbers[:300])
                if not any(np.array_equal(shares, right) for right in allowed):
                    done.set()
                    raise AssertionError("neither tree")

        with ThreadPoolExecutor(4) as pool:
            jobs = [pool.submit(ask) for _ in range(3)] + [pool.submit(refit)]
            for job in jobs:
                job.result()
    """)
