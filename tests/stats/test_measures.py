# SPDX-License-Identifier: BSD-3-Clause
"""The measures against worked examples, other libraries, and the laws that they must obey."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fasttree import datasets
from fasttree.stats import measures

pytestmark = pytest.mark.numeric

# From an independent brute force: every table of PlayTennis (the root, sunny and rainy days) and
# of the mammals (10, 8 and 5 rows, and the warm-blooded ones), attribute values x classes.
# table         conditional entropy  gain      split info    gain ratio    gini of the split
IMPURITY = """
2 3, 4 0, 3 2   0.6935361389  0.2467498198  1.5774062829  0.1564275624  0.3428571429
2 2, 4 2, 3 1   0.9110633930  0.0292225657  1.5566567075  0.0187726462  0.4404761905
3 4, 6 1        0.7884504573  0.1518355014  1.0000000000  0.1518355014  0.3673469388
6 2, 3 3        0.8921589283  0.0481270304  0.9852281360  0.0488486155  0.4285714286
0 2, 1 1, 1 0   0.4000000000  0.5709505945  1.5219280949  0.3751495201  0.2000000000
0 3, 2 0        0.0000000000  0.9709505945  0.9709505945  1.0000000000  0.0000000000
1 2, 1 1        0.9509775004  0.0199730940  0.9709505945  0.0205706595  0.4666666667
0 0, 2 1, 1 1   0.9509775004  0.0199730940  0.9709505945  0.0205706595  0.4666666667
1 1, 2 1        0.9509775004  0.0199730940  0.9709505945  0.0205706595  0.4666666667
3 0, 0 2        0.0000000000  0.9709505945  0.9709505945  1.0000000000  0.0000000000
1 2, 0 2        0.5509775004  0.1709505945  0.9709505945  0.1760651834  0.2666666667
1 1, 0 3        0.4000000000  0.3219280949  0.9709505945  0.3315597073  0.2000000000
4 2, 0 2        0.6887218755  0.3112781245  0.8112781245  0.3836885466  0.3333333333
2 1, 2 3        0.9512050593  0.0487949407  0.9544340029  0.0511244785  0.4666666667
1 2, 3 2        0.9512050593  0.0487949407  0.9544340029  0.0511244785  0.4666666667
2 3, 0 5        0.4854752972  0.2364527977  1.0000000000  0.2364527977  0.2400000000
2 2, 0 6        0.4000000000  0.3219280949  0.9709505945  0.3315597073  0.2000000000
1 3, 1 5        0.7145247028  0.0074033921  0.9709505945  0.0076248907  0.3166666667
2 2, 0 1        0.8000000000  0.1709505945  0.7219280949  0.2367972595  0.4000000000
2 0, 0 3        0.0000000000  0.9709505945  0.9709505945  1.0000000000  0.0000000000
1 1, 1 2        0.9509775004  0.0199730940  0.9709505945  0.0205706595  0.4666666667
"""
# table         chi-square   df  p            G             p of G
INDEPENDENCE = """
2 3, 4 0, 3 2   3.5466666667  2  0.1697661574  4.7889503726  0.0912205401
2 2, 4 2, 3 1   0.5703703704  2  0.7518750053  0.5671550919  0.7530847212
3 4, 6 1        2.8000000000  1  0.0942643068  2.9468417910  0.0860455602
6 2, 3 3        0.9333333333  1  0.3339982558  0.9340552322  0.3338113878
0 2, 1 1, 1 0   2.9166666667  2  0.2326236579  3.9575279479  0.1382400000
0 3, 2 0        5.0000000000  1  0.0253473187  6.7301166701  0.0094798399
1 2, 1 1        0.1388888889  1  0.7093881150  0.1384429381  0.7098338753
0 0, 2 1, 1 1   0.1388888889  1  0.7093881150  0.1384429381  0.7098338753
1 1, 2 1        0.1388888889  1  0.7093881150  0.1384429381  0.7098338753
3 0, 0 2        5.0000000000  1  0.0253473187  6.7301166701  0.0094798399
1 2, 0 2        0.8333333333  1  0.3613104285  1.1849392256  0.2763527564
1 1, 0 3        1.8750000000  1  0.1709035202  2.2314355131  0.1352281577
4 2, 0 2        2.6666666667  1  0.1024704349  3.4521848694  0.0631682168
2 1, 2 3        0.5333333333  1  0.4652088185  0.5411532091  0.4619551918
1 2, 3 2        0.5333333333  1  0.4652088185  0.5411532091  0.4619551918
2 3, 0 5        2.5000000000  1  0.1138462980  3.2779318007  0.0702173623
2 2, 0 6        3.7500000000  1  0.0528075114  4.4628710263  0.0346392307
1 3, 1 5        0.1041666667  1  0.7468856334  0.1026328074  0.7486927497
2 2, 0 1        0.8333333333  1  0.3613104285  1.1849392256  0.2763527564
2 0, 0 3        5.0000000000  1  0.0253473187  6.7301166701  0.0094798399
1 1, 1 2        0.1388888889  1  0.7093881150  0.1384429381  0.7098338753
"""


def read(text: str) -> list[Any]:
    """One (table, numbers) a line: "2 3, 4 0" is [[2, 3], [4, 0]], the table ends at two blanks."""
    cases = []
    for line in text.strip().splitlines():
        table, numbers = line.split("  ", maxsplit=1)
        cells = [[int(count) for count in row.split()] for row in table.split(",")]
        cases.append(pytest.param(cells, [float(number) for number in numbers.split()], id=table))
    return cases


def near(expected: Any, tolerance: float = 1e-10) -> Any:
    return pytest.approx(expected, rel=0, abs=tolerance)


@pytest.mark.parametrize(("table", "expected"), read(IMPURITY))
def test_worked_examples(table: list[list[int]], expected: list[float]) -> None:
    numbers = [
        measures.conditional_entropy(table),
        measures.information_gain(table),
        measures.split_info(table),
        measures.gain_ratio(table),
        measures.gini_split(table),
    ]
    assert numbers == near(expected)
    assert measures.mutual_information(table) == near(expected[1])


@pytest.mark.parametrize(("table", "expected"), read(INDEPENDENCE))
def test_worked_tests_of_independence(table: list[list[int]], expected: list[float]) -> None:
    statistic, df, p, g, g_p = expected
    assert measures.chi_square(table) == near((statistic, df, p))
    assert measures.g_statistic(table) == near((g, df, g_p))


def test_impurities_of_the_roots() -> None:
    assert measures.entropy([9, 5]) == near(0.940285958670631)
    assert measures.gini([9, 5]) == near(0.4591836734693877)
    assert measures.misclassification([9, 5]) == near(5 / 14)
    assert measures.entropy([2, 8]) == near(0.7219280948873624)
    assert measures.gini([2, 8]) == near(0.32)


@pytest.mark.parametrize(
    ("table", "left", "expected"),
    [
        ([[2, 3], [4, 0], [3, 2]], [1], 0.35714285714285715),
        ([[2, 3], [4, 0], [3, 2]], [0], 0.3936507936507937),
        ([[2, 3], [4, 0], [3, 2]], [2], 0.45714285714285713),
        ([[2, 2], [4, 2], [3, 1]], [0], 0.4428571428571429),
        ([[2, 2], [4, 2], [3, 1]], [2], 0.45),
        ([[2, 2], [4, 2], [3, 1]], [1], 0.4583333333333333),
        ([[0, 2], [1, 1], [1, 0]], [0], 0.26666666666666666),
    ],
)
def test_binary_gini(table: list[list[int]], left: list[int], expected: float) -> None:
    binary = measures.binary_table(table, left)
    assert measures.gini_split(binary) == near(expected)
    root = np.sum(table, axis=0)
    assert measures.gini_reduction(binary) == near(measures.gini(root) - expected)
    others = [row for row in range(3) if row not in left]
    assert measures.gini_split(measures.binary_table(table, others)) == near(expected)


def test_reductions_of_the_root() -> None:
    outlook = [[2, 3], [4, 0], [3, 2]]
    assert measures.gini_reduction(outlook) == near(0.4591836734693877 - 0.34285714285714286)
    # 5 errors before; 2 among sunny days, 2 among rainy days after.
    assert measures.misclassification_reduction(outlook) == near(1 / 14)


def test_an_identifier_has_the_largest_gain_and_even_the_largest_ratio() -> None:
    date = [[1, 0]] * 9 + [[0, 1]] * 5
    assert measures.information_gain(date) == near(0.940285958670631)
    assert measures.split_info(date) == near(math.log2(14))
    assert measures.gain_ratio(date) == near(0.246966, 5e-7)


def test_missing_values_shrink_the_gain_and_are_one_more_branch() -> None:
    # PlayTennis without the outlook of the twelfth day.
    known = [[2, 3], [3, 0], [3, 2]]
    assert measures.conditional_entropy(known) == near(0.746885, 5e-7)
    assert measures.information_gain(known, missing=1) == near(0.199041, 5e-7)
    assert measures.split_info(known, missing=1) == near(1.809200, 5e-7)
    assert measures.gain_ratio(known, missing=1) == near(0.110016, 5e-7)
    for reduction in (measures.gini_reduction, measures.misclassification_reduction):
        assert reduction(known, missing=1) == near(reduction(known) * 13 / 14)


def test_other_units() -> None:
    assert measures.entropy([9, 5], base="e") == near(0.940285958670631 * math.log(2))
    assert measures.entropy([1] * 10, base=10) == near(1.0)
    gain = measures.information_gain([[2, 3], [4, 0], [3, 2]], base="e")
    assert measures.g_statistic([[2, 3], [4, 0], [3, 2]]).statistic == near(2 * 14 * gain)


def test_nothing_divides_by_zero() -> None:
    assert measures.entropy([0, 0]) == 0
    assert measures.gini([0, 0]) == 0
    assert measures.misclassification([0, 0]) == 0
    for table in ([[0, 0], [0, 0]], [[9, 5]], [[9, 5], [0, 0]], [[9, 0], [5, 0]]):
        assert measures.information_gain(table, missing=3) == 0
        assert measures.gain_ratio(table) == 0
        assert measures.gini_reduction(table) == 0
        assert measures.misclassification_reduction(table) == 0
        assert measures.chi_square(table) == (0.0, 0, 1.0)
        assert measures.g_statistic(table) == (0.0, 0, 1.0)
    assert measures.chi_square([[1e-300, 1e-300], [1e-300, 1e-300]]).statistic == 0


def test_a_pure_split_of_a_long_column_has_the_smallest_p() -> None:
    assert measures.chi_square([[10_000, 0], [0, 10_000]]).p == 0.0


def test_columns_become_tables_in_declared_order() -> None:
    X, y = datasets.play_tennis()
    assert measures.class_counts(y).tolist() == [9, 5]
    counted = [measures.contingency_table(column, y).tolist() for column in X.values()]
    assert counted == [
        [[2, 3], [4, 0], [3, 2]],
        [[2, 2], [4, 2], [3, 1]],
        [[3, 4], [6, 1]],
        [[6, 2], [3, 3]],
    ]
    # Plain labels are sorted: Overcast, Rain, Sunny by No, Yes.
    plain = measures.contingency_table(np.asarray(X["Outlook"]), np.asarray(y))
    assert plain.tolist() == [[0, 4], [2, 3], [3, 2]]


def test_pandas_categories_keep_their_order_and_absent_levels_change_nothing() -> None:
    pandas = pytest.importorskip("pandas")
    size = pandas.Series(["L", "S", "L"], dtype=pandas.CategoricalDtype(["S", "M", "L"]))
    y = [1, 0, 0]
    table = measures.contingency_table(size, y)
    assert table.tolist() == [[1, 0], [0, 0], [1, 1]]
    assert measures.gain_ratio(table) == near(measures.gain_ratio([[1, 0], [1, 1]]))
    assert measures.chi_square(table) == near(measures.chi_square([[1, 0], [1, 1]]))
    text = pandas.Series(["b", "a", "b"])
    assert measures.contingency_table(text, y).tolist() == [[1, 0], [1, 1]]


def test_polars_enums_keep_their_order() -> None:
    polars = pytest.importorskip("polars")
    size = polars.Series(["L", "S", "L"], dtype=polars.Enum(["S", "M", "L"]))
    assert measures.contingency_table(size, [1, 0, 0]).tolist() == [[1, 0], [0, 0], [1, 1]]


def test_weights_of_rows_count_like_copies() -> None:
    values, labels, weights = ["a", "b", "b"], [0, 0, 1], [2, 0, 3]
    table = measures.contingency_table(values, labels, weights)
    assert table.tolist() == [[2, 0], [0, 3]]
    assert measures.class_counts(labels, weights).tolist() == [2, 3]


def test_renaming_changes_nothing() -> None:
    X, y = datasets.play_tennis()
    renamed_X, renamed_y = datasets.buys_computer()
    for attribute, renamed in zip(X.values(), renamed_X.values(), strict=True):
        expected = measures.contingency_table(attribute, y)
        assert measures.contingency_table(renamed, renamed_y).tolist() == expected.tolist()


def test_covariance_and_correlation() -> None:
    x, y = [1.0, 2.0, 4.0, 7.0], [3.0, 1.0, 5.0, 6.0]
    assert measures.covariance(x, y) == near(np.cov(x, y)[0, 1])
    assert measures.covariance(x, y, ddof=0) == near(np.cov(x, y, ddof=0)[0, 1])
    assert measures.correlation(x, y) == near(np.corrcoef(x, y)[0, 1])
    assert measures.correlation(x, np.negative(x)) == near(-1.0)
    assert measures.correlation(x, [0.1] * 4) == 0.0
    assert measures.correlation([5], [6]) == 0.0


@pytest.mark.numeric
@pytest.mark.parametrize("n", [3, 4, 31, 1000])
def test_what_is_zero_or_one_is_so_to_the_last_digit(n: int) -> None:
    """A parabola about the middle has no linear dependence, a line nothing else."""
    x = np.arange(n) - (n - 1) / 2
    order = np.random.default_rng(n).permutation(n)
    for scale in (1.0, 0.1, 1e-200, 1e200):  # rounding is the same on both sides of the middle
        given = (scale * x)[order]
        assert measures.covariance(given, (x * x)[order]) == 0.0
        assert measures.correlation(given, (x * x)[order]) == 0.0
        assert measures.correlation(given, -given) == -1.0
    assert measures.correlation(x[order], (3 * x + 7)[order]) == 1.0


@pytest.mark.numeric
def test_covariance_is_rounded_once() -> None:
    rng = np.random.default_rng(0)
    for n in (2, 10, 301):
        x, y = rng.random((2, n)) - 0.3
        exact_x, exact_y = ([Fraction(v) for v in column.tolist()] for column in (x, y))
        mean_x, mean_y = sum(exact_x) / n, sum(exact_y) / n
        exact = sum((a - mean_x) * (b - mean_y) for a, b in zip(exact_x, exact_y, strict=True))
        assert measures.covariance(x, y) == float(exact / (n - 1))
        order = rng.permutation(n)
        assert measures.correlation(x[order], y[order]) == measures.correlation(x, y)


def test_correlation_of_extreme_numbers() -> None:
    assert measures.correlation([1e300, -1e300, 5e299], [1, -1, 0.5]) == near(1.0)
    assert measures.correlation([1e-300, 2e-300, 3e-300], [1, 2, 3]) == near(1.0)
    large_mean = 2.0**40 + np.array([0.0, 2**-12, 3 * 2**-12])
    assert measures.correlation(large_mean, [0, 1, 3]) == near(1.0)
    assert measures.covariance([1e300, 3e300], [1e-300, 3e-300]) == near(2.0)


ROWS = [[2, 3], [4, 0], [3, 2]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: measures.entropy([1, -2]), r"counts\[1\] must be a finite number >= 0, got -2.0"),
        (
            lambda: measures.entropy([1, math.inf]),
            r"counts\[1\] must be a finite number >= 0, got inf",
        ),
        (lambda: measures.entropy([]), r"counts is empty, shape \(0,\)"),
        (lambda: measures.entropy(["yes", "no"]), r"counts must contain numbers .*class_counts"),
        (lambda: measures.entropy(ROWS), r"counts must be 1-D .*\(3, 2\).*information_gain"),
        (lambda: measures.entropy(7), r"counts must be 1-D"),
        (lambda: measures.entropy([1, 2], base=1), r'base must be 2 .*"e" .* got 1'),
        (lambda: measures.entropy([1, 2], base="bits"), r"base must be .* got 'bits'"),
        (lambda: measures.entropy([1e308, 1e308]), r"total of counts overflows: divide"),
        (lambda: measures.gini([math.nan]), r"counts\[0\] must be a finite number >= 0, got nan"),
        (lambda: measures.gini_split([9, 5]), r"table must be 2-D .*contingency_table"),
        (
            lambda: measures.information_gain([[1, 2], [3, -1]]),
            r"table\[1, 1\] must be a finite number >= 0, got -1.0",
        ),
        (lambda: measures.information_gain([[1, 2], [3]]), r"table must contain numbers"),
        (
            lambda: measures.information_gain(["a", "b"]),
            r"table must contain .* pass both, values and",
        ),
        (
            lambda: measures.information_gain([1, 2, 3]),
            r"table must be 2-D .* pass both, values and",
        ),
        (lambda: measures.gini_reduction(["a", "b"], ["c"]), r"values has 2 rows and labels has 1"),
        (lambda: measures.gain_ratio(["a", None], ["c", "d"]), r"values has a missing .* row 1"),
        (lambda: measures.information_gain(ROWS, missing=-1), r"missing must be .* got -1"),
        (lambda: measures.split_info(ROWS, missing=math.nan), r"missing must be .* got nan"),
        (lambda: measures.gain_ratio(ROWS, missing="some"), r"missing must be .* got 'some'"),
        (lambda: measures.binary_table(ROWS, [3]), r"left must contain .* 0 to 2, got \[3\]"),
        (lambda: measures.binary_table(ROWS, ["Rain"]), r"left must contain .* got \['Rain'\]"),
        (lambda: measures.binary_table(ROWS, [-1]), r"left must contain .* got \[-1\]"),
        (lambda: measures.class_counts(["a", None]), "labels has a missing value .* row 1"),
        (lambda: measures.class_counts([1.0, math.nan]), "labels has a missing value .* row 1"),
        (lambda: measures.class_counts(["a", 1]), "labels mixes types: str .* and int"),
        (lambda: measures.class_counts(np.ones((2, 2))), "labels has 2 dimensions"),
        (lambda: measures.class_counts([]), r"labels is empty"),
        (lambda: measures.class_counts([1, 2], [1]), r"weights must have shape \(2,\)"),
        (
            lambda: measures.class_counts([1, 2], [1, -1]),
            r"weights\[1\] must be a finite number >= 0, got -1.0",
        ),
        (lambda: measures.contingency_table([1], [1, 2]), r"values has 1 rows and labels has 2"),
        (lambda: measures.mutual_information([1, 2], [1]), r"values has 2 rows"),
        (lambda: measures.covariance([1], [2]), r"ddof must be .* rows, 1, got 1"),
        (lambda: measures.covariance([1, 2], ["a", "b"]), r"y must be a column of numbers"),
        (lambda: measures.correlation([1, 2], [1, math.nan]), r"y\[1\] is NaN"),
        (lambda: measures.correlation([1, math.inf], [1, 2]), r"x\[1\] is infinite"),
        (lambda: measures.correlation([[1]], [1]), r"x must be 1-D"),
        (lambda: measures.correlation([1, 2], [1]), r"x has 2 rows and y has 1"),
        (lambda: measures.correlation([], []), r"x is empty"),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


BY_TABLE = [
    "adjusted_for_ranking",
    "adjusted_gini",
    "adjusted_mutual_information",
    "chi_square",
    "conditional_entropy",
    "confidence_gain",
    "expected_mutual_information",
    "g_statistic",
    "gain_ratio",
    "gini_reduction",
    "gini_split",
    "information_gain",
    "misclassification_reduction",
    "mutual_information",
    "p_value",
    "split_info",
    "standardised_gini",
    "standardised_mutual_information",
]


def _columns(kind: str) -> tuple[Any, Any]:
    """The outlook of the fourteen days and whether tennis was played."""
    outlook = ["Sunny"] * 5 + ["Overcast"] * 4 + ["Rain"] * 5
    play = ["no"] * 3 + ["yes"] * 2 + ["yes"] * 4 + ["yes"] * 3 + ["no"] * 2
    if kind == "list":
        return outlook, play
    if kind == "numpy":
        return np.array(outlook), np.array(play)
    module = pytest.importorskip(kind)
    if kind == "pyarrow":
        return module.array(outlook), module.chunked_array([play[:3], play[3:]])
    return module.Series(outlook), module.Series(play)


@pytest.mark.parametrize("kind", ["list", "numpy", "pandas", "polars", "pyarrow"])
def test_columns_of_any_library(kind: str) -> None:
    outlook, play = _columns(kind)
    assert measures.information_gain(outlook, play) == near(0.2467498198)
    assert measures.gain_ratio(outlook, play) == near(0.1564275624)
    assert measures.gini_split(outlook, play) == near(0.3428571429)
    assert measures.chi_square(outlook, play).statistic == near(3.5466666667)


@pytest.mark.parametrize("name", BY_TABLE)
def test_two_columns_are_their_table(name: str) -> None:
    measure = getattr(measures, name)
    X, y = datasets.play_tennis()
    for column in X.values():
        assert measure(column, y) == measure(measures.contingency_table(column, y))


def test_missing_values_of_pandas_are_found() -> None:
    pandas = pytest.importorskip("pandas")
    for column in (
        pandas.Series(["a", None]),
        pandas.Series(["a", None], dtype="category"),
        pandas.Series([1, None], dtype="Int64"),
        pandas.Series(pandas.to_datetime(["2020-01-01", None])),
        np.array(["a", pandas.NaT], dtype=object),
    ):
        with pytest.raises(ValueError, match=r"values has a missing value .* row 1"):
            measures.contingency_table(column, [0, 1])


# --- other libraries ---


def random_table(seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    return random.integers(1, 40, size=random.integers(2, 7, size=2))


@pytest.mark.parametrize("seed", range(5))
def test_tests_of_independence_agree_with_scipy(seed: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    table = random_table(seed)
    chi_square = stats.chi2_contingency(table, correction=False)
    assert measures.chi_square(table) == pytest.approx(
        (chi_square.statistic, chi_square.dof, chi_square.pvalue), rel=1e-11
    )
    g = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")
    assert measures.g_statistic(table) == pytest.approx((g.statistic, g.dof, g.pvalue), rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_mutual_information_agrees_with_sklearn(seed: int) -> None:
    cluster = pytest.importorskip("sklearn.metrics.cluster")
    random = np.random.default_rng(seed)
    x, y = random.integers(0, 6, 200), random.choice(["a", "b", "c"], 200)
    expected = cluster.mutual_info_score(x, y)
    assert measures.mutual_information(x, y, base="e") == near(expected)
    assert measures.mutual_information(y, x, base="e") == near(expected)


# --- laws ---

COUNTS = arrays(
    np.int64, st.tuples(st.integers(1, 5), st.integers(1, 4)), elements=st.integers(0, 30)
)
REDUCTIONS = [
    measures.information_gain,
    measures.gini_reduction,
    measures.misclassification_reduction,
]
few = settings(max_examples=50, deadline=None)


@few
@given(COUNTS)
def test_a_split_never_loses_and_never_gains_more_than_there_is(table: np.ndarray) -> None:
    impurities = [measures.entropy, measures.gini, measures.misclassification]
    for reduction, impurity in zip(REDUCTIONS, impurities, strict=True):
        assert 0 <= reduction(table) <= impurity(table.sum(axis=0)) + 1e-12
    assert measures.entropy(table.sum(axis=0)) <= math.log2(table.shape[1]) + 1e-12
    assert measures.information_gain(table) <= measures.split_info(table) + 1e-12
    assert 0 <= measures.gain_ratio(table) <= 1 + 1e-9


@few
@given(COUNTS, st.randoms(use_true_random=False))
def test_the_order_of_values_and_classes_is_nothing(table: np.ndarray, random: Any) -> None:
    rows, columns = list(range(table.shape[0])), list(range(table.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    shuffled = table[rows][:, columns]
    for measure in [*REDUCTIONS, measures.gain_ratio, measures.split_info]:
        assert measure(shuffled) == near(measure(table))
    assert measures.chi_square(shuffled) == near(measures.chi_square(table), 1e-9)


@few
@given(COUNTS, st.sampled_from([2.0, 1e-6, 1e12]))
def test_only_proportions_matter(table: np.ndarray, factor: float) -> None:
    for measure in [*REDUCTIONS, measures.gain_ratio, measures.split_info]:
        assert measure(table * factor) == near(measure(table))


@few
@given(COUNTS)
def test_gain_is_mutual_information_both_ways_round(table: np.ndarray) -> None:
    assert measures.information_gain(table.T) == near(measures.information_gain(table))
    g = measures.g_statistic(table).statistic
    assert g == near(2 * table.sum() * measures.information_gain(table, base="e"), 1e-8)


@few
@given(COUNTS, st.sets(st.integers(0, 4)))
def test_merging_branches_never_helps(table: np.ndarray, left: set[int]) -> None:
    binary = measures.binary_table(table, [row for row in left if row < len(table)])
    assert binary.sum(axis=0).tolist() == table.sum(axis=0).tolist()
    for reduction in REDUCTIONS:
        assert reduction(binary) <= reduction(table) + 1e-12


@few
@given(COUNTS, st.floats(0, 100))
def test_missing_rows_scale_every_reduction(table: np.ndarray, missing: float) -> None:
    known = table.sum()
    assume(known > 0)
    for reduction in REDUCTIONS:
        expected = reduction(table) * known / (known + missing)
        assert reduction(table, missing=missing) == near(expected)
    assert measures.split_info(table, missing=missing) == near(
        measures.entropy([*table.sum(axis=1), missing])
    )


@few
@given(arrays(np.float64, 12, elements=st.floats(-1e6, 1e6)))
def test_correlation_is_bounded_and_symmetric(numbers: np.ndarray) -> None:
    x, y = numbers[:6], numbers[6:]
    r = measures.correlation(x, y)
    assert -1 <= r <= 1
    assert measures.correlation(y, x) == near(r)
    assert measures.correlation(x, x) == near(float(x.min() < x.max()))
