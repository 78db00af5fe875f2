# SPDX-License-Identifier: BSD-3-Clause
# Included by _core.pyx: the sequential parts of pruning, and of cutting a tree back to its best leaves.

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.string cimport memset

from fasttree.kernels.alloc cimport free, malloc
from fasttree.kernels.keys cimport real
from fasttree.kernels.pruning cimport Estimate, added_errors, find_weakest_links, remove_greedily
from fasttree.kernels.raising cimport begin_raising, prune_and_raise
from fasttree.kernels.raising_slots cimport Raising, free_raising
from fasttree.kernels.sorting cimport heap_down, heap_up


def added_errors_of(const double[::1] n, const double[::1] e, int kind, double confidence, double z, double[::1] out):
    """out[i] := the errors to be expected beyond `e[i]` on rows of weight `n[i]`."""
    cdef Py_ssize_t i
    cdef Estimate estimator = Estimate(kind, confidence, z)
    with nogil:
        for i in range(n.shape[0]):
            out[i] = added_errors(&estimator, n[i], e[i])


def weakest_links(
    const int32_t[::1] first_child, const int32_t[::1] n_children, const int32_t[::1] multiplicity,
    const double[::1] risk, double[::1] strength, double[::1] saved, double[::1] leaves,
):
    """strength[node] := the price of a leaf from which on a node is a leaf; saved and leaves := what goes with it then,
    leaves 0 if it goes with a node above. Leaves of the tree stay untouched."""
    cdef bint ok
    with nogil:
        ok = find_weakest_links(
            &first_child[0], &n_children[0], &multiplicity[0], &risk[0], first_child.shape[0], &strength[0],
            &saved[0], &leaves[0])
    if not ok:
        raise MemoryError("no memory to find the weakest links")


def greedy_removal(
    const int32_t[::1] first_child, const int32_t[::1] n_children, const int32_t[::1] parent,
    const int32_t[::1] depth, int64_t[::1] gain, int64_t[::1] leaves, bint spend_savings, int32_t[::1] node_out,
    int64_t[::1] gain_out, int64_t[::1] leaves_out,
):
    """The nodes that become leaves, in order; returns how many. `gain` and `leaves` are used up."""
    cdef int64_t n_steps
    with nogil:
        n_steps = remove_greedily(
            &first_child[0], &n_children[0], &parent[0], &depth[0], first_child.shape[0], &gain[0], &leaves[0],
            spend_savings, &node_out[0], &gain_out[0], &leaves_out[0])
    if n_steps < 0:
        raise MemoryError("no memory to prune")
    return n_steps


def prune_with_raising(
    Router router, const real[:, :] table, const int32_t[::1] y, const double[::1] weight,
    const int32_t[::1] first_child, const int32_t[::1] n_children, const int32_t[::1] empty_child,
    const int32_t[::1] code, const int32_t[::1] multiplicity, const double[:, ::1] counts, const double[::1] total,
    const double[::1] class_weight, int kind, double confidence, double z,
):
    """Error-based pruning; see raising.pxd. The rows of the table are those of training.

    Returns bytes, to be read as arrays. Of each slot: test, is_leaf, first_added, next_added, code, leaves, counts,
    changed. Of each step: node, kind, leaves removed, estimate before and after.
    """
    cdef Raising r
    cdef Py_ssize_t n = first_child.shape[0]
    cdef bint ok
    memset(&r, 0, sizeof(Raising))
    r.packed, r.tables, r.has_tables = router.packed, &router.tables, router.has_tables
    r.first_child, r.n_children, r.empty_child, r.total = &first_child[0], &n_children[0], &empty_child[0], &total[0]
    r.class_weight = &class_weight[0] if class_weight is not None else NULL
    r.n_classes = <int>counts.shape[1]
    r.y = &y[0]
    r.row_stride, r.column_stride = table.strides[0], table.strides[1]
    r.estimator = Estimate(kind, confidence, z)
    try:
        with nogil:
            ok = begin_raising(
                &r, n, table.shape[0], &code[0], &multiplicity[0], &counts[0, 0],
                &weight[0] if weight is not None else NULL)
            ok = ok and prune_and_raise(&r, &table[0, 0])
        if not ok:
            raise MemoryError("no memory to prune with raising")
        n = r.at.n
        return (
            (<char*>r.at.test)[:4 * n], (<char*>r.at.is_leaf)[:n], (<char*>r.at.first_added)[:4 * n],
            (<char*>r.at.next_added)[:4 * n], (<char*>r.at.code)[:4 * n], (<char*>r.at.leaves)[:4 * n],
            (<char*>r.at.counts)[:8 * n * r.n_classes], (<char*>r.at.changed)[:n],
        ), (
            (<char*>r.step_node)[:4 * r.n_steps], (<char*>r.step_kind)[:4 * r.n_steps],
            (<char*>r.step_leaves)[:4 * r.n_steps], (<char*>r.step_before)[:8 * r.n_steps],
            (<char*>r.step_after)[:8 * r.n_steps],
        )
    finally:
        free_raising(&r)


def best_first(
    const int32_t[::1] first_child, const int32_t[::1] n_children, const int32_t[::1] multiplicity,
    const double[::1] score, int64_t max_leaves,
):
    """Which splits the best-first tree of at most `max_leaves` leaves makes, a byte a node: always the most worthy
    one that is open and still fits, ties to the smaller node number."""
    cdef Py_ssize_t n = first_child.shape[0], n_heap = 0, child
    cdef int64_t n_leaves = 1, more
    cdef int64_t node
    kept = bytearray(n)
    cdef uint8_t[::1] keep = kept
    cdef double* key = <double*>malloc(n * sizeof(double))
    cdef int64_t* heap = <int64_t*>malloc(n * sizeof(int64_t))
    if key == NULL or heap == NULL:
        free(key)
        free(heap)
        raise MemoryError("no memory to choose the leaves")
    with nogil:
        for node in range(n):
            key[node] = -score[node]
        if first_child[0] >= 0:
            heap[0] = 0
            n_heap = 1
        while n_heap:
            node = heap[0]
            n_heap -= 1
            heap[0] = heap[n_heap]
            heap_down(key, heap, 0, n_heap, False)
            more = -1
            for child in range(first_child[node], first_child[node] + n_children[node]):
                more += multiplicity[child]
            if n_leaves + more > max_leaves:
                continue
            n_leaves += more
            keep[node] = 1
            for child in range(first_child[node], first_child[node] + n_children[node]):
                if first_child[child] >= 0:
                    heap_up(key, heap, n_heap, child)
                    n_heap += 1
    free(key)
    free(heap)
    return kept
