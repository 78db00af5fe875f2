# SPDX-License-Identifier: BSD-3-Clause
# Included by _core.pyx: what splits are measured with, a criterion and its tables.

from libc.stdint cimport int64_t

from fasttree.kernels.criteria cimport (
    Criterion, code_steps, ft_quick_log2_gamma, klogk, klogk_steps, loss_unit, side_loss,
)


def klogk_table(double steps_per_bit, Py_ssize_t n, int64_t[::1] out):
    """out[k] = round(fine * k * log2 k), for k < n."""
    cdef Py_ssize_t k
    with nogil:
        for k in range(n):
            out[k] = klogk_steps(steps_per_bit, k)


def code_table(double steps_per_bit, double prior, double steps_per_unit, int64_t[::1] out):
    """out[k] = round(fine * log2(gamma(k / steps_per_unit + prior) / gamma(prior)))."""
    cdef Py_ssize_t k
    cdef double base = ft_quick_log2_gamma(prior)
    with nogil:
        for k in range(out.shape[0]):
            out[k] = code_steps(steps_per_bit, <double>k / steps_per_unit, prior, base)


cdef class CriterionTables:
    """A criterion and the tables that make it fast."""

    cdef Criterion criterion
    cdef object _keep, _keep_codes

    def __init__(
        self, int kind, int n_classes, int64_t min_leaf, int64_t min_weight, const double[::1] plain, double tie,
        bint records_split, bint by_ratio, double side_share, double side_most, bint exact_squares,
        double steps_per_bit,
        const int64_t[::1] klogk_steps_of, bint by_inverse, const double[::1] inverse, const double[::1] inverse_down,
    ):
        self._keep = (klogk_steps_of, inverse, inverse_down, plain)
        self.criterion.kind = kind
        self.criterion.n_classes = n_classes
        self.criterion.min_leaf = min_leaf
        self.criterion.min_weight = min_weight
        self.criterion.plain = &plain[0] if plain is not None else NULL
        self.criterion.tie = tie
        self.criterion.records_split = records_split
        self.criterion.by_ratio = by_ratio
        self.criterion.side_share = side_share
        self.criterion.side_most = side_most
        self.criterion.exact_squares = exact_squares
        self.criterion.steps_per_bit = steps_per_bit
        self.criterion.klogk = &klogk_steps_of[0] if klogk_steps_of.shape[0] else NULL
        self.criterion.n_klogk = klogk_steps_of.shape[0]
        self.criterion.by_inverse = by_inverse
        self.criterion.inverse = &inverse[0] if inverse.shape[0] else NULL
        self.criterion.inverse_down = &inverse_down[0] if inverse.shape[0] else NULL
        self.criterion.n_inverse = inverse.shape[0]
        self.criterion.steps_per_unit = 1.0
        self.criterion.n_code = 0

    def set_code(
        self, double prior, double steps_per_unit, const int64_t[::1] class_code, const int64_t[::1] total_code
    ):
        """What the length of a code needs: the prior of a class, the steps of weight that make 1, and two tables (see
        `code_table`) for classes and for whole sides, of equal length."""
        self._keep_codes = (class_code, total_code)
        self.criterion.steps_per_unit = steps_per_unit
        self.criterion.class_prior = prior
        self.criterion.total_prior = prior * self.criterion.n_classes
        self.criterion.class_base = ft_quick_log2_gamma(self.criterion.class_prior)
        self.criterion.total_base = ft_quick_log2_gamma(self.criterion.total_prior)
        self.criterion.class_code = &class_code[0]
        self.criterion.total_code = &total_code[0]
        self.criterion.n_code = class_code.shape[0]

    def losses(self, const int64_t[:, ::1] counts, const int64_t[::1] total, double[::1] out):
        """Weight times impurity of every row of `counts`, in the unit of `unit`."""
        cdef Py_ssize_t i
        cdef Criterion plain = self.criterion
        plain.n_inverse = 0     # the same bits whether a fit has weights or copies of rows
        plain.by_inverse = False
        with nogil:
            for i in range(counts.shape[0]):
                out[i] = side_loss(plain.kind, &plain, &counts[i, 0], total[i])

    @property
    def unit(self):
        return loss_unit(self.criterion.kind, &self.criterion)

    @property
    def min_leaf(self):
        return self.criterion.min_leaf
