# SPDX-License-Identifier: BSD-3-Clause
"""The same digits on every processor: elementary functions and exact sums; see elementary.h."""

from libc.stdint cimport int64_t

cdef extern from "kernels/elementary.h" nogil:
    ctypedef struct ft_pair:
        double hi
        double lo

    ctypedef struct ft_total:
        int n
        double[1050] part
        double plain

    ft_pair ft_two_product(double a, double b)
    ft_pair ft_pair_sum(ft_pair a, ft_pair b)
    double ft_exp(double x)
    double ft_expm1(double x)
    double ft_log(double x)
    double ft_log2(double x)
    double ft_log1p(double x)
    double ft_pow(double x, double y)
    double ft_logaddexp(double a, double b)
    double ft_logaddexp2(double a, double b)
    double ft_log_gamma(double x)
    double ft_gamma(double x)
    double ft_erfc(double x)
    void ft_add(ft_total* total, double x)
    double ft_rounded(const ft_total* total)
    double ft_sum(const double* x, int64_t n)
