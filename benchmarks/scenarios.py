# SPDX-License-Identifier: BSD-3-Clause
"""The rows of the comparison and what each demands. Quick sizes prove the benchmark, not speed."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks import data
from benchmarks.claims import (
    FASTEST_OTHER,
    OURS,
    SKLEARN,
    DoublingAtMost,
    Faster,
    MemoryAtMost,
    TimesAtMost,
)
from benchmarks.contestants import Task
from benchmarks.data import Dataset
from benchmarks.imports import ImportRace
from benchmarks.runs import FitRace, Growth, Memory, PredictRace, Scenario
from benchmarks.table_scenarios import TABLE_SCENARIOS

ONE_THREAD = "fasttree, 1 thread"
EXACT = ("fasttree", SKLEARN, "snapml exact", "XGBoost exact")
BINNED = ("fasttree", SKLEARN, "scikit-learn hist", "snapml hist", "XGBoost hist", "LightGBM")
ONNX = "onnxruntime"
IMPORTED = ("fasttree, an estimator", "fasttree, every name")
QUICK_ROWS = 4_000
TREES = (("depth8", "depth 8", 8), ("full", "full depth", None))


def _classification(
    n_rows: int, n_columns: int, n_classes: int = 2
) -> Callable[[bool], Dataset | None]:
    def load(quick: bool) -> Dataset:
        return data.classification(QUICK_ROWS if quick else n_rows, n_columns, n_classes)

    return load


def _births(quick: bool) -> Dataset | None:
    births = data.births()
    return births.head(QUICK_ROWS) if quick and births else births


def _small(name: str) -> Callable[[bool], Dataset | None]:
    return lambda quick: data.small(name)


_ALL: tuple[Scenario, ...] = (
    FitRace(
        name="gini-full",
        title="exact gini, full depth",
        contestants=("fasttree", ONE_THREAD, *EXACT[1:]),
        task=Task(),
        claims=(
            Faster(SKLEARN, at_least=30),
            Faster(SKLEARN, at_least=18, ours=ONE_THREAD),
            Faster(FASTEST_OTHER, at_least=5),
        ),
        load=_classification(200_000, 50),
    ),
    FitRace(
        name="gini-depth8",
        title="exact gini, depth 8",
        contestants=EXACT,
        task=Task(max_depth=8),
        claims=(Faster(SKLEARN, at_least=25), Faster(FASTEST_OTHER, at_least=3)),
        load=_classification(200_000, 50),
    ),
    FitRace(
        name="entropy-full",
        title="exact entropy, full depth",
        contestants=("fasttree", SKLEARN),
        task=Task(criterion="entropy"),
        claims=(Faster(SKLEARN, at_least=25),),
        load=_classification(200_000, 50),
    ),
    FitRace(
        name="binned-depth8",
        title="255 bins, depth 8",
        contestants=BINNED,
        task=Task(max_depth=8, binned=True),
        claims=(
            Faster(SKLEARN, at_least=50),
            Faster("scikit-learn hist"),
            Faster(FASTEST_OTHER, at_least=3.5),
        ),
        load=_classification(200_000, 50),
    ),
    FitRace(
        name="gini-full-1m",
        title="exact gini, full depth",
        # XGBoost exact takes three times as long as snapml already on 200,000 rows.
        contestants=("fasttree", "snapml exact"),
        task=Task(),
        claims=(Faster(FASTEST_OTHER, at_least=4),),
        load=_classification(1_000_000, 50),
    ),
    FitRace(
        name="classes-26",
        title="26 classes, exact gini, full depth",
        contestants=("fasttree", SKLEARN, "snapml exact"),
        task=Task(),
        claims=(Faster(SKLEARN, at_least=15), Faster(FASTEST_OTHER)),
        load=_classification(100_000, 30, n_classes=26),
    ),
    FitRace(
        name="births",
        title="real births, exact gini, full depth",
        contestants=EXACT,
        task=Task(),
        claims=(Faster(SKLEARN, at_least=5), Faster(FASTEST_OTHER)),
        load=_births,
    ),
    *(
        FitRace(
            name=name.replace("_", "-"),
            title=f"tiny: {name.replace('_', ' ')}",
            contestants=("fasttree", SKLEARN),
            task=Task(),
            claims=(Faster(SKLEARN, at_least=at_least),),
            load=_small(name),
            tiny=True,
        )
        # On iris 1.5 times scikit-learn's time is allowed.
        for name, at_least in zip(data.SMALL, (1 / 1.5, None, 1.0), strict=True)
    ),
    *(
        PredictRace(
            name=f"predict-{name}",
            title=f"predict_proba, one tree of {title}",
            contestants=(*EXACT, ONNX),
            task=Task(max_depth=max_depth),
            claims=(Faster(SKLEARN, at_least=3), Faster(ONNX, at_least=1.5), Faster(FASTEST_OTHER)),
            n_rows=500_000,
            n_columns=30,
            n_train=200_000,
        )
        for name, title, max_depth in TREES
    ),
    *(
        PredictRace(
            name=f"predict-one-{name}",
            title=f"predict_proba of one row, one tree of {title}",
            contestants=("fasttree", SKLEARN, ONNX),
            task=Task(max_depth=max_depth),
            claims=(TimesAtMost(SKLEARN, 0.3),),
            n_rows=210_000,
            n_columns=30,
            n_train=200_000,
            one_row=True,
        )
        for name, title, max_depth in TREES
    ),
    Memory(
        name="memory-exact",
        title="peak memory beyond X, exact gini, full depth",
        contestants=("fasttree", "snapml exact"),
        task=Task(),
        claims=(MemoryAtMost(10),),
        n_rows=1_000_000,
        n_columns=50,
    ),
    Memory(
        name="memory-binned",
        title="peak memory beyond X, 255 bins, depth 8",
        contestants=("fasttree", "scikit-learn hist", "snapml hist", "XGBoost hist", "LightGBM"),
        task=Task(max_depth=8, binned=True),
        claims=(MemoryAtMost(2),),
        n_rows=1_000_000,
        n_columns=50,
    ),
    Growth(
        name="growth",
        title="growth of cost, exact gini, depth 8",
        contestants=("fasttree",),
        task=Task(max_depth=8),
        claims=(DoublingAtMost(2.3),),
        sizes=(100_000, 200_000, 400_000, 800_000, 1_600_000),
        n_columns=50,
    ),
    *(
        FitRace(
            name=f"threads-{name}",
            title=f"threads, exact gini, {title}",
            contestants=("fasttree", ONE_THREAD),
            task=Task(max_depth=max_depth),
            claims=(Faster(ONE_THREAD, at_least=at_least),),
            load=_classification(1_000_000, 50),
        )
        for name, title, max_depth, at_least in (
            ("depth8", "depth 8", 8, 1.6),
            ("full", "full depth", None, None),
        )
    ),
    ImportRace(
        name="import",
        title="import in a fresh process",
        contestants=(OURS, *IMPORTED, "numpy, joblib", SKLEARN),
        task=Task(),
        claims=tuple(TimesAtMost("numpy, joblib", 2, ours) for ours in (OURS, IMPORTED[0])),
    ),
    *TABLE_SCENARIOS,
)
SCENARIOS = {scenario.name: scenario for scenario in _ALL}
