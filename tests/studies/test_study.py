# SPDX-License-Identifier: BSD-3-Clause
"""The cesarean study on small cohorts and on tables of others."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

import numpy as np
import pytest

from fasttree import Categorical, SMMLClassifier
from fasttree.datasets import make_cesarean_cohort
from fasttree.stats import metrics
from fasttree.stats.curves import GRID, bins_of, roc_on_grid
from fasttree.studies import cesarean
from fasttree.studies.figures import calibration_bins, calibration_line, wilson
from fasttree.studies.groups import read_study_table
from fasttree.studies.methods import COMPLETE, METHODS, Halves, answers
from fasttree.studies.protocol import _Log
from fasttree.studies.results import StudyResult
from fasttree.studies.table1 import printed_table1


@pytest.fixture(scope="module")
def result() -> StudyResult:
    return cesarean.run(n_rows=1_500, seeds=2)


def own_table(n: int = 300, seed: int = 0) -> dict:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    shape = rng.integers(0, 3, n)
    y = rng.random(n) < 1 / (1 + np.exp(-(2 * x + shape - 1)))
    return {
        "x": np.where(rng.random(n) < 0.1, np.nan, x),
        "shape": Categorical.from_codes(shape, ["round", "square", "flat"]),
        "site": Categorical.from_codes(rng.integers(0, 2, n), ["north", "south"]),
        "sick": Categorical.from_codes(y.astype(int), ["no", "yes"]),
    }


# -- what a study holds ------------------------------------------------------------------------------------------------


def test_every_method_on_every_split(result: StudyResult) -> None:
    assert [group.name for group in result.groups] == ["nulliparous", "parous"]
    assert result.methods == METHODS
    assert result.synthetic
    assert result.n_attributes == 78
    for group in result.groups:
        found = {(fit.method, fit.seed) for fit in group.fits}
        assert {(method, seed) for method in METHODS for seed in (0, 1)} <= found
        for fit in group.fits:
            assert 0.4 < fit.auc <= 1
            assert 0 <= fit.auc_se < 0.1  # 0: one leaf
            assert 0 < fit.error < 0.5
            assert fit.fit_seconds > 0
            is_tree = "Logistic" not in fit.method
            assert math.isnan(fit.leaves) != is_tree
            assert math.isnan(fit.auc_laplace) == (
                fit.method not in ("ID3", "C4.5", "CART", "CART0")
            )
        assert group.n_train + group.n_test == group.n_rows
    nulliparous = result.group("nulliparous")
    assert nulliparous.left_out == {"previous_cesarean": "all values are missing in this group"}
    assert "parity" not in nulliparous.attributes
    assert 0.7 < nulliparous.reference_auc.mean < 1


def test_figures_are_those_of_a_fit_by_hand() -> None:
    table = own_table()
    result = cesarean.run(table, "sick", seeds=[3], methods=["SMML", "Logistic"])
    fit = next(fit for fit in result.groups[0].fits if fit.method == "SMML")
    halves = Halves.of(read_study_table(table, "sick", None, None).groups[0], 3)
    assert sorted([*halves.train, *halves.test]) == list(range(300))

    def part(rows: np.ndarray) -> dict:
        return {
            "x": table["x"][rows],
            "shape": Categorical.from_codes(table["shape"].codes[rows], table["shape"].categories),
            "site": Categorical.from_codes(table["site"].codes[rows], table["site"].categories),
        }

    y = table["sick"].codes
    model = SMMLClassifier().fit(part(halves.train), y[halves.train])
    p = model.predict_proba(part(halves.test))[:, 1]
    assert fit.auc == pytest.approx(metrics.roc_auc(y[halves.test], p), abs=1e-12)
    assert fit.log_loss == pytest.approx(metrics.log_loss(y[halves.test], p), abs=1e-12)
    assert fit.error == pytest.approx(np.mean((p > 0.5) != y[halves.test]))
    assert (fit.leaves, fit.depth) == (model.get_n_leaves(), model.get_depth())
    tree = result.groups[0].trees[0]
    assert tree.tree == model.tree_ or tree.tree.size == model.tree_.size
    leaf = model.apply(part(halves.test))
    for node in tree.nodes:
        if not node.attribute:
            here = leaf == node.node
            assert (node.test.rows, node.test.events) == (here.sum(), y[halves.test][here].sum())


def test_halves_are_the_same_whatever_the_order_of_the_rows_and_hold_half_of_each_class() -> None:
    table = own_table(301)
    table["x"] = np.arange(301.0)  # no two rows alike
    group = read_study_table(table, "sick", None, None).groups[0]
    train, test = group.halves(0)
    assert abs(group.is_event[train].sum() - group.is_event[test].sum()) <= 1
    order = np.random.default_rng(1).permutation(301)
    shuffled = {
        name: column[order]
        if isinstance(column, np.ndarray)
        else Categorical.from_codes(column.codes[order], column.categories)
        for name, column in table.items()
    }
    again, _ = read_study_table(shuffled, "sick", None, None).groups[0].halves(0)
    assert sorted(order[again]) == sorted(train)
    assert sorted(group.halves(1)[0]) != sorted(train)


def test_nodes_and_rules_of_the_trees_count_the_rows(result: StudyResult) -> None:
    for group in result.groups:
        for tree in group.trees:
            root = tree.nodes[0]
            assert root.train.rows == pytest.approx(group.n_train)
            assert root.test.rows == group.n_test
            leaves = [node for node in tree.nodes if not node.attribute]
            assert sum(node.test.rows for node in leaves) == group.n_test
            assert sum(rule.train.rows for rule in tree.rules) == pytest.approx(group.n_train)
            assert sum(rule.test.rows for rule in tree.rules) <= group.n_test
            for rule in tree.rules:
                assert rule.train.low <= rule.train.rate <= rule.train.high
            assert all(node.condition for node in tree.nodes[1:])
            # A rule's conditions name what its path asks for.
            for rule, node in zip(
                tree.rules, [n for n in _printed(tree.nodes) if n.train.rows > 0], strict=True
            ):
                asked = set()
                while node.parent >= 0:
                    node = tree.nodes[node.parent]
                    asked.add(node.attribute)
                assert {condition.split()[0] for condition in rule.conditions} == asked


def _printed(nodes: tuple) -> list:
    children: dict[int, list] = {}
    for node in nodes[1:]:
        children.setdefault(node.parent, []).append(node)
    found, stack = [], [nodes[0]]
    while stack:
        node = stack.pop()
        if not node.attribute:
            found.append(node)
        stack.extend(reversed(children.get(node.node, [])))
    return found


def test_table_1_of_the_study_is_that_of_its_rows(result: StudyResult) -> None:
    assert [variable.name for variable in result.table1] == [v.name for v in result.printed_table1]
    cohort = make_cesarean_cohort(1_500)
    for variable in result.table1:
        codes = cohort.X[variable.name].codes
        for place, level in enumerate(v for v in variable.levels if not v.is_missing):
            assert level.rows == np.count_nonzero(codes == place)
            assert level.events == np.count_nonzero(cohort.y.codes[codes == place])


def test_printed_p_values_are_found_again() -> None:
    found = {variable.name: variable for variable in printed_table1()}
    assert len(found) == 11
    cigarettes = found.pop("cigarettes")
    assert round(cigarettes.p_value, 3) == 0.747
    assert round(cigarettes.chi_square, 3) == 0.104
    assert cigarettes.df == 1
    assert cigarettes.printed_p == "=.747"
    assert [level.level for level in cigarettes.levels] == ["no", "yes", "Missing"]
    for variable in found.values():
        assert variable.printed_p == "<.001"
        assert variable.p_value < 0.001
    assert found["age"].chi_square == pytest.approx(212.355, abs=5e-4)
    assert found["presentation"].chi_square == pytest.approx(4936.796, abs=5e-4)


def test_differences_are_between_the_splits(result: StudyResult) -> None:
    group = result.groups[1]
    area = {(fit.method, fit.seed): fit.auc for fit in group.fits}
    found = [d for d in group.differences if d.measure == "auc"]
    assert len(found) == 28
    for d in found:
        by_split = [area[d.first, seed] - area[d.second, seed] for seed in (0, 1)]
        assert d.mean == pytest.approx(np.mean(by_split))
        # Halves: the variance counts 1/k and test/train together.
        share = group.n_test / group.n_train
        assert d.corrected_se == pytest.approx(np.std(by_split, ddof=1) * math.sqrt(1 / 2 + share))
        assert 0 <= d.delong_p <= 1
    errors = {(fit.method, fit.seed): fit.error for fit in group.fits}
    d = next(d for d in group.differences if d.measure == "error")
    assert d.mean == pytest.approx(
        np.mean([errors[d.first, seed] - errors[d.second, seed] for seed in (0, 1)])
    )


def test_standard_errors_allow_for_shared_rows(result: StudyResult) -> None:
    for group in result.groups:
        share = group.n_test / group.n_train
        areas = [fit.auc for fit in group.fits if fit.method == "SMML"]
        found = group.summary("SMML").spreads["auc"]
        assert found.sd == pytest.approx(np.std(areas, ddof=1))
        assert found.se == pytest.approx(found.sd * math.sqrt(1 / 2 + share))


def test_risk_factors_are_counted(result: StudyResult) -> None:
    cohort = make_cesarean_cohort(1_500)
    carried = np.zeros(1_500, dtype=bool)
    for name, levels in cesarean.RISK_FACTORS.items():
        carried |= np.isin(np.asarray(cohort.X[name]).astype(str), levels)
    for code, group in enumerate(result.groups):
        events = (cohort.X["parity"].codes == code) & (cohort.y.codes == 1)
        assert group.risk.events == events.sum()
        assert group.risk.events_with.events == (events & carried).sum()
        assert group.risk.events_in_test.mean == pytest.approx(events.sum() / 2, abs=1)
        assert {one.method for one in group.risk.without} >= set(METHODS)


def test_the_result_is_json(result: StudyResult) -> None:
    read = json.loads(result.to_json())
    assert read == result.to_dict()
    assert read["groups"][0]["fits"][0]["method"] == "ID3"
    assert read["groups"][0]["fits"][0]["seed"] == 0
    logistic = next(fit for fit in read["groups"][0]["fits"] if fit["method"] == "Logistic")
    assert logistic["leaves"] is None
    assert "tree" not in read["groups"][0]["trees"][0]


def test_the_seeds_decide_and_threads_do_not() -> None:
    def figures(n_jobs: int | None, seeds: list[int]) -> list:
        found = cesarean.run(
            n_rows=600, seeds=seeds, n_jobs=n_jobs, methods=["smml", "CART", "Logistic"]
        )
        return [(f.method, f.seed, f.auc, f.log_loss) for g in found.groups for f in g.fits]

    once = figures(None, [1])
    assert once == figures(2, [1])
    assert once != figures(None, [2])


def test_progress_is_told_of_every_split() -> None:
    told: list[tuple[int, int]] = []
    cesarean.run(
        own_table(), "sick", "site", seeds=2, methods="SMML", progress=lambda *n: told.append(n)
    )
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


# -- figures -----------------------------------------------------------------------------------------------------------


def test_the_curve_on_the_grid_has_the_roc_area_below_it() -> None:
    rng = np.random.default_rng(0)
    is_event = rng.random(3_000) < 0.3
    for places in (1, 2, 8):  # many ties, some, none
        p = np.round(np.clip(0.3 + 0.3 * is_event + rng.normal(0, 0.3, 3_000), 0, 1), places)
        curve = roc_on_grid(is_event, p)
        area = float(((curve[1:] + curve[:-1]) / 2 * np.diff(GRID)).sum())
        assert area == pytest.approx(metrics.roc_auc(is_event, p), abs=2e-3)
        assert (np.diff(curve) >= 0).all()
        assert curve[-1] == 1
    assert roc_on_grid(is_event, np.full(3_000, 0.2)) == pytest.approx(GRID)
    assert (roc_on_grid(is_event, is_event.astype(float)) == 1).all()


def test_calibration_of_true_probabilities() -> None:
    rng = np.random.default_rng(1)
    p = rng.beta(1, 3, 20_000)
    is_event = rng.random(20_000) < p
    slope, intercept = calibration_line(is_event, p)
    assert slope == pytest.approx(1, abs=0.06)
    assert intercept == pytest.approx(0, abs=0.06)
    log_odds = np.log(np.clip(p, 0.001, 0.999) / (1 - np.clip(p, 0.001, 0.999)))
    overconfident = 1 / (1 + np.exp(-2 * log_odds))
    assert calibration_line(is_event, overconfident)[0] == pytest.approx(slope / 2, abs=0.05)
    assert math.isnan(calibration_line(is_event, np.full(20_000, 0.25))[0])
    bins = calibration_bins(is_event, p)
    assert len(bins) == 10
    assert sum(one.observed.rows for one in bins) == 20_000
    for one in bins:
        assert one.predicted == pytest.approx(one.observed.rate, abs=0.05)
    assert len(calibration_bins(is_event, np.full(20_000, 0.25))) == 1


def covered(bins: Any, place: np.ndarray, true: np.ndarray) -> list[bool]:
    """Are the mean true probabilities of the rows of each bin within its limits?"""
    means = np.bincount(place, true) / np.bincount(place)
    limits = [(one.observed.low, one.observed.high) for one in bins]
    return [low <= mean <= high for (low, high), mean in zip(limits, means, strict=True)]


def test_limits_of_rows_that_were_tested_again_and_again() -> None:
    """Ten times half of the rows, by models that differ a little: 95 % limits cover the truth 95 times of 100."""
    fair, naive = [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        true = rng.beta(1, 3, 400)
        is_event = rng.random(400) < true
        row = np.concatenate([rng.permutation(400)[:200] for _ in range(10)])
        p = np.clip(true[row] + rng.normal(scale=0.05, size=2000), 0, 1)
        place = bins_of(p)
        fair += covered(calibration_bins(is_event[row], p, row), place, true[row])
        naive += covered(calibration_bins(is_event[row], p), place, true[row])
    assert 0.93 < np.mean(fair) < 0.99
    assert np.mean(naive) < 0.85


def test_a_row_counts_once_however_often_it_was_tested() -> None:
    p = np.linspace(0.01, 0.99, 100)
    is_event = np.arange(100) % 3 == 0
    once = calibration_bins(is_event, p, np.arange(100))
    assert once == calibration_bins(is_event, p)
    five = calibration_bins(np.tile(is_event, 5), np.tile(p, 5), np.tile(np.arange(100), 5))
    for one, again in zip(once, five, strict=True):
        assert again.observed.rows == 5 * one.observed.rows
        expected = one.observed.rate, one.observed.low, one.observed.high
        found = again.observed.rate, again.observed.low, again.observed.high
        assert found == pytest.approx(expected)


@pytest.mark.slow
def test_limits_of_calibration_cover_the_truth(length: int) -> None:
    """Of the mean true probability of the rows of each bin, over cohorts that were drawn anew."""
    n_rows, cohorts, least = (10_000, 12, 0.93) if length > 1 else (1000, 2, 0.8)
    found: list[bool] = []
    for random_state in range(cohorts):
        X, y, probability = make_cesarean_cohort(n_rows, random_state)
        table = read_study_table({**X, "cesarean": y}, "cesarean", "parity", None)
        for group in table.groups:
            log = _Log(group, ["SMML"], None)
            for seed in range(10):
                halves = Halves.of(group, seed)
                log.add(halves, answers(halves, ["SMML"], None))
            _, p, row = (np.concatenate(part) for part in zip(*log.pooled["SMML"], strict=True))
            true = probability[group.rows][row]
            found += covered(log._calibration("SMML").bins, bins_of(p), true)
    assert np.mean(found) > least


def test_wilson_limits_are_those_of_statsmodels() -> None:
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    for events, rows in ((0, 12), (5, 10), (676, 980), (12, 12)):
        found = wilson(events, rows)
        theirs = proportion.proportion_confint(events, rows, method="wilson")
        assert (found.low, found.high) == pytest.approx(theirs, abs=1e-12)


# -- tables of others --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_table_of_any_library(library: str) -> None:
    module = pytest.importorskip(library)
    columns = own_table()
    plain = {n: np.asarray(c).tolist() if hasattr(c, "codes") else c for n, c in columns.items()}
    table = module.table(plain) if library == "pyarrow" else module.DataFrame(plain)
    result = cesarean.run(table, "sick", "site", seeds=1, methods=["ID3", "Logistic"])
    assert [group.name for group in result.groups] == ["north", "south"]
    assert not result.synthetic
    assert result.event == "yes"
    assert result.groups[0].risk is None
    assert result.groups[0].reference_auc is None
    assert {variable.name for variable in result.table1} == {"x", "shape"}
    assert sum(level.rows for level in result.table1[0].levels) == 300
    assert result.groups[0].logistic[0].missing == "an indicator of its own"


def test_the_other_class_may_be_the_event() -> None:
    first = cesarean.run(own_table(), "sick", seeds=1, methods="Logistic").groups[0]
    other = cesarean.run(own_table(), "sick", event="no", seeds=1, methods="Logistic").groups[0]
    assert other.n_events == first.n_rows - first.n_events
    assert result_of(other, "Logistic").auc == pytest.approx(
        result_of(first, "Logistic").auc, abs=0.05
    )


def result_of(group, method: str):
    return next(fit for fit in group.fits if fit.method == method)


def test_risk_factors_of_ones_own() -> None:
    table = own_table()
    group = cesarean.run(
        table, "sick", seeds=1, methods="SMML", risk_factors={"shape": ["square", "flat"]}
    ).groups[0]
    sick, carried = table["sick"].codes == 1, table["shape"].codes > 0
    assert group.risk.rows_with == carried.sum()
    assert group.risk.events_with.events == (sick & carried).sum()


def test_complete_cases_are_judged_by_rows_that_have_the_values() -> None:
    group = cesarean.run(own_table(), "sick", seeds=1, methods="Logistic").groups[0]
    complete = result_of(group, COMPLETE)
    assert complete.n_train < group.n_train
    assert complete.n_test < group.n_test
    whole = own_table()
    whole["x"] = np.nan_to_num(whole["x"])
    group = cesarean.run(whole, "sick", seeds=1, methods="Logistic").groups[0]
    assert [fit.method for fit in group.fits] == ["Logistic"]
    assert any("complete cases" in note for note in group.notes)


def test_attributes_without_a_value_are_left_out_and_named() -> None:
    table = own_table()
    table["empty"] = np.full(300, np.nan)
    table["nothing"] = Categorical([None] * 300, ["a", "b"])
    table["same"] = np.ones(300)
    group = cesarean.run(table, "sick", seeds=1, methods=["SMML", "Logistic"]).groups[0]
    assert set(group.left_out) == {"empty", "nothing", "same"}
    assert "all values are missing in this group" in group.left_out["empty"]
    only = {"empty": table["empty"], "sick": table["sick"]}
    with pytest.raises(ValueError, match="no attribute with at least two different values: empty"):
        cesarean.run(only, "sick", seeds=1)


def test_rows_without_a_group_are_left_out_and_counted() -> None:
    table = own_table()
    codes = table["site"].codes.copy()
    codes[:7] = -1
    table["site"] = Categorical.from_codes(codes, ["north", "south"])
    result = cesarean.run(table, "sick", "site", seeds=1, methods="SMML")
    assert sum(group.n_rows for group in result.groups) == 293
    assert "7 rows" in result.notes[0]


# -- bad input ---------------------------------------------------------------------------------------------------------


def grouped(sizes: list[int], events: list[int]) -> dict:
    table = own_table(sum(sizes))
    table["site"] = Categorical.from_codes(np.repeat([0, 1], sizes), ["north", "south"])
    y = np.concatenate([np.arange(n) < k for n, k in zip(sizes, events, strict=True)])
    table["sick"] = Categorical.from_codes(y.astype(int), ["no", "yes"])
    return table


@pytest.mark.parametrize(
    ("sizes", "events", "words"),
    [
        ([49, 200], [20, 80], "the group 'north' has 49 rows, but a study needs at least 50"),
        ([100, 200], [0, 80], r"the group 'north' has only one outcome \(no rows are 'yes'\)"),
        ([100, 200], [40, 200], r"the group 'south' has only one outcome \(all rows are 'yes'\)"),
        ([100, 200], [40, 5], "the group 'south' has 5 rows of the rarer outcome"),
    ],
)
def test_groups_that_are_too_small_or_have_one_class(
    sizes: list[int], events: list[int], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        cesarean.run(grouped(sizes, events), "sick", "site", seeds=1)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({}, ValueError, "target must be the column"),
        ({"target": "ill"}, ValueError, "target must be a column of data, .*, got 'ill'"),
        (
            {"target": "sick", "by": "place"},
            ValueError,
            "by must be a column of data, .*, got 'place'",
        ),
        ({"target": "shape"}, ValueError, "must have two classes, but it has 3"),
        (
            {"target": "sick", "by": "x"},
            ValueError,
            "by must be a column with at most 12 distinct values",
        ),
        (
            {"target": "sick", "event": "maybe"},
            ValueError,
            "event must be a class of .*, got 'maybe'",
        ),
        (
            {"target": "sick", "seeds": 0},
            ValueError,
            "seeds must be an integer of at least 1, got 0",
        ),
        ({"target": "sick", "seeds": [1, 1]}, ValueError, "different integers"),
        ({"target": "sick", "seeds": "ten"}, TypeError, "seeds must be a number"),
        ({"target": "sick", "seeds": [-1]}, ValueError, "of at least 0"),
        (
            {"target": "sick", "methods": ["SMML", "forest"]},
            ValueError,
            "methods must be some of .*, got 'forest'",
        ),
        (
            {"target": "sick", "methods": []},
            ValueError,
            "methods must have at least one name, got none",
        ),
        (
            {"target": "sick", "n_rows": 500},
            ValueError,
            "n_rows applies only to the synthetic cohort",
        ),
        ({"target": "sick", "risk_factors": {"colour": ["red"]}}, ValueError, "lists 'colour'"),
        ({"target": "sick", "risk_factors": {"shape": ["oval"]}}, ValueError, "lists 'oval'"),
        ({"target": "sick", "risk_factors": {"x": ["1"]}}, ValueError, "numeric"),
    ],
)
def test_bad_arguments(arguments: dict, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        cesarean.run(own_table(), **({"seeds": 1} | arguments))


def test_a_table_needs_names_and_columns() -> None:
    with pytest.raises(TypeError, match="named columns"):
        cesarean.run(np.zeros((100, 3)), "sick")
    with pytest.raises(ValueError, match="no columns besides"):
        cesarean.run({"sick": own_table()["sick"]}, "sick")
    with pytest.raises(ValueError, match="are columns of data"):
        cesarean.run(target="cesarean")


def test_without_statsmodels_the_study_runs_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("statsmodels")
    with_it = cesarean.run(own_table(), "sick", seeds=1, methods="Logistic").groups[0].logistic[0]
    assert with_it.fitted_by == "statsmodels"
    for name in ("statsmodels", "statsmodels.api", "threadpoolctl"):
        monkeypatch.setitem(sys.modules, name, None)
    without = cesarean.run(own_table(), "sick", seeds=1, methods="Logistic").groups[0].logistic[0]
    assert without.fitted_by == "fasttree"
    assert "pip install 'fasttree[study]'" in without.notes[0]
    for one, other in zip(without.coefficients, with_it.coefficients, strict=True):
        assert one.label == other.label
        assert one.estimate == pytest.approx(other.estimate, abs=1e-5)
        assert one.standard_error == pytest.approx(other.standard_error, abs=1e-5)
        assert one.p_value == pytest.approx(other.p_value, abs=1e-5)


def test_separated_outcomes_are_reported() -> None:
    table = own_table(400)
    sick = table["sick"].codes == 1
    codes = np.zeros(400, dtype=int)
    codes[np.flatnonzero(sick)[:60]] = 1
    table["breech"] = Categorical.from_codes(codes, ["no", "yes"])
    report = cesarean.run(table, "sick", seeds=1, methods="Logistic").groups[0].logistic[0]
    assert report.separated == ("breech = yes",)
    assert "separated" in report.notes[0]
    of_breech = next(c for c in report.coefficients if c.label == "breech = yes")
    assert of_breech.separated
    assert math.isnan(of_breech.high)
    assert report.p_values["breech"] < 0.001
