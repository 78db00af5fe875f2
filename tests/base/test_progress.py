# SPDX-License-Identifier: BSD-3-Clause
"""What long calls say on stderr if they are asked to, and that the others say nothing."""

from __future__ import annotations

import itertools
import re
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from switches import small_up_to

from fasttree import (
    BayesTreeClassifier,
    C45Classifier,
    CARTClassifier,
    ID3Classifier,
    MMLClassifier,
    RuleClassifier,
    SMMLClassifier,
    TreeClassifier,
    compare_methods,
    pruning,
    select_depth,
)
from fasttree.base import progress

ALL = [
    BayesTreeClassifier,
    C45Classifier,
    CARTClassifier,
    ID3Classifier,
    MMLClassifier,
    RuleClassifier,
    SMMLClassifier,
    TreeClassifier,
]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
Y = (X[:, 0] + RNG.normal(size=200) > 0).astype(int)
METHODS = ["ID3", "C4.5"]
FUNCTIONS: list[Callable[..., Any]] = [
    lambda **verbose: compare_methods(X, Y, METHODS, folds=2, **verbose),
    lambda **verbose: select_depth(X, Y, folds=2, **verbose),
    *(lambda kind=kind, **verbose: kind(**verbose).fit(X, Y) for kind in ALL),
]


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock by which a second passes whenever somebody looks at it."""
    seconds: Iterator[int] = itertools.count()
    monkeypatch.setattr(progress, "clock", lambda: float(next(seconds)))


def said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    out, err = capsys.readouterr()
    assert out == ""
    return [str(line) for line in err.splitlines()]


@pytest.mark.parametrize("call", FUNCTIONS)
def test_nobody_looks_at_the_clock_unless_asked(
    call: Callable[..., Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "clock", lambda: pytest.fail("asked for the time"))
    call()
    assert said(capsys) == []


@pytest.mark.parametrize("call", FUNCTIONS)
def test_short_calls_say_nothing(
    call: Callable[..., Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "clock", lambda: 7.0)
    call(verbose=1)
    assert said(capsys) == []


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("call", FUNCTIONS)
def test_long_calls_speak_now_and_then(
    call: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    call(verbose=2)
    every = said(capsys)
    call(verbose=1)
    lines = said(capsys)
    assert 2 <= len(lines) <= len(every)
    times = [float(re.search(r"\((\d+\.\d) s\)$", line)[1]) for line in lines]  # type: ignore[index]
    assert times[0] == progress.PATIENCE
    gaps = np.diff(times)[:-1]  # before the last word
    assert (gaps >= progress.PATIENCE).all()
    assert (gaps >= np.array(times[:-2]) / 4).all()
    assert ": done (" in lines[-1]
    assert progress.current() is None


def test_levels_and_rows_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    with small_up_to(0):
        model = TreeClassifier(verbose=2).fit(X, Y)
    lines = [re.sub(r" \(\d+\.\d s\)$", "", line) for line in said(capsys)]
    assert lines[:3] == [
        "TreeClassifier: reading 200 rows of 3 columns",
        "TreeClassifier: sorting the columns",
        "TreeClassifier: depth 0, open nodes: 1, rows in them: 200, nodes so far: 1",
    ]
    assert lines[-1] == "TreeClassifier: done"
    tree = model.tree_
    for depth in range(tree.max_depth):  # all nodes that are not pure are split
        split = (tree.depth == depth) & ~tree.is_leaf()
        rows = int(tree.counts[split].sum())
        n_nodes = int((tree.depth <= depth).sum())
        assert lines[2 + depth] == (
            f"TreeClassifier: depth {depth}, open nodes: {split.sum()}, rows in them: {rows}, "
            f"nodes so far: {n_nodes}"
        )
    assert len(lines) == 3 + tree.max_depth


def test_small_nodes_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    with small_up_to(150):
        model = TreeClassifier(verbose=2).fit(X, Y)
    tree = model.tree_
    lines = [re.sub(r" \(\d+\.\d s\)$", "", line) for line in said(capsys)]
    told = r"TreeClassifier: below (\d) small nodes? of depth (\d), nodes so far: (\d+)"
    found = [match.groups() for match in (re.fullmatch(told, line) for line in lines) if match]
    is_open = ~tree.is_leaf()
    rows = tree.counts.sum(axis=1)
    small = is_open & (rows <= 150) & (rows[np.maximum(tree.parent, 0)] > 150)
    depths, n_nodes = np.unique(tree.depth[small], return_counts=True)
    assert [(int(depth), int(n)) for n, depth, _ in found] == [
        (int(depth), int(n)) for depth, n in zip(depths, n_nodes, strict=True)
    ]
    assert found
    assert int(found[-1][2]) == tree.node_count


def test_folds_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    way = pruning.CostComplexity(folds=3)
    for model in (TreeClassifier(pruning=way, verbose=2), TreeClassifier(verbose=2)):
        model.fit(X, Y)
        if model.pruning is None:
            said(capsys)
            model.prune(way, X, Y)
        found = re.findall(r"without fold (\d) of 3: depth 0", "\n".join(said(capsys)))
        assert found == ["1", "2", "3"]
    select_depth(X, Y, folds=4, verbose=2)
    found = re.findall(r"^select_depth: .*fold (\d) of 4: depth 0", "\n".join(said(capsys)), re.M)
    assert found == ["1", "2", "3", "4"]


def test_fits_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    compare_methods(X, Y, METHODS, folds=2, verbose=2)
    lines = said(capsys)
    assert all(line.startswith("compare_methods: ") for line in lines)
    found = re.findall(r"fit (\d) of 4, (\S+): begins", "\n".join(lines))
    assert found == [("1", "ID3"), ("2", "C4.5"), ("3", "ID3"), ("4", "C4.5")]
    assert "fit 2 of 4, C4.5: C45Classifier: depth 0" in "\n".join(lines)


def test_rules_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    RuleClassifier(verbose=2).fit(X, Y)
    text = "\n".join(said(capsys))
    assert "RuleClassifier: C45Classifier: depth 0, " in text
    assert re.search(r"^RuleClassifier: pruning rules, 0 of \d+ done", text, re.M)


def test_the_tree_is_the_same() -> None:
    for kind in ALL:
        quiet, loud = kind().fit(X, Y), kind(verbose=2).fit(X, Y)
        assert quiet.tree_ == loud.tree_


def test_an_error_ends_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="max_depth"):
        TreeClassifier(verbose=2, max_depth=-1).fit(X, Y)
    with pytest.raises(ValueError, match="rows"):
        TreeClassifier(verbose=2).fit(X, Y[1:])
    assert not any("done" in line for line in said(capsys))
    assert progress.current() is None
    TreeClassifier().fit(X, Y)
    assert said(capsys) == []


def test_threads_speak_for_themselves(capsys: pytest.CaptureFixture[str]) -> None:
    begin = threading.Barrier(4)
    models = [kind(verbose=v) for kind in (ID3Classifier, CARTClassifier) for v in (0, 2)]

    def fit(model: Any) -> None:
        begin.wait()
        for _ in range(5):
            model.set_params(n_jobs=2).fit(X, Y)

    threads = [threading.Thread(target=fit, args=(model,)) for model in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = said(capsys)
    for name in ("ID3Classifier", "CARTClassifier"):
        assert sum(line.startswith(f"{name}: done (") for line in lines) == 5
    assert all(re.fullmatch(r"(ID3|CART)Classifier: .* \(\d+\.\d s\)", line) for line in lines)


def test_programs_without_a_console(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert TreeClassifier(verbose=2).fit(X, Y).get_depth() > 0


@pytest.mark.parametrize("value", [-1, 0.5, "yes", None, np.nan])
@pytest.mark.parametrize("call", FUNCTIONS)
def test_other_values_are_refused(call: Callable[..., Any], value: Any) -> None:
    with pytest.raises(ValueError, match=r"verbose must be 0 \(silent\), 1 .* got"):
        call(verbose=value)


def test_true_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    TreeClassifier(verbose=True).fit(X, Y)
    TreeClassifier(verbose=np.int64(1)).fit(X, Y)
    TreeClassifier(verbose=False).fit(X, Y)
    assert said(capsys) == []
