# SPDX-License-Identifier: BSD-3-Clause
# Included by _core.pyx: what a tree of numbers predicts at its nodes, from the rows that end there.
#
# Sums are pairs of doubles, exact at the leaves, so that they are the same in any order; a mean is their quotient, a
# pair too: of numbers far from 0 that differ little, its first double alone would leave too little of the differences.

from libc.stdint cimport int32_t, int64_t

from fasttree.kernels.alloc cimport calloc, free, malloc
from fasttree.kernels.elementary cimport ft_add, ft_pair, ft_pair_sum, ft_rounded, ft_total, ft_two_product


cdef int64_t* rows_by_group(const int32_t[::1] group, Py_ssize_t n_groups, int64_t* start) noexcept nogil:
    """The rows in the order of their groups: those of group i are [start[i]:start[i + 1]]. To be freed; NULL: there is
    no memory. `start` has n_groups + 1 places, all 0."""
    cdef int64_t* order = <int64_t*>malloc((group.shape[0] + 1) * sizeof(int64_t))
    cdef Py_ssize_t i
    if order == NULL:
        return NULL
    for i in range(group.shape[0]):
        start[group[i] + 1] += 1
    for i in range(n_groups):
        start[i + 1] += start[i]
    for i in range(group.shape[0]):
        order[start[group[i]]] = i
        start[group[i]] += 1
    for i in range(n_groups, 0, -1):
        start[i] = start[i - 1]
    start[0] = 0
    return order


def sum_groups(const int32_t[::1] group, const double[::1] values, const double[::1] weight, double[::1] out):
    """out[i] := the sum of the values of group i, each times its weight (None: 1), rounded once. False: there is no
    memory."""
    cdef int64_t* start = <int64_t*>calloc(out.shape[0] + 1, sizeof(int64_t))
    cdef int64_t* order = NULL if start == NULL else rows_by_group(group, out.shape[0], start)
    cdef Py_ssize_t i, j
    cdef ft_total adding
    if order != NULL:
        with nogil:
            for i in range(out.shape[0]):
                adding.n, adding.plain = 0, 0.0
                for j in range(start[i], start[i + 1]):
                    add_product(&adding, 1.0 if weight is None else weight[order[j]], values[order[j]])
                out[i] = ft_rounded(&adding)
    free(start)
    free(order)
    return order != NULL


cdef inline void add_product(ft_total* adding, double weight, double value) noexcept nogil:
    """Add weight * value without rounding it."""
    cdef ft_pair product
    if weight == 1.0:
        ft_add(adding, value)
        return
    product = ft_two_product(weight, value)
    ft_add(adding, product.hi)
    ft_add(adding, product.lo)


def number_nodes(
    const int32_t[::1] node, const double[::1] y, const int64_t[::1] weight,
    const int32_t[::1] first_child, const int32_t[::1] n_children,
    int64_t[::1] total, double[::1] mean, double[::1] squares,
):
    """total[i] := the weight of the rows of node i and of the nodes below it, mean[i] := the mean of their y, and
    squares[i] := the sum of the squares by which they differ from it.

    `node`: where each row ends. `weight`: of the rows, in whole steps; None: 1 each. Of y no number is above 1. A node
    without rows has the mean of its parent. False: there is no memory.
    """
    cdef Py_ssize_t n_nodes = first_child.shape[0], i
    cdef ft_pair* sums = <ft_pair*>malloc(n_nodes * sizeof(ft_pair))
    cdef int64_t* start = <int64_t*>calloc(n_nodes + 1, sizeof(int64_t))
    cdef int64_t* order = NULL if start == NULL else rows_by_group(node, n_nodes, start)
    cdef bint has_memory = order != NULL and sums != NULL
    cdef double off
    cdef int64_t child
    if has_memory:
        with nogil:
            for i in range(n_nodes - 1, -1, -1):  # children come behind their parents
                add_targets(y, weight, &order[start[i]], start[i + 1] - start[i], &total[i], &sums[i])
                for child in range(first_child[i], first_child[i] + n_children[i]):
                    total[i] += total[child]
                    sums[i] = ft_pair_sum(sums[i], sums[child])
            for i in range(n_nodes):
                if total[i] > 0:
                    sums[i] = quotient_of_pair(sums[i], <double>total[i])
                    mean[i] = sums[i].hi
                for child in range(first_child[i], first_child[i] + n_children[i]):
                    mean[child] = mean[i]
            for i in range(n_nodes - 1, -1, -1):
                squares[i] = squares_about(y, weight, &order[start[i]], start[i + 1] - start[i], sums[i])
                for child in range(first_child[i], first_child[i] + n_children[i]):
                    off = (sums[child].hi - sums[i].hi) + (sums[child].lo - sums[i].lo)
                    squares[i] += squares[child] + <double>total[child] * (off * off)
    free(sums)
    free(start)
    free(order)
    return has_memory


cdef void add_targets(
    const double[::1] y, const int64_t[::1] weight, const int64_t* rows, int64_t n_rows,
    int64_t* total, ft_pair* sum_of_y,
) noexcept nogil:
    """The weight of some rows, and the weighted sum of their y."""
    cdef ft_total adding
    cdef int64_t i, steps
    adding.n, adding.plain = 0, 0.0
    total[0] = 0
    for i in range(n_rows):
        steps = 1 if weight is None else weight[rows[i]]
        total[0] += steps
        add_product(&adding, <double>steps, y[rows[i]])
    sum_of_y.hi = ft_rounded(&adding)
    ft_add(&adding, -sum_of_y.hi)
    sum_of_y.lo = ft_rounded(&adding)


cdef ft_pair quotient_of_pair(ft_pair a, double b) noexcept nogil:
    """The quotient: rounded once, and what is left of it."""
    cdef double found = a.hi / b, rest
    cdef ft_pair product = ft_two_product(found, b), quotient
    rest = (((a.hi - product.hi) - product.lo) + a.lo) / b
    quotient.hi = found + rest
    quotient.lo = rest - (quotient.hi - found)
    return quotient


cdef double squares_about(
    const double[::1] y, const int64_t[::1] weight, const int64_t* rows, int64_t n_rows, ft_pair centre
) noexcept nogil:
    """The weighted sum of the squares by which the y of some rows differ from a number. Each square is rounded once, so
    that a row of weight 3 has three times that of weight 1."""
    cdef ft_total adding
    cdef double off
    cdef int64_t i
    adding.n, adding.plain = 0, 0.0
    for i in range(n_rows):
        off = (y[rows[i]] - centre.hi) - centre.lo
        add_product(&adding, 1.0 if weight is None else <double>weight[rows[i]], off * off)
    return ft_rounded(&adding)
