# SPDX-License-Identifier: BSD-3-Clause
# Included by _core.pyx: elementary functions and sums of arrays, for the modules in Python.

from libc.math cimport sqrt
from libc.stdint cimport int64_t

from fasttree.kernels.elementary cimport (
    ft_add, ft_erfc, ft_exp, ft_expm1, ft_gamma, ft_log, ft_log1p, ft_log2, ft_log_gamma, ft_logaddexp, ft_logaddexp2,
    ft_pair, ft_pow, ft_rounded, ft_sum, ft_total, ft_two_product,
)

ctypedef double (*OfOne)(double x) noexcept nogil
ctypedef double (*OfTwo)(double x, double y) noexcept nogil


cdef OfOne one_of(str name) except NULL:
    if name == "exp":
        return ft_exp
    if name == "expm1":
        return ft_expm1
    if name == "log":
        return ft_log
    if name == "log2":
        return ft_log2
    if name == "log1p":
        return ft_log1p
    if name == "log_gamma":
        return ft_log_gamma
    if name == "gamma":
        return ft_gamma
    if name == "erfc":
        return ft_erfc
    raise ValueError(name)


cdef OfTwo two_of(str name) except NULL:
    if name == "power":
        return ft_pow
    if name == "logaddexp":
        return ft_logaddexp
    if name == "logaddexp2":
        return ft_logaddexp2
    raise ValueError(name)


def of_each(str name, const double[::1] x, double[::1] out):
    """out[i] := the function of x[i]."""
    cdef Py_ssize_t i
    cdef OfOne function = one_of(name)
    with nogil:
        for i in range(x.shape[0]):
            out[i] = function(x[i])


def of_pairs(str name, const double[::1] x, const double[::1] y, double[::1] out):
    """out[i] := the function of x[i] and y[i]."""
    cdef Py_ssize_t i
    cdef OfTwo function = two_of(name)
    with nogil:
        for i in range(x.shape[0]):
            out[i] = function(x[i], y[i])


def sum_rows(const double[:, ::1] table, double[::1] out):
    """out[i] := the sum of row i, rounded once."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(table.shape[0]):
            out[i] = ft_sum(&table[i, 0], table.shape[1]) if table.shape[1] else 0.0


def sum_segments(const double[::1] values, const int64_t[::1] start, double[::1] out):
    """out[i] := the sum of values[start[i]:start[i + 1]], rounded once. `start` ascends, one longer than `out`."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(out.shape[0]):
            out[i] = ft_sum(&values[start[i]], start[i + 1] - start[i]) if start[i + 1] > start[i] else 0.0


def parts_of_product(const double[::1] x, const double[::1] y):
    """Numbers whose sum is that of all x[i] y[i], without error."""
    cdef Py_ssize_t i
    cdef ft_total total
    cdef ft_pair product
    total.n, total.plain = 0, 0.0
    with nogil:
        for i in range(x.shape[0]):
            product = ft_two_product(x[i], y[i])
            ft_add(&total, product.lo)
            ft_add(&total, product.hi)
    return [total.part[i] for i in range(total.n)]


def product_sum(const double[::1] x, const double[::1] y):
    """The sum of all x[i] y[i], each product and the sum rounded once."""
    cdef Py_ssize_t i
    cdef ft_total total
    total.n, total.plain = 0, 0.0
    with nogil:
        for i in range(x.shape[0]):
            ft_add(&total, x[i] * y[i])
    return ft_rounded(&total)
