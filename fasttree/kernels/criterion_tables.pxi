# SPDX-License-Identifier: BSD-3-Clause
# Included by _core.pyx: what splits are measured with, a criterion and its tables.

from libc.stdint cimport int64_t

from fasttree.kernels.criteria cimport Ruler, code_steps, cost_unit, ft_quick_log2_gamma, klogk, klogk_steps, side_cost


def klogk_table(double fine, Py_ssize_t n, int64_t[::1] out):
    """out[k] = round(fine * k * log2 k), for k < n."""
    cdef Py_ssize_t k
    with nogil:
        for k in range(n):
            out[k] = klogk_steps(fine, k)


def code_table(double fine, double prior, double per_unit, int64_t[::1] out):
    """out[k] = round(fine * log2(gamma(k / per_unit + prior) / gamma(prior)))."""
    cdef Py_ssize_t k
    cdef double base = ft_quick_log2_gamma(prior)
    with nogil:
        for k in range(out.shape[0]):
            out[k] = code_steps(fine, <double>k / per_unit, prior, base)


cdef class Measure:
    """A criterion and the tables that make it fast."""

    cdef Ruler ruler
    cdef object _keep, _keep_codes

    def __init__(
        self, int criterion, int n_classes, int64_t min_leaf, int64_t min_weight, const double[::1] plain, double tie,
        bint records_split, bint by_ratio, double side_share, double side_most, bint exact_squares, double fine,
        const int64_t[::1] klogk_steps_of, bint by_inverse, const double[::1] inverse, const double[::1] inverse_down,
    ):
        self._keep = (klogk_steps_of, inverse, inverse_down, plain)
        self.ruler.criterion = criterion
        self.ruler.n_classes = n_classes
        self.ruler.min_leaf = min_leaf
        self.ruler.min_weight = min_weight
        self.ruler.plain = &plain[0] if plain is not None else NULL
        self.ruler.tie = tie
        self.ruler.records_split = records_split
        self.ruler.by_ratio = by_ratio
        self.ruler.side_share = side_share
        self.ruler.side_most = side_most
        self.ruler.exact_squares = exact_squares
        self.ruler.fine = fine
        self.ruler.klogk = &klogk_steps_of[0] if klogk_steps_of.shape[0] else NULL
        self.ruler.n_klogk = klogk_steps_of.shape[0]
        self.ruler.by_inverse = by_inverse
        self.ruler.inverse = &inverse[0] if inverse.shape[0] else NULL
        self.ruler.inverse_down = &inverse_down[0] if inverse.shape[0] else NULL
        self.ruler.n_inverse = inverse.shape[0]
        self.ruler.per_unit = 1.0
        self.ruler.n_code = 0

    def set_code(
        self, double prior, double per_unit, const int64_t[::1] class_code, const int64_t[::1] total_code
    ):
        """What the length of a code needs: the prior of a class, the steps of weight that make 1, and two tables (see
        `code_table`) for classes and for whole sides, of equal length."""
        self._keep_codes = (class_code, total_code)
        self.ruler.per_unit = per_unit
        self.ruler.class_prior = prior
        self.ruler.total_prior = prior * self.ruler.n_classes
        self.ruler.class_base = ft_quick_log2_gamma(self.ruler.class_prior)
        self.ruler.total_base = ft_quick_log2_gamma(self.ruler.total_prior)
        self.ruler.class_code = &class_code[0]
        self.ruler.total_code = &total_code[0]
        self.ruler.n_code = class_code.shape[0]

    def costs(self, const int64_t[:, ::1] counts, const int64_t[::1] total, double[::1] out):
        """Weight times impurity of every row of `counts`, in the unit of `unit`."""
        cdef Py_ssize_t i
        cdef Ruler plain = self.ruler
        plain.n_inverse = 0     # the same bits whether a fit has weights or copies of rows
        plain.by_inverse = False
        with nogil:
            for i in range(counts.shape[0]):
                out[i] = side_cost(plain.criterion, &plain, &counts[i, 0], total[i])

    @property
    def unit(self):
        return cost_unit(self.ruler.criterion, &self.ruler)

    @property
    def min_leaf(self):
        return self.ruler.min_leaf
