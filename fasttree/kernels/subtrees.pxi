# SPDX-License-Identifier: BSD-3-Clause
# Included by _core.pyx: all that grows below small nodes, one node after the other, while their rows are in the cache.

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memcpy, memset

from fasttree.kernels.alloc cimport free, malloc
from fasttree.kernels.criteria cimport CODE_LENGTH, INFINITY, Criterion, final_score, llrint, side_loss
from fasttree.kernels.partition cimport SMALL, BranchIds, code_entries, split_in_two
from fasttree.kernels.search cimport BestSplit, NodeStats, Split, row_at


cdef struct GrowthLimits:
    double least_gain           # a split is made if it gains so much ...
    double above                # ... and more than this
    double tie                  # a later attribute must gain more by this
    double least_split          # steps of weight of a node that may be split
    int64_t n_levels            # that may grow below the first nodes
    const double* factor        # by class, of weights; or NULL


cdef struct OpenNode:
    int64_t start               # of its rows, in every list of the subtree
    int64_t n_rows
    int64_t number              # among the children that were made, -1: the first node
    int64_t level               # below it
    NodeStats stats


cdef struct Subtree:
    # The memory in which what is below one node grows.
    uint64_t** lists            # by attribute: the rows of the first node, sorted
    OpenNode* queue             # the nodes that may be split, level by level
    uint64_t* list_scratch      # as long as a list
    int64_t* scratch
    BranchIds branch_ids


def grow_subtrees(
    Grower grower, Level level, const int64_t[::1] nodes, const int64_t[::1] order, double tie, double least_gain,
    double above, double least_split, int64_t n_levels, const double[::1] factor, uint8_t[::1] branch,
    uint64_t[:, ::1] lists, int64_t[::1] parent, int64_t[::1] attribute, int64_t[:, ::1] neighbours,
    int32_t[::1] missing_branch, int64_t[::1] child_rows, int64_t[:, ::1] child_counts,
):
    """Grow all that is below some nodes of a level, by thresholds in two. Returns how many splits were made, -1 without
    memory.

    `order`: of the attributes, of which the first wins a tie; `factor`: by which the weights of each class were
    multiplied, or None. `branch`: by row; of the calling thread alone. `lists`: room for the rows of a node by each
    binned attribute, and once more.

    Splits come node by node, below each of these level by level: parent[i] is the number of a node of `nodes`, or, from
    len(nodes) on, of the children, which come two by two. neighbours[i]: see `split_nodes`.
    """
    cdef Py_ssize_t i, a, n_binned = 0, n_attributes = grower.list_row.shape[0]
    cdef int64_t most_rows = 0, n_splits = 0, first
    cdef Subtree tree
    cdef GrowthLimits limits
    cdef OpenNode root
    cdef bint ok = True
    limits.tie = tie
    limits.least_gain = least_gain
    limits.above = above
    limits.least_split = least_split
    limits.n_levels = n_levels
    limits.factor = &factor[0] if factor is not None else NULL
    for i in range(nodes.shape[0]):
        most_rows = max(most_rows, level.n_rows[nodes[i]])
    tree.lists = <uint64_t**>malloc(n_attributes * sizeof(uint64_t*))
    # Those that may be split have two rows at least: they are fewer than the rows.
    tree.queue = <OpenNode*>malloc((most_rows + 1) * sizeof(OpenNode))
    tree.scratch = <int64_t*>malloc((4 * grower.tables.criterion.n_classes + 2) * sizeof(int64_t))
    tree.branch_ids = BranchIds(&branch[0], NULL)
    tree.list_scratch = &lists[lists.shape[0] - 1, 0]
    ok = tree.lists != NULL and tree.queue != NULL and tree.scratch != NULL
    with nogil:
        for i in range(nodes.shape[0] if ok else 0):
            n_binned = 0
            for a in range(n_attributes):
                if grower.list_row[a] >= 0:
                    tree.lists[a] = &grower.sorted_entries[grower.list_row[a], level.child_start[nodes[i]]]
                else:
                    tree.lists[a] = &lists[n_binned, 0]
                    sort_by_code(grower, level, nodes[i], a, tree.lists[a], tree.list_scratch)
                    n_binned += 1
            root = OpenNode(0, level.n_rows[nodes[i]], -1, 0, level.stats(nodes[i]))
            first = n_splits
            if not grow_subtree(
                grower, &limits, &tree, &root, order, attribute, neighbours, missing_branch, child_rows, child_counts,
                parent, &n_splits,
            ):
                ok = False
                break
            for a in range(first, n_splits):
                parent[a] = i if parent[a] < 0 else parent[a] + nodes.shape[0]
    free(tree.lists)
    free(tree.queue)
    free(tree.scratch)
    return n_splits if ok else -1


cdef void sort_by_code(
    Grower grower, Level level, int64_t node, int64_t attribute, uint64_t* sorted_rows, uint64_t* unsorted
) noexcept nogil:
    """The rows of a node in the order of their codes of a binned attribute, which stand where others have ranks."""
    cdef const uint64_t* rows = &grower.row_list[level.row_start[node]]
    cdef const uint8_t* codes = &grower.codes[attribute, 0]
    cdef int64_t n = level.n_rows[node], i, before = 0, n_here
    cdef uint64_t low = ((<uint64_t>1) << grower.rows.shift) - 1
    cdef int64_t[256] place
    cdef uint64_t code
    if n <= SMALL:
        code_entries(grower.rows.shift, rows, grower.listed_at(level.row_start[node]), n, codes, sorted_rows)
        return
    memset(place, 0, sizeof(place))
    for i in range(n):
        code = codes[row_at(True, &grower.rows, rows[i])]
        unsorted[i] = (rows[i] & low) | (code << grower.rows.shift)
        place[code] += 1
    for i in range(grower.n_codes[attribute]):
        n_here = place[i]
        place[i] = before
        before += n_here
    for i in range(n):
        code = unsorted[i] >> grower.rows.shift
        sorted_rows[place[code]] = unsorted[i]
        place[code] += 1


cdef bint grow_subtree(
    Grower grower, const GrowthLimits* limits, const Subtree* tree, const OpenNode* root, const int64_t[::1] order,
    int64_t[::1] attribute, int64_t[:, ::1] neighbours, int32_t[::1] missing_branch, int64_t[::1] child_rows,
    int64_t[:, ::1] child_counts, int64_t[::1] parent, int64_t* n_splits
) noexcept nogil:
    """Append the splits at and below one node. False: no memory."""
    cdef int64_t head = 0, tail = 1, child, made, winner
    cdef OpenNode node
    cdef OpenNode[2] children
    cdef Split split
    cdef bint[2] is_open
    cdef int side
    tree.queue[0] = root[0]
    while head < tail:
        node = tree.queue[head]
        head += 1
        if not best_of_node(grower, limits, tree, &node, order, &winner, &split):
            return False
        if winner < 0:
            continue
        made = n_splits[0]
        n_splits[0] += 1
        child = 2 * made
        parent[made] = node.number
        attribute[made] = winner
        missing_branch[made] = split_threshold(
            grower, tree.lists[winner] + node.start, node.n_rows, winner, NULL, &split, &tree.branch_ids,
            &neighbours[made, 0])
        memset(&child_counts[child, 0], 0, 2 * child_counts.shape[1] * sizeof(int64_t))
        child_rows[child] = child_rows[child + 1] = 0
        count_children(
            grower, tree.lists[winner] + node.start, node.n_rows, &tree.branch_ids, &child_rows[child],
            &child_counts[child, 0])
        for side in range(2):
            children[side] = OpenNode(node.start, child_rows[child + side], child + side, node.level + 1)
            describe_child(grower, limits, &child_counts[child + side, 0], &children[side])
            is_open[side] = may_be_split(grower, limits, &children[side])
        if is_open[0]:
            children[1].start += child_rows[child]
        move_to_children(grower, tree, &node, is_open, child_rows[child])
        for side in range(2):
            if is_open[side]:
                tree.queue[tail] = children[side]
                tail += 1
    return True


cdef bint best_of_node(
    Grower grower, const GrowthLimits* limits, const Subtree* tree, const OpenNode* node, const int64_t[::1] order,
    int64_t* winner, Split* split
) noexcept nogil:
    """The best split of a node, if it gains enough: its attribute, or -1. False: no memory."""
    cdef const Criterion* criterion = &grower.tables.criterion
    cdef BestSplit best
    cdef int64_t i
    cdef double gain, most = -INFINITY
    winner[0] = -1
    for i in range(order.shape[0]):
        if not grower.scan_sorted_node(
            &node.stats, order[i], tree.lists[order[i]] + node.start, node.n_rows, tree.scratch, &best
        ):
            return False
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


cdef void describe_child(
    Grower grower, const GrowthLimits* limits, const int64_t* counts, OpenNode* node
) noexcept nogil:
    cdef Criterion plain = grower.tables.criterion
    cdef int64_t weight = 0, limit_weight = 0
    cdef int c
    plain.n_inverse = 0     # as `CriterionTables.losses` has it
    plain.by_inverse = False
    for c in range(plain.n_classes):
        weight += counts[c]
        if limits.factor != NULL:
            limit_weight += llrint(<double>counts[c] / limits.factor[c])
    if limits.factor == NULL:
        limit_weight = weight
    node.stats = NodeStats(counts, weight, limit_weight, side_loss(plain.kind, &plain, counts, weight))


cdef bint may_be_split(Grower grower, const GrowthLimits* limits, const OpenNode* node) noexcept nogil:
    cdef int c
    if node.level >= limits.n_levels or <double>node.stats.limit_weight < limits.least_split:
        return False
    for c in range(grower.tables.criterion.n_classes):
        if node.stats.counts[c] == node.stats.total:
            return False
    return True


cdef void move_to_children(
    Grower grower, const Subtree* tree, const OpenNode* node, const bint* is_open, int64_t n_left
) noexcept nogil:
    """The rows of a node to those of its children that may be split, the second behind the first."""
    cdef int64_t a
    cdef uint64_t* entries
    if not is_open[0] and not is_open[1]:
        return
    for a in range(grower.list_row.shape[0]):
        entries = tree.lists[a] + node.start
        if is_open[0]:
            split_in_two(entries, node.n_rows, &tree.branch_ids, entries, tree.list_scratch)
            if is_open[1]:
                memcpy(entries + n_left, tree.list_scratch, (node.n_rows - n_left) * sizeof(uint64_t))
        else:
            split_in_two(entries, node.n_rows, &tree.branch_ids, tree.list_scratch, entries)
