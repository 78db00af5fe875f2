# SPDX-License-Identifier: BSD-3-Clause
# Included by _core.pyx: linear algebra for small dense systems, every sum from the first term to the last.

from libc.stdint cimport int64_t

from fasttree.kernels.alloc cimport free, malloc


def matrix_product(const double[:, ::1] a, const double[:, ::1] b, double[:, ::1] out):
    """out := a b; every cell adds up its products in order."""
    cdef Py_ssize_t i, j, k
    cdef double x
    with nogil:
        for i in range(out.shape[0]):
            for j in range(out.shape[1]):
                out[i, j] = 0.0
            if out.shape[1] == 1:               # the same, quicker
                x = 0.0
                for k in range(b.shape[0]):
                    x += a[i, k] * b[k, 0]
                out[i, 0] = x
                continue
            for k in range(b.shape[0]):
                x = a[i, k]
                if x != 0.0:
                    for j in range(out.shape[1]):
                        out[i, j] += x * b[k, j]


def weighted_products(const double[:, ::1] matrix, const double[::1] weight, double[:, ::1] out):
    """out := the sum over the rows x of weight x x', row after row. Of a design most cells are 0: passed over."""
    cdef Py_ssize_t n = matrix.shape[1], i, j, k, n_filled
    cdef double x
    cdef int64_t* filled = <int64_t*>malloc(max(n, 1) * sizeof(int64_t))
    if filled == NULL:
        raise MemoryError("no memory for the products of columns")
    with nogil:
        for j in range(n):
            for k in range(n):
                out[j, k] = 0.0
        for i in range(matrix.shape[0]):
            n_filled = 0
            for j in range(n):
                filled[n_filled] = j
                n_filled += matrix[i, j] != 0.0
            for j in range(n_filled):
                x = weight[i] * matrix[i, filled[j]]
                for k in range(j + 1):
                    out[filled[j], filled[k]] += x * matrix[i, filled[k]]
        for j in range(n):
            for k in range(j):
                out[k, j] = out[j, k]
    free(filled)


def solve_symmetric(double[:, ::1] matrix, double[:, ::1] right, double least):
    """right := the solution of matrix x = right, by L D L'. The matrix, symmetric and not indefinite, is used up.

    A column of which less than the share `least` of its diagonal cell is left is made up by those before it: its
    unknown is 0.
    """
    cdef Py_ssize_t n = matrix.shape[0], i, j, k
    cdef double x, whole
    with nogil:
        for j in range(n):
            whole = matrix[j, j]
            for k in range(j):
                matrix[j, j] -= matrix[j, k] * matrix[j, k] * matrix[k, k]
            if not matrix[j, j] > least * whole:
                matrix[j, j] = 0.0
            for i in range(j + 1, n):
                x = matrix[i, j]
                for k in range(j):
                    x -= matrix[i, k] * matrix[j, k] * matrix[k, k]
                matrix[i, j] = x / matrix[j, j] if matrix[j, j] > 0.0 else 0.0
        for i in range(n):
            for k in range(i):
                x = matrix[i, k]
                for j in range(right.shape[1]):
                    right[i, j] -= x * right[k, j]
        for i in range(n):
            for j in range(right.shape[1]):
                right[i, j] = right[i, j] / matrix[i, i] if matrix[i, i] > 0.0 else 0.0
        for i in range(n - 1, -1, -1):
            if not matrix[i, i] > 0.0:
                for j in range(right.shape[1]):
                    right[i, j] = 0.0
                continue
            for k in range(i + 1, n):
                x = matrix[k, i]
                for j in range(right.shape[1]):
                    right[i, j] -= x * right[k, j]
