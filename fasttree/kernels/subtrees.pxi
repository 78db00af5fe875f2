# SPDX-License-Identifier: BSD-3-Clause
# Included by _core.pyx: all that grows below small nodes, one node after the other, while their rows are in the cache.

from libc.stdint cimport INT64_MAX, INT64_MIN, int32_t, int64_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memcpy, memset

from fasttree.kernels.alloc cimport free, malloc
from fasttree.kernels.categories cimport CategoryStats, free_category_stats, new_category_stats
from fasttree.kernels.criteria cimport Criterion, llrint, side_loss
from fasttree.kernels.partition cimport BranchIds, gather_children, split_in_two
from fasttree.kernels.search cimport NodeStats, Split

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1

cdef enum:
    MOST_BRANCHES = 256
    FEW_CELLS = 256             # of a histogram that small nodes count, too
    ENTRIES_AT_ONCE = 20000000  # rows by attributes, before Ctrl-C is listened to


MOST_FEW_CELLS = FEW_CELLS


cdef struct GrowthLimits:
    double least_gain           # a split is made if it gains so much ...
    double above                # ... and more than this
    double tie                  # a later attribute must gain more by this
    double least_split          # steps of weight of a node that may be split
    int64_t n_levels            # that may grow below the first nodes
    int64_t most_sorted         # rows of a node that is searched in sorted lists
    int64_t n_first             # nodes below which trees grow
    const double* factor        # by class, of weights; or NULL


cdef struct OpenNode:
    # Of its rows, in every list of the subtree. Those of children that are not to be split have dropped out.
    int64_t start
    int64_t n_rows
    int64_t number              # its place among the first nodes, or, behind them, among the children
    int64_t level               # below the first node
    NodeStats stats
    bint is_sorted              # do its rows stand in lists by the binned attributes of many cells, too?
    int32_t slot                # where its histograms of few cells are kept, or -1


cdef struct KeptHistograms:
    # Of few cells, kept by nodes until they are split.
    int64_t* first_cell         # by attribute; -1: it is not kept
    int64_t n_cells             # of the attributes of a node together
    int64_t* cells              # [slot, cell]
    int32_t* free_slots
    int64_t n_free


cdef struct Subtree:
    # The memory in which what is below one node grows. A list holds the rows of the first node, and those of every node
    # below it together.
    uint64_t** lists            # by attribute: rows in its order; binned ones of many cells have them in small nodes
    uint8_t** codes             # by attribute, if it is binned: the codes of the first node's rows; else NULL
    # For counting, as long as that is done: where others have a rank, the row's place among the codes.
    uint64_t* rows
    bint always_counts          # are there binned attributes of few cells?
    uint64_t* spare_list
    OpenNode* queue             # the nodes that may be split, level by level ...
    int64_t head, tail          # ... from `head` to before `tail`
    int64_t capacity
    BranchIds branch_ids
    int64_t* scratch
    CategoryStats* categories
    # of one node
    uint64_t* node_rows         # class and place of each row, ...
    int64_t* node_weight        # ... and weight
    uint64_t* node_cells        # ... or what it adds to a cell
    int64_t* histogram
    uint64_t* cells             # of one attribute
    KeptHistograms kept
    int32_t[MOST_BRANCHES] is_open      # by child: 0, or -1 if it is not to be split
    int64_t[MOST_BRANCHES] cursor
    # by child, of a target of numbers: the smallest and the largest
    int64_t[MOST_BRANCHES] lowest
    int64_t[MOST_BRANCHES] highest


def grow_subtrees(
    Grower grower, Level level, const int64_t[::1] nodes, const int64_t[::1] order, double tie, double least_gain,
    double above, double least_split, int64_t n_levels, const double[::1] factor, int64_t most_sorted,
    uint8_t[::1] branch, uint64_t[:, ::1] lists, uint8_t[:, ::1] codes, const uint8_t[::1] stop, SplitLog log,
):
    """Grow all that is below some nodes of a level, where the gain alone decides between splits and every row goes one
    way. False: no memory, or somebody has set `stop`[0].

    `order`: of the attributes, of which the first wins a tie; `factor`: by which the weights of each class were
    multiplied, or None. Binned attributes of many cells are sorted in nodes of up to `most_sorted` rows; else they are
    counted. `branch`: by row; of the calling thread alone. `lists` and `codes`: room for the
    rows of a node by each binned attribute, and twice more for lists. The log gets the splits node by node, below each
    of these level by level.
    """
    cdef Py_ssize_t i, a, n_binned = 0, n_attributes = grower.list_row.shape[0]
    cdef int64_t most_rows = 0
    cdef int n_classes = grower.tables.criterion.n_classes
    cdef Subtree tree
    cdef GrowthLimits limits
    cdef OpenNode root
    cdef bint ok = True
    limits.tie = tie
    limits.least_gain = least_gain
    limits.above = above
    limits.least_split = least_split
    limits.n_levels = n_levels
    limits.most_sorted = most_sorted
    limits.n_first = nodes.shape[0]
    limits.factor = &factor[0] if factor is not None else NULL
    for i in range(nodes.shape[0]):
        most_rows = max(most_rows, level.n_rows[nodes[i]])
    tree.lists = <uint64_t**>malloc(n_attributes * sizeof(uint64_t*))
    tree.codes = <uint8_t**>malloc(n_attributes * sizeof(uint8_t*))
    # Those that may be split have two rows at least: they are fewer than the rows.
    tree.capacity = most_rows + 1
    tree.queue = <OpenNode*>malloc(tree.capacity * sizeof(OpenNode))
    tree.scratch = <int64_t*>malloc((4 * n_classes + 2) * sizeof(int64_t))
    tree.categories = new_category_stats(256, n_classes, True)
    tree.node_rows = <uint64_t*>malloc((most_rows + 1) * sizeof(uint64_t))
    tree.node_weight = <int64_t*>malloc((most_rows + 1) * sizeof(int64_t))
    tree.node_cells = <uint64_t*>malloc((most_rows + 1) * sizeof(uint64_t))
    tree.histogram = <int64_t*>malloc(256 * n_classes * sizeof(int64_t))
    tree.cells = <uint64_t*>malloc(256 * sizeof(uint64_t))
    tree.branch_ids = BranchIds(&branch[0], NULL)
    tree.rows = &lists[lists.shape[0] - 2, 0]
    tree.spare_list = &lists[lists.shape[0] - 1, 0]
    ok = (
        tree.lists != NULL and tree.codes != NULL and tree.queue != NULL and tree.scratch != NULL
        and tree.categories != NULL and tree.node_rows != NULL and tree.node_weight != NULL
        and tree.node_cells != NULL and tree.histogram != NULL and tree.cells != NULL
    )
    ok = open_kept(grower, &tree.kept, most_rows) and ok
    tree.always_counts = False
    if ok:
        for a in range(n_attributes):
            tree.codes[a] = NULL
            if grower.list_row[a] < 0:
                tree.lists[a] = &lists[n_binned, 0]
                tree.codes[a] = &codes[n_binned, 0]
                tree.always_counts |= has_few_cells(grower, a)
                n_binned += 1
    try:
        for i in range(nodes.shape[0] if ok else 0):
            with nogil:
                for a in range(n_attributes):
                    if grower.list_row[a] >= 0:
                        tree.lists[a] = &grower.sorted_entries[grower.list_row[a], level.child_start[nodes[i]]]
                tree.queue[0] = OpenNode(0, level.n_rows[nodes[i]], i, 0, level.stats(nodes[i]), n_binned == 0, -1)
                tree.head, tree.tail = 0, 1
                if n_binned > 0:
                    copy_codes(grower, &tree, &grower.row_list[level.row_start[nodes[i]]], tree.queue[0].n_rows)
            while ok and tree.head < tree.tail:
                with nogil:
                    ok = grow_subtree(grower, &limits, &tree, order, log)
                PyErr_CheckSignals()
                ok = ok and not stop[0]
            if not ok:
                break
    finally:
        free(tree.lists)
        free(tree.codes)
        free(tree.queue)
        free(tree.scratch)
        if tree.categories != NULL:
            free_category_stats(tree.categories)
        free(tree.node_rows)
        free(tree.node_weight)
        free(tree.node_cells)
        free(tree.histogram)
        free(tree.cells)
        close_kept(&tree.kept)
    return ok


cdef bint grow_subtree(
    Grower grower, const GrowthLimits* limits, Subtree* tree, const int64_t[::1] order, SplitLog log
) noexcept nogil:
    """Append splits until no node of the queue is left, or enough has been done for once. False: no memory."""
    cdef int64_t made, winner, first, first_open, k, start, n_entries = 0
    cdef OpenNode node
    cdef Split split
    while tree.head < tree.tail and n_entries < ENTRIES_AT_ONCE:
        node = tree.queue[tree.head]
        tree.head += 1
        n_entries += node.n_rows * grower.list_row.shape[0]
        if tree.always_counts or not node.is_sorted:
            read_node(grower, tree, &node)
        if not node.is_sorted and node.n_rows <= limits.most_sorted:
            sort_node(grower, tree, &node)
            node.is_sorted = True
        count_kept(grower, tree, &node)
        if not best_of_node(grower, limits, tree, &node, order, &winner, &split, &log.heuristic[node.number]):
            return False
        if winner < 0:
            release_kept(&tree.kept, &node)
            continue
        made, first = log.n_splits, log.n_all_children
        if not make_split(grower, tree, &node, winner, &split, log):
            return False
        log.n_splits += 1
        log.n_all_children += log.n_children[made]
        if grower.rows.target != NULL:
            note_ranges(grower, tree, tree.lists[winner] + node.start, node.n_rows, log.n_children[made])
        start = node.start
        first_open = tree.tail
        for k in range(log.n_children[made]):
            if tree.tail == tree.capacity:
                return False
            tree.queue[tree.tail] = OpenNode(
                start, log.child_rows[first + k], limits.n_first + first + k, node.level + 1,
                stats_of_counts(grower, limits, &log.child_counts[first + k, 0]), node.is_sorted, -1)
            tree.is_open[k] = -1
            if may_be_split(grower, limits, tree, &tree.queue[tree.tail], k):
                tree.is_open[k] = 0
                start += tree.queue[tree.tail].n_rows
                tree.tail += 1
        hand_down_kept(
            grower, tree, &node, log.n_children[made], &log.child_rows[first], &tree.queue[first_open])
        if start > node.start:
            move_to_children(grower, tree, &node, log.n_children[made], &log.child_rows[first])
    return True


cdef bint make_split(
    Grower grower, const Subtree* tree, const OpenNode* node, int64_t attribute, const Split* split, SplitLog log
) noexcept nogil:
    """Write down the split of a node, with its table and its children, and tell every row its branch. False: no
    memory."""
    cdef int64_t made = log.n_splits, first = log.n_all_children
    cdef int64_t n_branches = 2, n_empty = 0, n_table = 0
    cdef const uint64_t* entries = tree.lists[attribute] + node.start
    cdef const uint8_t* codes = NULL
    cdef int shape = grower.shape[attribute]
    if is_counted(grower, tree, node, attribute):
        entries, codes = tree.rows + node.start, grower.codes_of(attribute)
    if shape == ORDERED:
        n_table = grower.n_codes[attribute] - 1
    elif shape != THRESHOLD:
        n_table = split.code
        n_branches = split.n_branches
        # of the values that the node has not, where every value has a branch, or a group
        n_empty = (shape == MULTIWAY or shape == GROUPED) and n_table < grower.n_codes[attribute] - 1
    if not log.make_room(n_branches + n_empty, n_table):
        return False
    log.parent[made] = node.number
    log.attribute[made] = attribute
    if grower.by_threshold(attribute):
        log.missing_branch[made] = split_threshold(
            grower, entries, node.n_rows, attribute, codes, split, &tree.branch_ids, &log.neighbours[made, 0])
        fill_ordered(
            n_table, &log.neighbours[made, 0], 0, log.table_codes + log.n_entries, log.table_branch + log.n_entries)
    else:
        log.neighbours[made, 0] = log.neighbours[made, 1] = 0
        if not split_table(
            grower, &node.stats, entries, node.n_rows, attribute, codes, split, n_table, &tree.branch_ids,
            log.table_codes + log.n_entries, log.table_branch + log.n_entries, &log.missing_branch[made],
        ):
            return False
    log.n_entries += n_table
    log.n_table[made] = n_table
    log.n_filled[made] = n_branches
    log.n_children[made] = n_branches + n_empty
    memset(&log.child_rows[first], 0, (n_branches + n_empty) * sizeof(int64_t))
    memset(&log.child_counts[first, 0], 0, (n_branches + n_empty) * log.child_counts.shape[1] * sizeof(int64_t))
    count_children(
        grower, entries, node.n_rows, &tree.branch_ids, &log.child_rows[first], &log.child_counts[first, 0])
    return True


cdef NodeStats stats_of_counts(Grower grower, const GrowthLimits* limits, const int64_t* counts) noexcept nogil:
    cdef Criterion plain = grower.tables.criterion
    cdef int64_t weight = 0, limit_weight = 0
    cdef int c
    plain.n_inverse = 0     # as `CriterionTables.losses` has it
    plain.by_inverse = False
    if grower.rows.target != NULL:
        return NodeStats(counts, counts[0], counts[0], side_loss(plain.kind, &plain, counts, counts[0]))
    for c in range(plain.n_classes):
        weight += counts[c]
        if limits.factor != NULL:
            limit_weight += llrint(<double>counts[c] / limits.factor[c])
    if limits.factor == NULL:
        limit_weight = weight
    return NodeStats(counts, weight, limit_weight, side_loss(plain.kind, &plain, counts, weight))


cdef void note_ranges(
    Grower grower, Subtree* tree, const uint64_t* entries, int64_t n, int64_t n_children
) noexcept nogil:
    """The smallest and the largest target of each child, among rows that know their branches."""
    cdef int64_t i, target
    cdef uint32_t branch
    for i in range(n_children):
        tree.lowest[i], tree.highest[i] = INT64_MAX, INT64_MIN
    for i in range(n):
        branch = branch_of(&tree.branch_ids, entries[i])
        target = grower.rows.target[row_at(True, &grower.rows, entries[i])]
        tree.lowest[branch] = min(tree.lowest[branch], target)
        tree.highest[branch] = max(tree.highest[branch], target)


cdef bint may_be_split(
    Grower grower, const GrowthLimits* limits, const Subtree* tree, const OpenNode* node, int64_t branch
) noexcept nogil:
    cdef int c
    if node.level >= limits.n_levels or <double>node.stats.limit_weight < limits.least_split:
        return False
    if grower.rows.target != NULL:
        return tree.lowest[branch] < tree.highest[branch]
    for c in range(grower.tables.criterion.n_classes):
        if node.stats.counts[c] == node.stats.total:
            return False
    return True


cdef void move_to_children(
    Grower grower, Subtree* tree, const OpenNode* node, int64_t n_children, const int64_t* child_rows
) noexcept nogil:
    """The rows of a node to those of its children that may be split, one behind the other."""
    cdef int64_t a
    for a in range(grower.list_row.shape[0]):
        if not is_counted(grower, tree, node, a):
            move_list(tree, tree.lists[a] + node.start, node.n_rows, n_children, child_rows)
    if tree.always_counts or not node.is_sorted:
        move_list(tree, tree.rows + node.start, node.n_rows, n_children, child_rows)


cdef inline void move_list(
    Subtree* tree, uint64_t* entries, int64_t n, int64_t n_children, const int64_t* child_rows
) noexcept nogil:
    cdef int64_t k, read = 0, written = 0
    if n_children == 2 and tree.is_open[0] < 0:
        split_in_two(entries, n, &tree.branch_ids, tree.spare_list, entries)
        return
    if n_children == 2:
        split_in_two(entries, n, &tree.branch_ids, entries, tree.spare_list)
        if tree.is_open[1] == 0:
            memcpy(entries + child_rows[0], tree.spare_list, child_rows[1] * sizeof(uint64_t))
        return
    gather_children(entries, n, &tree.branch_ids, n_children, child_rows, tree.spare_list, tree.cursor)
    for k in range(n_children):
        if tree.is_open[k] == 0:
            memcpy(entries + written, tree.spare_list + read, child_rows[k] * sizeof(uint64_t))
            written += child_rows[k]
        read += child_rows[k]
