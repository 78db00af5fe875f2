# SPDX-License-Identifier: BSD-3-Clause
# Included by _core.pyx: rows to the leaves of a tree.

from libc.stdint cimport int32_t, int64_t, uint32_t

from fasttree.kernels.alloc cimport free, malloc
from fasttree.kernels.criteria cimport INFINITY
from fasttree.kernels.keys cimport real
from fasttree.kernels.routing cimport UNKNOWN, PackedNode, Tables, mean_of_ends, route, row_ends

UNKNOWN_CATEGORY = UNKNOWN     # a code that ends the way of a row


cdef struct Walk:
    # Room for a row that goes down several branches: those not yet followed, and its ends.
    int64_t* node
    double* share
    int32_t* end
    double* end_share


cdef bint open_walk(Walk* walk, Py_ssize_t n_nodes) noexcept:
    walk.node = <int64_t*>malloc(n_nodes * sizeof(int64_t))
    walk.share = <double*>malloc(n_nodes * sizeof(double))
    walk.end = <int32_t*>malloc(n_nodes * sizeof(int32_t))
    walk.end_share = <double*>malloc(n_nodes * sizeof(double))
    return walk.node != NULL and walk.share != NULL and walk.end != NULL and walk.end_share != NULL


cdef void close_walk(Walk* walk) noexcept:
    free(walk.node)
    free(walk.share)
    free(walk.end)
    free(walk.end_share)


cdef class Router:
    """The tests of a tree, packed for speed: 16 bytes a node."""

    cdef PackedNode* packed
    cdef Tables tables
    cdef const int32_t* n_children
    cdef bint has_tables
    cdef Py_ssize_t n_nodes
    cdef object _keep

    def __cinit__(self):
        self.packed = NULL

    def __init__(
        self, const int32_t[::1] attribute, const double[::1] threshold, const int32_t[::1] first_child,
        const int64_t[::1] table_start, const uint32_t[::1] table_codes, const uint32_t[::1] table_branch,
        const int32_t[::1] default_branch, const int32_t[::1] missing_branch, const int32_t[::1] n_children,
        const int64_t[::1] substitutes, const int32_t[::1] substitute_attribute,
        const double[::1] substitute_threshold, const int32_t[::1] substitute_low,
        const int64_t[::1] substitute_table, const uint32_t[::1] substitute_codes,
        const uint32_t[::1] substitute_branch,
    ):
        cdef Py_ssize_t i
        self.n_nodes = attribute.shape[0]
        self.packed = <PackedNode*>malloc(self.n_nodes * sizeof(PackedNode))
        if self.packed == NULL:
            raise MemoryError("no memory to score with this tree")
        self._keep = (
            table_start, table_codes, table_branch, default_branch, missing_branch, n_children, substitutes,
            substitute_attribute, substitute_threshold, substitute_low, substitute_table, substitute_codes,
            substitute_branch)
        self.n_children = &n_children[0]
        self.tables.start = &table_start[0]
        self.tables.codes = &table_codes[0] if table_codes.shape[0] else NULL
        self.tables.branch = &table_branch[0] if table_branch.shape[0] else NULL
        self.tables.default_branch = &default_branch[0]
        self.tables.missing_branch = &missing_branch[0]
        self.tables.substitutes = NULL
        if substitute_attribute.shape[0]:
            self.tables.substitutes = &substitutes[0]
            self.tables.substitute_attribute = &substitute_attribute[0]
            self.tables.substitute_threshold = &substitute_threshold[0]
            self.tables.substitute_low = &substitute_low[0]
            self.tables.substitute_table = &substitute_table[0]
            self.tables.substitute_codes = &substitute_codes[0] if substitute_codes.shape[0] else NULL
            self.tables.substitute_branch = &substitute_branch[0] if substitute_codes.shape[0] else NULL
        self.has_tables = table_codes.shape[0] > 0
        for i in range(self.n_nodes):
            if attribute[i] < 0:                                    # a leaf leads to itself
                self.packed[i] = PackedNode(INFINITY, 0, <int32_t>i)
            elif table_start[i + 1] > table_start[i]:
                self.packed[i] = PackedNode(0.0, -1 - attribute[i], first_child[i])
            else:
                self.packed[i] = PackedNode(threshold[i], attribute[i], first_child[i])

    def __dealloc__(self):
        free(self.packed)

    def leaves(self, const real[:, :] table, Py_ssize_t row0, Py_ssize_t row1, bint allow_missing, int32_t[::1] out):
        """out[row] := the leaf of each row. Returns (row, column) of the first NaN if it is not allowed, else None."""
        cdef int64_t nan
        cdef Py_ssize_t n_columns = table.shape[1]
        with nogil:
            nan = route(
                self.packed, &self.tables, self.has_tables, &table[0, 0], table.strides[0], table.strides[1], n_columns,
                row0, row1, allow_missing, &out[0])
        return None if nan < 0 else (nan // n_columns, nan % n_columns)

    def spread(
        self, const real[:, :] table, const int64_t[::1] indices, const double[::1] total, const double[:, ::1] proba,
        double tie, int32_t[::1] leaf, double[:, ::1] out, uint8_t[::1] several,
    ):
        """Rows that go down several branches, because they lack a value, or stop before a leaf at an unknown one.

        For each of the rows `places` of the table: the leaf with the largest share of it, and, weighted by the shares,
        the mean of the class shares; and whether it has several ends. `total` is the training weight of each node.
        Shares of a row that are not further apart than `tie` are equal. Returns False without memory.
        """
        cdef Py_ssize_t i, n_ends, n_classes = proba.shape[1]
        cdef Walk walk
        cdef bint ok = open_walk(&walk, self.n_nodes)
        if ok:
            with nogil:
                for i in range(indices.shape[0]):
                    n_ends = follow(self, &walk, &table[indices[i], 0], table.strides[1], &total[0])
                    leaf[i] = mean_of_ends(
                        walk.end, walk.end_share, n_ends, tie, &proba[0, 0], n_classes, &out[i, 0])
                    several[i] = n_ends > 1
        close_walk(&walk)
        return ok

    def ends(
        self, const real[:, :] table, const int64_t[::1] indices, const double[::1] total, int64_t[::1] start,
        int32_t[::1] leaf, double[::1] share,
    ):
        """Where each of the rows `places` ends that go down several branches, with which share of it.

        Called twice: without room in `leaf`, start[i + 1] := how many ends the row places[i] has; then `start` has the
        places of the first ones, and leaf and share are filled. Returns False without memory.
        """
        cdef Py_ssize_t i, j, n_ends
        cdef bint fills = leaf.shape[0] > 0
        cdef Walk walk
        cdef bint ok = open_walk(&walk, self.n_nodes)
        if ok:
            with nogil:
                for i in range(indices.shape[0]):
                    n_ends = follow(self, &walk, &table[indices[i], 0], table.strides[1], &total[0])
                    if not fills:
                        start[i + 1] = n_ends
                        continue
                    for j in range(n_ends):
                        leaf[start[i] + j] = walk.end[j]
                        share[start[i] + j] = walk.end_share[j]
        close_walk(&walk)
        return ok


cdef int64_t follow(
    Router router, Walk* walk, const real* row, int64_t column_stride, const double* total
) noexcept nogil:
    """The ends of a row; returns how many they are."""
    return row_ends(
        router.packed, &router.tables, router.n_children, router.has_tables, row, column_stride, total, walk.node,
        walk.share, walk.end, walk.end_share)


def rows_at(
    const double[:, ::1] values, const int32_t[::1] indices, Py_ssize_t row0, Py_ssize_t row1, double[:, ::1] out
):
    """out[row] := values[places[row]]."""
    cdef Py_ssize_t i, c
    with nogil:
        for i in range(row0, row1):
            for c in range(values.shape[1]):
                out[i, c] = values[indices[i], c]
