# SPDX-License-Identifier: BSD-3-Clause
# Included by _core.pyx: what is written down of splits that the core makes by itself.

from libc.stdint cimport int32_t, int64_t, uint32_t, uint8_t
from libc.string cimport memcpy

from fasttree.kernels.alloc cimport free, realloc


cdef class SplitLog:
    """Splits in the order in which they were made. Only the tables are of any length; who makes a log brings arrays for
    as many splits, and three times as many children, as there are rows."""

    cdef int64_t[::1] parent            # the number of the node that is split (see OpenNode)
    cdef int64_t[::1] attribute
    cdef int64_t[:, ::1] neighbours     # see `split_nodes`
    cdef int32_t[::1] missing_branch
    cdef int64_t[::1] n_children
    cdef int64_t[::1] n_filled
    cdef int64_t[::1] n_table
    cdef int64_t[::1] child_rows
    cdef int64_t[:, ::1] child_counts
    cdef uint8_t[::1] heuristic         # by number: may a better split have been missed?
    cdef uint32_t* table_codes
    cdef uint32_t* table_branch
    cdef int64_t capacity               # of the tables
    cdef readonly int64_t n_splits, n_all_children, n_entries

    def __init__(
        self, parent, attribute, neighbours, missing_branch, n_children, n_filled, n_table, child_rows, child_counts,
        heuristic,
    ):
        self.parent = parent
        self.attribute = attribute
        self.neighbours = neighbours
        self.missing_branch = missing_branch
        self.n_children = n_children
        self.n_filled = n_filled
        self.n_table = n_table
        self.child_rows = child_rows
        self.child_counts = child_counts
        self.heuristic = heuristic

    def __dealloc__(self):
        free(self.table_codes)
        free(self.table_branch)

    def tables(self, uint32_t[::1] codes, uint32_t[::1] branch):
        """Both := the tables of all splits, one after another; `n_entries` long."""
        if self.n_entries > 0:
            memcpy(&codes[0], self.table_codes, self.n_entries * sizeof(uint32_t))
            memcpy(&branch[0], self.table_branch, self.n_entries * sizeof(uint32_t))

    cdef bint make_room(self, int64_t n_children, int64_t n) noexcept nogil:
        """For one more split, its children, and n more entries of tables. False: no memory."""
        cdef int64_t capacity = 2 * (self.n_entries + n)
        cdef uint32_t* codes
        cdef uint32_t* branch
        if (
            self.n_splits == self.parent.shape[0] or self.n_all_children + n_children > self.child_rows.shape[0]
        ):      # no tree of splits that part the rows needs that
            return False
        if self.n_entries + n <= self.capacity:
            return True
        codes = <uint32_t*>realloc(self.table_codes, capacity * sizeof(uint32_t))
        if codes == NULL:
            return False
        self.table_codes = codes
        branch = <uint32_t*>realloc(self.table_branch, capacity * sizeof(uint32_t))
        if branch == NULL:
            return False
        self.table_branch = branch
        self.capacity = capacity
        return True
