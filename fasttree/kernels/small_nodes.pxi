# SPDX-License-Identifier: BSD-3-Clause
# Included by _core.pyx: the best split of a node of a subtree. Attributes that cannot win are passed over.

from libc.stdint cimport int64_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memset

from fasttree.kernels.bounds cimport ft_cells_may_cost_less, ft_entries_may_cost_less
from fasttree.kernels.criteria cimport GINI, INFINITY, Criterion, final_score
from fasttree.kernels.partition cimport SMALL, add_rows, code_entries
from fasttree.kernels.search cimport BestSplit, NodeStats, Split, class_of, row_at, weight_of

cdef enum:
    MOST_IN_CELL = 0x7FFFFFFF   # weight that half a cell holds


cdef bint best_of_node(
    Grower grower, const GrowthLimits* limits, const Subtree* tree, const OpenNode* node, const int64_t[::1] order,
    int64_t* winner, Split* split, uint8_t* heuristic
) noexcept nogil:
    """The best split of a node, if it gains enough: its attribute, or -1. `heuristic` := may there be a better one, or,
    where none was found, any? False: no memory."""
    cdef const Criterion* criterion = &grower.tables.criterion
    cdef const int64_t* histogram
    cdef BestSplit best
    cdef int64_t i
    cdef double gain, limit, most = -INFINITY
    cdef bint ok
    winner[0] = -1
    for i in range(order.shape[0]):
        limit = INFINITY
        if winner[0] >= 0 and not has_few_cells(grower, order[i]) and grower.by_threshold(order[i]):
            limit = cost_to_beat(grower, &node.stats, most + limits.tie)
        if is_counted(grower, tree, node, order[i]):
            histogram = tree.histogram
            if node.slot >= 0 and tree.kept.first_cell[order[i]] >= 0:
                histogram = tree.kept.cells + node.slot * tree.kept.n_cells + tree.kept.first_cell[order[i]]
            elif not count_codes_of_node(grower, tree, node, order[i], limit):
                continue
            ok = grower.scan_histogram(&node.stats, order[i], histogram, tree.categories, tree.scratch, &best)
        elif limit < INFINITY and not lists_may_cost_less(grower, tree, node, order[i], limit):
            continue
        else:
            ok = grower.scan_sorted_node(
                &node.stats, order[i], tree.lists[order[i]] + node.start, node.n_rows, tree.scratch, &best)
        if not ok:
            return False
        heuristic[0] |= best.heuristic
        if best.score == -INFINITY:
            continue
        gain = final_score(criterion.kind, criterion, best.node_loss, best.score, node.stats.total)
        if winner[0] < 0 or gain > most + limits.tie:
            winner[0] = order[i]
            most = gain
            split[0] = best.split
    if not (most >= limits.least_gain and most > limits.above):
        winner[0] = -1
    return True


cdef inline bint has_few_cells(Grower grower, int64_t attribute) noexcept nogil:
    """Is a histogram so short that it is made at nodes of a few rows, too?"""
    return grower.n_codes[attribute] * grower.tables.criterion.n_classes <= FEW_CELLS


cdef inline bint is_counted(
    Grower grower, const Subtree* tree, const OpenNode* node, int64_t attribute
) noexcept nogil:
    """Is the histogram of an attribute made at a node? Else its rows stand in a list."""
    return tree.codes[attribute] != NULL and (not node.is_sorted or has_few_cells(grower, attribute))


cdef double cost_to_beat(Grower grower, const NodeStats* stats, double gain) noexcept nogil:
    """Half of what the sides of a cut cost at most that gains more than this; infinity, where that is not asked."""
    cdef const Criterion* criterion = &grower.tables.criterion
    cdef double saved = gain * <double>stats.total
    if criterion.kind != GINI or criterion.n_classes != 2 or stats.total >= MOST_IN_CELL or saved < 1e-6 * stats.loss:
        return INFINITY
    return 0.5 * (stats.loss - saved) + 1e-10 * stats.loss


cdef bint lists_may_cost_less(
    Grower grower, const Subtree* tree, const OpenNode* node, int64_t attribute, double limit
) noexcept nogil:
    """May a cut of a sorted list cost less than the limit? Only asked where rows weigh 1 and have values."""
    cdef const uint64_t* entries = tree.lists[attribute] + node.start
    if grower.gather or entries[0] >> grower.rows.shift == 0:
        return True
    return ft_entries_may_cost_less(
        entries, node.n_rows, <double>node.stats.total, <double>node.stats.counts[1], limit)


cdef bint count_codes_of_node(
    Grower grower, const Subtree* tree, const OpenNode* node, int64_t attribute, double limit
) noexcept nogil:
    """Count a binned attribute into the histogram, unless no cut of it can cost less than the limit: then False."""
    cdef const uint8_t* codes = tree.codes[attribute]
    cdef int64_t i, n_codes = grower.n_codes[attribute]
    cdef int n_classes = grower.tables.criterion.n_classes
    cdef const int64_t* weight = tree.node_weight if grower.rows.weight != NULL else NULL
    if limit < INFINITY:
        memset(tree.cells, 0, n_codes * sizeof(uint64_t))
        for i in range(node.n_rows):
            tree.cells[codes[<uint32_t>tree.node_rows[i]]] += tree.node_cells[i]
        if tree.cells[0] == 0 and not ft_cells_may_cost_less(
            tree.cells, <int>n_codes, <double>node.stats.total, <double>node.stats.counts[1], limit
        ):
            return False
        for i in range(n_codes):
            tree.histogram[2 * i + 1] = <int64_t><uint32_t>tree.cells[i]
            tree.histogram[2 * i] = <int64_t>(tree.cells[i] >> 32) - tree.histogram[2 * i + 1]
        return True
    memset(tree.histogram, 0, n_codes * n_classes * sizeof(int64_t))
    add_rows(1, tree.node_rows, weight, node.n_rows, codes, n_codes, n_classes, tree.histogram)
    return True


cdef void copy_codes(Grower grower, const Subtree* tree, const uint64_t* rows, int64_t n) noexcept nogil:
    """The rows of the first node, with their places, and their codes in one piece for each attribute."""
    cdef uint64_t low = (<uint64_t>1 << grower.rows.shift) - 1
    cdef int64_t a, i
    cdef const uint8_t* codes
    for i in range(n):
        tree.rows[i] = (rows[i] & low) | (<uint64_t>i << grower.rows.shift)
    for a in range(grower.list_row.shape[0]):
        if tree.codes[a] != NULL:
            codes = &grower.codes[a, 0]
            for i in range(n):
                tree.codes[a][i] = codes[row_at(True, &grower.rows, rows[i])]


cdef void read_node(Grower grower, const Subtree* tree, const OpenNode* node) noexcept nogil:
    """What histograms need of the rows of a node, and would look up by each attribute."""
    cdef int64_t i
    cdef uint64_t entry
    for i in range(node.n_rows):
        entry = tree.rows[node.start + i]
        tree.node_rows[i] = entry >> grower.rows.shift | <uint64_t>class_of(grower.gather, &grower.rows, entry) << 32
        tree.node_weight[i] = weight_of(grower.gather, &grower.rows, entry)
        tree.node_cells[i] = <uint64_t>tree.node_weight[i] << 32
        if <uint32_t>(tree.node_rows[i] >> 32) == 1:
            tree.node_cells[i] |= <uint64_t>tree.node_weight[i]


cdef void sort_node(Grower grower, const Subtree* tree, const OpenNode* node) noexcept nogil:
    """The rows of a node to the lists of the binned attributes, in the order of codes, which stand where others have
    ranks."""
    cdef int64_t a
    for a in range(grower.list_row.shape[0]):
        if tree.codes[a] != NULL and not has_few_cells(grower, a):
            sort_by_code(
                grower.rows.shift, tree.rows + node.start, tree.node_rows, node.n_rows, tree.codes[a],
                tree.lists[a] + node.start)


cdef inline void sort_by_code(
    int shift, const uint64_t* entries, const uint64_t* rows, int64_t n, const uint8_t* codes, uint64_t* out
) noexcept nogil:
    """Entries with their codes for a rank. `rows`: the place of each entry among the codes, in the low half."""
    cdef int64_t i, before = 0, n_here
    cdef uint64_t low = (<uint64_t>1 << shift) - 1
    cdef int64_t[256] place
    cdef uint8_t code
    if n <= SMALL:
        code_entries(shift, entries, rows, n, codes, out)
        return
    memset(place, 0, sizeof(place))
    for i in range(n):
        place[codes[<uint32_t>rows[i]]] += 1
    for i in range(256):
        n_here = place[i]
        place[i] = before
        before += n_here
    for i in range(n):
        code = codes[<uint32_t>rows[i]]
        out[place[code]] = (entries[i] & low) | <uint64_t>code << shift
        place[code] += 1
