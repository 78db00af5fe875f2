# SPDX-License-Identifier: BSD-3-Clause
# Included by _core.pyx: histograms of few cells that nodes of a subtree keep until they are split. That of the largest
# child is what its siblings leave of them.

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from fasttree.kernels.alloc cimport free, malloc
from fasttree.kernels.partition cimport add_rows, branch_of

cdef enum:
    MOST_KEPT_CELLS = 1 << 16   # of all nodes together
    LEAST_KEPT_ROWS = 32        # of a node


cdef bint open_kept(Grower grower, KeptHistograms* kept, int64_t most_rows) noexcept nogil:
    """Make room for the histograms of all nodes that may keep theirs at once. False: no memory."""
    cdef int64_t a, n_slots = most_rows // LEAST_KEPT_ROWS + 1
    kept.cells = NULL
    kept.free_slots = NULL
    kept.n_cells = kept.n_free = 0
    kept.first_cell = <int64_t*>malloc(grower.list_row.shape[0] * sizeof(int64_t))
    if kept.first_cell == NULL:
        return False
    for a in range(grower.list_row.shape[0]):
        kept.first_cell[a] = -1
        if grower.list_row[a] < 0 and has_few_cells(grower, a):
            kept.first_cell[a] = kept.n_cells
            kept.n_cells += grower.n_codes[a] * grower.tables.criterion.n_classes
    if kept.n_cells == 0 or kept.n_cells > MOST_KEPT_CELLS or most_rows < LEAST_KEPT_ROWS:
        return True
    n_slots = min(n_slots, MOST_KEPT_CELLS // kept.n_cells)
    kept.cells = <int64_t*>malloc(n_slots * kept.n_cells * sizeof(int64_t))
    kept.free_slots = <int32_t*>malloc(n_slots * sizeof(int32_t))
    if kept.cells == NULL or kept.free_slots == NULL:
        return False
    while kept.n_free < n_slots:
        kept.free_slots[kept.n_free] = <int32_t>kept.n_free
        kept.n_free += 1
    return True


cdef void close_kept(KeptHistograms* kept) noexcept nogil:
    free(kept.first_cell)
    free(kept.cells)
    free(kept.free_slots)


cdef void release_kept(KeptHistograms* kept, OpenNode* node) noexcept nogil:
    if node.slot >= 0:
        kept.free_slots[kept.n_free] = node.slot
        kept.n_free += 1
    node.slot = -1


cdef void count_kept(Grower grower, Subtree* tree, OpenNode* node) noexcept nogil:
    """Count the attributes of few cells at a node that has not inherited its histograms, if there is room for them."""
    cdef KeptHistograms* kept = &tree.kept
    if node.slot >= 0 or kept.n_free == 0 or node.n_rows < LEAST_KEPT_ROWS:
        return
    kept.n_free -= 1
    node.slot = kept.free_slots[kept.n_free]
    memset(kept.cells + node.slot * kept.n_cells, 0, kept.n_cells * sizeof(int64_t))
    add_kept(grower, tree, node, 1, node.n_rows)


cdef void add_kept(Grower grower, const Subtree* tree, const OpenNode* node, int64_t sign, int64_t n) noexcept nogil:
    """Add the first n of `node_rows` to the histograms of a node, or take them away."""
    cdef const int64_t* weight = tree.node_weight if grower.rows.weight != NULL else NULL
    cdef int64_t* cells = tree.kept.cells + node.slot * tree.kept.n_cells
    cdef int64_t a
    for a in range(grower.list_row.shape[0]):
        if tree.kept.first_cell[a] >= 0:
            add_rows(
                sign, tree.node_rows, weight, n, tree.codes[a], grower.n_codes[a], grower.tables.criterion.n_classes,
                cells + tree.kept.first_cell[a])


cdef void hand_down_kept(
    Grower grower, Subtree* tree, OpenNode* node, int64_t n_children, const int64_t* child_rows, OpenNode* heirs
) noexcept nogil:
    """Make the histograms of a node those of its largest child, if that pays; else they are released. `heirs`: the
    children that may be split.

    Rows know their branches, and have not moved yet. What `read_node` noted of them is used up.
    """
    cdef int64_t i, k, largest = 0, n_others = 0, heir = 0
    if node.slot < 0:
        return
    for k in range(1, n_children):
        if child_rows[k] > child_rows[largest]:
            largest = k
    if (
        tree.is_open[largest] < 0 or child_rows[largest] < LEAST_KEPT_ROWS
        or node.n_rows - child_rows[largest] > child_rows[largest]
    ):
        release_kept(&tree.kept, node)
        return
    for i in range(node.n_rows):
        tree.node_rows[n_others] = tree.node_rows[i]
        tree.node_weight[n_others] = tree.node_weight[i]
        n_others += branch_of(&tree.branch_ids, tree.rows[node.start + i]) != <uint32_t>largest
    add_kept(grower, tree, node, -1, n_others)
    for k in range(largest):
        heir += tree.is_open[k] == 0
    heirs[heir].slot = node.slot
