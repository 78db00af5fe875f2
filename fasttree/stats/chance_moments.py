# SPDX-License-Identifier: BSD-3-Clause
"""What a table's information would be if the classes were dealt out to the rows at random.

A random table has the margins a_i and b_j and the total N of the table it stands for. Its cell n_ij is hypergeometric,
and so is one cell given another of the same row or column. The information of the table, in nats times N, is

    sum_ij g(n_ij),    g(n) = n log(n / m) - n + m,    m = a_i b_j / N

(the -n + m cancel in the sum and keep each term small). Its mean is the sum of the cells' means. Its variance needs
how cells vary together, and there the hypergeometric distribution is kind: write g as a sum of the polynomials that are
orthogonal under it; then those of different degree never vary together, and two of degree k have the correlation

    (-1)^k sqrt(a_i (a_i - 1) ... (a_i - k + 1) / ((N - a_i) ... (N - a_i - k + 1)) * the same of a_i')

between two cells of a column, likewise between two of a row, and the product of both between any others. So a few
degrees give the variance of a table of any size to the last digits.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fasttree.base.elementary import exp, log, log1p
from fasttree.base.ragged import batches
from fasttree.base.sums import segment_sums, sums
from fasttree.stats.contingency import are_whole, degrees_of_freedom, margins, smallest_expected
from fasttree.stats.special import log_factorial

_Array = NDArray[np.float64]
_Numbers = NDArray[np.intp]

# Where every cell expects as many, two terms of the series in 1 / m have the mean to 1e-6, which is 1e-10 bits or less.
MANY_IN_EACH_CELL = 1000.0
_MOST_DEGREES = 16  # what they leave moves the variance by less than 1e-8, and not at all in cells of up to 16 rows
_NOTHING_LEFT = 1e-13
_POINTS_AT_ONCE = 2**19


def information(tables: _Array) -> _Array:
    """N times the information in nats, of each of the tables [table, value, class]."""
    rows, columns, total = margins(tables)
    shares = columns / np.where(total > 0, total, 1.0)[:, np.newaxis]
    expected = rows[:, :, np.newaxis] * shares[:, np.newaxis, :]
    present = (tables > 0) & (expected > 0)
    terms = expected - tables
    ratio = np.divide(tables, expected, out=np.ones_like(tables), where=present)
    terms += tables * log(ratio)
    return np.asarray(np.maximum(sums(terms, (1, 2)), 0.0))


def information_moments(tables: _Array, variance: bool = False) -> tuple[_Array, _Array]:
    """Mean, and if asked for variance, of N times the information in nats of random tables, for each of the tables.

    Exact for whole numbers. For other weights there is no dealing out, and the limits for many rows stand in: half the
    degrees of freedom, for both.
    """
    df = degrees_of_freedom(tables)
    mean, spread = df / 2, df / 2
    whole = are_whole(tables) & (df > 0)
    many = whole & (smallest_expected(tables) >= MANY_IN_EACH_CELL)
    if many.any():
        mean[many] = _mean_of_many(tables[many])
        # As a chi-square variable times a factor has it.
        spread[many] = 2 * mean[many] * mean[many] / df[many]
    few = whole & ~many
    if few.any():
        mean[few], spread[few] = _exact_moments(tables[few], _MOST_DEGREES if variance else 0)
    return mean, spread


def _mean_of_many(tables: _Array) -> _Array:
    """Two terms of the mean's series in 1 / m; what is left out is about df / m^2."""
    rows, columns, total = margins(tables)

    def inverses(margin: _Array) -> tuple[_Array, NDArray[np.int64]]:
        shares = margin / total[:, np.newaxis]
        found = np.divide(1, shares, out=np.zeros_like(shares), where=shares > 0)
        return sums(found), (shares > 0).sum(axis=1)

    (a, r), (b, c) = inverses(rows), inverses(columns)
    third = (a - 3 * r + 2) * (b - 3 * c + 2) / 6
    fourth = (a - 2 * r + 1) * (b - 2 * c + 1) / 4
    return np.asarray((r - 1) * (c - 1) / 2 * total / (total - 1) + (fourth - third) / total)


def _exact_moments(tables: _Array, n_degrees: int) -> tuple[_Array, _Array]:
    rows, columns, total = margins(tables)
    total_cells = np.broadcast_to(total[:, np.newaxis, np.newaxis], tables.shape)
    a = np.broadcast_to(rows[:, :, np.newaxis], tables.shape)
    b = np.broadcast_to(columns[:, np.newaxis, :], tables.shape)
    varies = (a > 0) & (b > 0) & (a < total_cells) & (b < total_cells)
    (cell_a, cell_b, cell_n), number = _distinct_cells(rows, columns, total, varies)
    coefficients = _expand(cell_a, cell_b, cell_n, n_degrees)

    def spread_out(values: _Array) -> _Array:
        cells = np.zeros(tables.shape)
        cells[varies] = values[number]
        return cells

    mean = sums(spread_out(coefficients[0]), (1, 2))
    variance, univariate = np.zeros(len(tables)), np.zeros(len(tables))
    row_ratio, column_ratio = np.ones_like(rows), np.ones_like(columns)
    for k in range(1, len(coefficients)):
        row_ratio = row_ratio * _falling_ratio(rows, total, k)
        column_ratio = column_ratio * _falling_ratio(columns, total, k)
        cells = spread_out(coefficients[k])
        together = _with_the_others(cells, row_ratio, k)
        together = _with_the_others(together.swapaxes(1, 2), column_ratio, k).swapaxes(1, 2)
        variance += sums(cells * together, (1, 2))
        univariate += sums(cells * cells, (1, 2))
    # Values that all differ leave nothing to chance, but rounding.
    variance[variance <= 1e-12 * univariate] = 0.0
    return mean, variance


def _falling_ratio(margin: _Array, total: _Array, k: int) -> _Array:
    """The k-th factor of a (a - 1) ... / ((N - a)(N - a - 1) ...); 0 where cells have no polynomial of degree k."""
    above = np.maximum(margin - (k - 1), 0.0)
    below = np.maximum(total[:, np.newaxis] - margin - (k - 1), 0.0)
    return np.divide(above, below, out=np.zeros_like(margin), where=below > 0)


def _with_the_others(cells: _Array, ratio: _Array, k: int) -> _Array:
    """To each cell the others of its column, each times their correlation in degree k."""
    weight = np.sqrt(ratio)[:, :, np.newaxis]
    # A row with more than half of the rows has a weight above 1, and so the others' are below the inverse of that:
    # kept out of the sum it cannot drown them.
    is_big = weight > 1
    small = np.where(is_big, 0.0, weight * cells)
    big = sums(np.where(is_big, cells, 0.0), 1, keepdims=True)
    big_weight = np.where(is_big, weight, 0.0).max(axis=1, keepdims=True)
    others = weight * (sums(small, 1, keepdims=True) - small)
    others += np.where(is_big, 0.0, weight * big_weight * big)
    return cells + others if k % 2 == 0 else cells - others


def _distinct_cells(
    rows: _Array, columns: _Array, total: _Array, varies: NDArray[np.bool_]
) -> tuple[tuple[_Array, _Array, _Array], _Numbers]:
    """The distinct (a, b, N) among the cells that vary, and which of them each cell is."""
    row_pairs, row_number = _distinct_pairs(rows, total)
    column_pairs, column_number = _distinct_pairs(columns, total)
    keys = (row_number[:, :, np.newaxis] * len(column_pairs[0]) + column_number[:, np.newaxis, :])[
        varies
    ]
    n_keys = len(row_pairs[0]) * len(column_pairs[0])
    if n_keys <= 8 * len(keys):  # a mark for each possible key is quicker than a sort
        present = np.zeros(n_keys, dtype=np.bool_)
        present[keys] = True
        distinct = np.flatnonzero(present)
        number = (np.cumsum(present) - 1)[keys]
    else:
        distinct, number = np.unique(keys, return_inverse=True)
    of_row, of_column = np.divmod(distinct, len(column_pairs[0]))
    return (row_pairs[0][of_row], column_pairs[0][of_column], row_pairs[1][of_row]), number


def _distinct_pairs(margin: _Array, total: _Array) -> tuple[tuple[_Array, _Array], _Numbers]:
    totals, of_table = np.unique(total, return_inverse=True)
    sizes, of_margin = np.unique(margin, return_inverse=True)
    keys = of_margin.reshape(margin.shape) * len(totals) + of_table[:, np.newaxis]
    distinct, number = np.unique(keys, return_inverse=True)
    of_size, of_total = np.divmod(distinct, len(totals))
    return (sizes[of_size], totals[of_total]), number.reshape(margin.shape)


def _expand(a: _Array, b: _Array, total: _Array, n_degrees: int) -> list[_Array]:
    """For hypergeometric cells the mean of g, then its coefficients by degree, one each of every cell."""
    first, step, n_points = _support(a, b, total)
    parts: list[list[_Array]] = []
    for batch in batches(n_points, _POINTS_AT_ONCE):
        support = first[batch], step[batch], n_points[batch]
        parts.append(_expand_part(a[batch], b[batch], total[batch], *support, n_degrees))
    n_kept = max(map(len, parts))
    for part in parts:
        part.extend([np.zeros_like(part[0])] * (n_kept - len(part)))
    return [np.concatenate(of_degree) for of_degree in zip(*parts, strict=True)]


def _support(a: _Array, b: _Array, total: _Array) -> tuple[_Array, _Array, _Numbers]:
    """The counts at which a cell is looked at: the first, the step between them, and how many.

    All that it can have, without tails of less than 1e-16. Wide distributions are smooth: there a step of 2/5 of the
    standard deviation gives sums to the last digit.
    """
    mean = a * (b / total)
    deviation = np.sqrt(mean * (1 - a / total) * ((total - b) / np.maximum(total - 1, 1)))
    reach = 9 * deviation + 24
    first = np.maximum(np.maximum(0.0, a + b - total), np.ceil(mean - reach))
    last = np.minimum(np.minimum(a, b), np.floor(mean + reach))
    step = np.maximum(1.0, np.floor(deviation / 2.5))
    return first, step, ((last - first) // step).astype(np.intp) + 1


def _expand_part(
    a: _Array,
    b: _Array,
    total: _Array,
    first: _Array,
    step: _Array,
    n_points: _Numbers,
    n_degrees: int,
) -> list[_Array]:
    cell = np.repeat(np.arange(len(a)), n_points)
    starts = np.cumsum(n_points) - n_points
    n = first[cell] + step[cell] * (np.arange(len(cell)) - starts[cell])

    def of_cells(values: _Array) -> _Array:
        return segment_sums(values, starts)

    expected = (a * (b / total))[cell]
    rest_a, rest_b = a[cell] - n, b[cell] - n
    log_share = -log_factorial(n) - log_factorial(rest_a) - log_factorial(rest_b)
    log_share -= log_factorial(total[cell] - a[cell] - rest_b)
    log_share -= np.maximum.reduceat(log_share, starts)[cell]
    share = exp(log_share)
    share /= of_cells(share)[cell]

    deviation = n - expected
    with np.errstate(divide="ignore", invalid="ignore"):
        left = np.where(n > 0, n * log1p(deviation / expected) - deviation, expected)
    mean = of_cells(share * left)
    result = [mean]
    left = left - mean[cell]
    whole = of_cells(share * left * left)
    # Stieltjes' recurrence: the next polynomial is n times the last one, less its parts along the last two.
    current, before, norm = np.ones_like(n), np.zeros_like(n), np.zeros(len(a))
    # As many as there are points, the constant one included.
    most = np.minimum(n_degrees, n_points - 1)
    for k in range(1, n_degrees + 1):
        exists = k <= most
        centre = of_cells(share * deviation * current * current)
        following = (deviation - centre[cell]) * current - norm[cell] * before
        norm = np.sqrt(of_cells(share * following * following))
        scale = np.divide(1, norm, out=np.zeros_like(norm), where=exists & (norm > 0))
        before, current = current, following * scale[cell]
        coefficient = of_cells(share * left * current)
        left = left - coefficient[cell] * current
        result.append(coefficient)
        if not (exists & (of_cells(share * left * left) > _NOTHING_LEFT * whole)).any():
            break
    if n_degrees:
        # What is left counts as of the last degree, which is nearer than nothing.
        rest = of_cells(share * left * left)
        result[-1] = np.copysign(np.sqrt(result[-1] * result[-1] + rest), result[-1])
    return result
