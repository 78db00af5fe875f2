# SPDX-License-Identifier: BSD-3-Clause
"""The synthetic cohort against the published Table 1."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

from fasttree.datasets import cesarean_table1, make_cesarean_cohort
from fasttree.stats import metrics
from fasttree.stats.significance import chi_square

pytestmark = pytest.mark.numeric

# By chance above these once in 1,000 tests, if each row had the rate of its level; they vary less than that.
CHI_SQUARE_999 = {1: 10.828, 2: 13.816, 3: 16.266, 4: 18.467, 5: 20.515}


def texts(column) -> np.ndarray:
    """The levels of a column as text, "" where missing."""
    return np.array(["" if value is None else value for value in np.asarray(column)], dtype=object)


@pytest.mark.parametrize("interactions", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_counts_are_those_of_table_1_and_rates_agree(seed: int, interactions: bool) -> None:
    X, y, probability = make_cesarean_cohort(random_state=seed, interactions=interactions)
    is_event = texts(y) == "yes"
    by_column: dict[str, list] = {}
    for row in cesarean_table1():
        by_column.setdefault(row.column, []).append(row)
    assert len(by_column) == 11
    for name, rows in by_column.items():
        values = texts(X[name])
        applies = texts(X["parity"]) == "parous" if name == "previous_cesarean" else True
        statistic, df = 0.0, 0
        for row in rows:
            here = (values == row.level) & applies
            assert np.count_nonzero(here) == row.total
            rate = row.cesarean / row.total
            # Without cesareans the rate is not quite 0; of the two rows, which others make up for.
            assert probability[here].mean() == pytest.approx(
                rate, abs=1.1e-3 if rate == 0 else 1e-6
            )
            if min(row.cesarean, row.total - row.cesarean) >= 5:
                expected = row.total * rate
                statistic += (is_event[here].sum() - expected) ** 2 / (expected * (1 - rate))
                df += 1
        assert statistic < CHI_SQUARE_999[df]


def test_parity_adds_up_to_the_derived_counts() -> None:
    X, _, probability = make_cesarean_cohort(random_state=3)
    parity = texts(X["parity"])
    assert Counter(parity) == {"nulliparous": 10_197, "parous": 11_960}
    assert probability[parity == "nulliparous"].sum() == pytest.approx(1_963, abs=0.01)
    assert probability[parity == "parous"].sum() == pytest.approx(1_772, abs=0.01)
    assert set(texts(X["previous_cesarean"])[parity == "nulliparous"]) == {""}


def test_the_headline_cohort_is_additive_in_the_log_odds() -> None:
    """Equal differences of log odds between two levels, whatever the others are; not so with interactions."""
    table1 = {row.column for row in cesarean_table1()} | {"parity"}
    for interactions in (False, True):
        X, _, p = make_cesarean_cohort(random_state=1, interactions=interactions)
        log_odds = np.log(p / (1 - p))
        # Least squares on all indicators of Table 1: nothing is left over.
        columns = [np.ones(len(p))]
        for name in table1:
            columns += [X[name].codes == k for k in range(-1, len(X[name].categories) - 1)]
        table = np.column_stack(columns).astype(float)
        fitted = table @ np.linalg.lstsq(table, log_odds, rcond=None)[0]
        left = np.abs(fitted - log_odds).max()
        assert left > 0.1 if interactions else left < 1e-9


def test_there_are_78_attributes_of_both_kinds_with_missing_values() -> None:
    X, y, _ = make_cesarean_cohort()
    assert len(X) == 78
    assert {len(column) for column in X.values()} == {len(y)} == {22_157}
    numeric = [name for name, column in X.items() if not hasattr(column, "codes")]
    assert len(numeric) == 12
    with_holes = [
        n for n, c in X.items() if (np.isnan(c).any() if n in numeric else (c.codes < 0).any())
    ]
    assert 20 <= len(with_holes) <= 40


def test_what_table_1_does_not_hold_says_nothing() -> None:
    X, _, probability = make_cesarean_cohort(random_state=5)
    event = probability > np.median(probability)
    p_values = []
    for name in list(X)[12:]:
        column = X[name]
        codes = column.codes if hasattr(column, "codes") else (column > np.nanmedian(column)) * 1
        table = [
            [np.sum(event & (codes == k)), np.sum(~event & (codes == k))] for k in np.unique(codes)
        ]
        p_values.append(chi_square(table).p)
    assert len(p_values) == 66
    assert np.mean(np.array(p_values) < 0.05) < 0.15


def test_the_seed_decides() -> None:
    first, again, other = (make_cesarean_cohort(2_000, seed) for seed in (4, 4, 5))
    for name, column in first.X.items():
        assert np.array_equal(texts(column), texts(again.X[name])) or np.array_equal(
            column, again.X[name], equal_nan=True
        )
    assert np.array_equal(first.y.codes, again.y.codes)
    assert np.array_equal(first.probability, again.probability)
    assert not np.array_equal(first.y.codes, other.y.codes)
    default, zero = make_cesarean_cohort(500, None), make_cesarean_cohort(500, 0)
    assert np.array_equal(default.probability, zero.probability)


def test_interactions_change_the_outcome_alone() -> None:
    plain, crossed = (make_cesarean_cohort(3_000, 0, interactions=on) for on in (False, True))
    assert all(np.array_equal(texts(plain.X[n]), texts(crossed.X[n])) for n in list(plain.X)[:12])
    assert not np.array_equal(plain.probability, crossed.probability)


@pytest.mark.parametrize("n_rows", [100, 500, 5_000, 50_000])
def test_other_sizes_scale_the_counts(n_rows: int) -> None:
    X, y, probability = make_cesarean_cohort(n_rows, 1)
    assert len(y) == n_rows
    assert 0 < probability.min() < probability.max() < 1
    totals: dict[str, int] = {}
    for row in cesarean_table1():
        totals[row.column] = totals.get(row.column, 0) + row.total
    for row in cesarean_table1():
        if row.column != "previous_cesarean":
            count = np.count_nonzero(texts(X[row.column]) == row.level)
            assert abs(count - row.total / 22_157 * n_rows) < 1
    assert metrics.roc_auc(texts(y), probability) > 0.8


def test_a_frame_holds_the_same_values() -> None:
    pandas = pytest.importorskip("pandas")
    X, y, probability = make_cesarean_cohort(300, as_frame=True)
    columns = make_cesarean_cohort(300)
    assert isinstance(X, pandas.DataFrame)
    assert list(X.columns) == list(columns.X)
    assert list(X["age"].cat.categories) == list(columns.X["age"].categories)
    assert X["age"].cat.codes.tolist() == columns.X["age"].codes.tolist()
    assert y.tolist() == texts(columns.y).tolist()
    assert np.array_equal(probability, columns.probability)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"n_rows": 99}, ValueError, "n_rows must be an integer of at least 100"),
        ({"n_rows": 200.5}, TypeError, "n_rows must be an integer"),
        ({"random_state": -1}, ValueError, "random_state"),
        ({"random_state": True}, ValueError, "random_state"),
    ],
)
def test_bad_arguments(arguments: dict, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        make_cesarean_cohort(**arguments)


def test_pandas_is_not_needed() -> None:
    code = (
        "import sys; sys.modules['pandas'] = None\n"
        "from fasttree.datasets import make_cesarean_cohort\n"
        "make_cesarean_cohort(100)\n"
        "try: make_cesarean_cohort(100, as_frame=True)\n"
        "except ImportError as error: assert 'requires pandas' in str(error)\n"
        "else: raise SystemExit('no error')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
