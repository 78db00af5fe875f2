# SPDX-License-Identifier: BSD-3-Clause
# cython: language_level=3
"""The Cython core: histograms, sweeps, partition, routing.

Typed contiguous views in and out, no policy. The bodies stand in the .pxd files beside it;
this file owns the arrays of one fit (`Grower`) and looks for splits level by level. What splits are measured with, what
is done with those that were accepted, columns, encoding, routing, surrogates, pruning, and numerical functions stand in
the .pxi files that it includes.
"""

cimport cython
from libc.math cimport ceil, fabs, fmax
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memset

from fasttree.kernels.alloc cimport free, malloc
from fasttree.kernels.categories cimport (
    CategoryStats, count_runs, free_category_stats, multiway_of_runs, new_category_stats, scan_multiway,
    stats_of_histogram, stats_of_runs,
)
from fasttree.kernels.criteria cimport (
    CODE_LENGTH, ENTROPY, GAIN_RATIO, GINI, INFINITY, MISCLASSIFICATION, SQUARED_ERROR, Criterion, final_score,
    ft_quick_log2, klogk, limit_weight_of, side_loss, tie_tolerance_of, weight_of_stats,
)
from fasttree.kernels.keys cimport entry_of
from fasttree.kernels.groups cimport scan_groups
from fasttree.kernels.partition cimport (
    SMALL, BranchIds, Instances, add_rows, branch_of, code_entries, partition_list, scatter_list,
)
from fasttree.kernels.thresholds cimport scan_codes, set_apart, sweep, sweep_distributed, weigh_code, weigh_threshold
from fasttree.kernels.search cimport LEAST_GAP as KERNEL_LEAST_GAP
from fasttree.kernels.search cimport (
    BestSplit, NodeStats, NodeView, RowReader, Split, add_stats, class_of, row_at, weight_of,
)
from fasttree.kernels.subsets cimport scan_subset
from fasttree.kernels.wide cimport Wide

cdef extern from "kernels/isa.h":
    ctypedef void clones_void "FT_CLONES void"
    const char *FT_COPIES

# How the values of an attribute become branches.
cpdef enum:
    THRESHOLD
    SUBSET
    MULTIWAY
    GROUPED
    ORDERED                     # categories by threshold

# Where rows with a missing value go.
cpdef enum:
    BRANCH                      # to the side where they help most; by themselves only if nothing else is as good
    CATEGORY                    # by themselves if nothing else is better
    FRACTIONAL                  # to every branch, with a share of their weight; scores are those of the others
    SURROGATE                   # where another attribute says; scores are those of the others

SMALL_NODE = SMALL
CRITERIA = {    # the criteria by which attributes' own splits are found
    "entropy": ENTROPY, "gain_ratio": GAIN_RATIO, "gini": GINI, "misclassification": MISCLASSIFICATION,
    "code_length": CODE_LENGTH, "squared_error": SQUARED_ERROR,
}
LEAST_GAP = KERNEL_LEAST_GAP
COPIES = FT_COPIES.decode("ascii")  # for which processors there is a copy of the loops; "" if there is but one for all

include "kernels/criterion_tables.pxi"


cdef class Level:
    """The sibling groups of one level: nodes that were split, and their children, adjacent and in branch order.

    The root is the only child of a sibling group that was never split.
    """

    # sibling groups
    cdef const int64_t[::1] start, stop             # the parent's rows in the sorted lists
    cdef const int64_t[::1] first_child             # n_families + 1
    cdef const int64_t[::1] n_filled                # children that training rows reach
    cdef const int32_t[::1] slot                    # the parent's histogram, -1: none kept
    # children
    cdef const int64_t[::1] n_rows
    cdef const int64_t[::1] child_start             # in the sorted lists; only for the frontier
    cdef const int64_t[::1] row_start               # in the row list
    cdef const int32_t[::1] frontier                # place on the frontier, -1: finished
    cdef const int32_t[::1] child_slot              # where to keep the child's histogram; -1: nowhere
    cdef const int64_t[:, ::1] counts
    cdef const int64_t[::1] total
    cdef const int64_t[::1] limit_weight            # weight before the class factors
    cdef const double[::1] loss

    def __init__(
        self, start, stop, first_child, n_filled, slot, n_rows, child_start, row_start, frontier, child_slot, counts,
        total, limit_weight, loss,
    ):
        self.start = start
        self.stop = stop
        self.first_child = first_child
        self.n_filled = n_filled
        self.slot = slot
        self.n_rows = n_rows
        self.child_start = child_start
        self.row_start = row_start
        self.frontier = frontier
        self.child_slot = child_slot
        self.counts = counts
        self.total = total
        self.limit_weight = limit_weight
        self.loss = loss

    cdef NodeStats stats(self, int64_t child) noexcept nogil:
        return NodeStats(&self.counts[child, 0], self.total[child], self.limit_weight[child], self.loss[child])


cdef struct CandidateBuffers:
    # Where the best split of one attribute is written down, by frontier node, `n` of them.
    int64_t n
    const uint8_t* drawn        # is the attribute tried at a node? NULL: at every one
    int64_t drawn_step
    double* score
    Split* split
    double* information         # split information, or the number of values; if it is asked for
    uint8_t* heuristic          # may a better split have been missed?


cdef inline bint is_wanted(const CandidateBuffers* candidates, int64_t i) noexcept nogil:
    return 0 <= i < candidates.n and (candidates.drawn == NULL or candidates.drawn[i * candidates.drawn_step])


@cython.final
cdef class Grower:
    """The arrays of one fit, and the steps that walk them."""

    cdef CriterionTables tables
    cdef RowReader rows
    cdef BranchIds branch_ids
    cdef Instances instances
    cdef bint gather                    # are the class or the weight of an entry to be looked up by its number?
    # presorted attributes: entries sorted by rank, node after node of the frontier
    cdef uint64_t[:, ::1] sorted_entries
    cdef const uint8_t[:, ::1] codes    # binned attributes: code by row
    # where the next level's rows go: the lists themselves unless rows multiply
    cdef uint64_t[:, ::1] next_sorted_entries
    cdef uint64_t[::1] row_list         # for binned attributes: the rows of this level, node after node
    cdef uint64_t[::1] next_row_list
    # What is looked up by an entry's number, by its place in the row list (see `read_rows`); None: nothing is.
    cdef uint64_t[::1] listed_row       # row, and class above it
    cdef int64_t[::1] listed_weight
    cdef const int32_t[::1] list_row    # per attribute: its row of the sorted lists, -1: it is binned
    cdef const int32_t[::1] shape       # per attribute: THRESHOLD ... ORDERED
    cdef const int32_t[::1] n_codes     # per attribute: 1 + largest code
    cdef const uint8_t[::1] has_missing  # per attribute: have some rows a missing value?
    cdef int missing                    # BRANCH, CATEGORY, FRACTIONAL or SURROGATE
    cdef bint sets_aside                # are splits scored by the rows with a known value?
    cdef int64_t[:, ::1] pool           # histograms kept for the children: [slot, cells]
    cdef const int64_t[::1] cell_start  # per binned attribute: where its cells begin in a slot
    cdef const double[::1] values       # by code, of C4.5's numeric attributes with close ones; else None
    cdef const int64_t[::1] value_start     # per attribute: where its values begin, -1: it has none
    cdef double steps_per_unit          # steps of weight that make 1
    cdef object _keep, _keep_targets

    def __init__(
        self, CriterionTables tables, codes, list_row, shape, n_codes, has_missing, int missing, pool, cell_start,
        int rank_shift, double steps_per_unit,
    ):
        self.tables = tables
        self.codes = codes
        self.list_row = list_row
        self.shape = shape
        self.n_codes = n_codes
        self.has_missing = has_missing
        self.missing = missing
        self.sets_aside = missing == FRACTIONAL or missing == SURROGATE
        self.pool = pool
        self.cell_start = cell_start
        self.rows.shift = rank_shift
        self.steps_per_unit = steps_per_unit
        self.values = None

    def set_values(self, const double[::1] values, const int64_t[::1] value_start):
        self.values = values
        self.value_start = value_start

    def set_sorted_entries(self, uint64_t[:, ::1] sorted_entries, uint64_t[:, ::1] next_sorted_entries):
        self.sorted_entries = sorted_entries
        self.next_sorted_entries = next_sorted_entries

    def set_row_lists(self, uint64_t[::1] row_list, uint64_t[::1] next_row_list):
        self.row_list = row_list
        self.next_row_list = next_row_list

    def set_listed(self, uint64_t[::1] listed_row, int64_t[::1] listed_weight):
        self.listed_row = listed_row
        self.listed_weight = listed_weight

    @property
    def looks_up(self):
        """Has an entry of the row list a class, a weight or a row that stands elsewhere?"""
        return self.gather

    def read_rows(self, Py_ssize_t start, Py_ssize_t stop):
        """Look up the entries start..stop of the row list, once for all the binned attributes."""
        cdef Py_ssize_t i
        cdef uint64_t entry
        if not 0 <= start <= stop <= min(self.row_list.shape[0], self.listed_row.shape[0], self.listed_weight.shape[0]):
            raise ValueError(f"rows {start} to {stop} of {self.row_list.shape[0]}")
        with nogil:
            for i in range(start, stop):
                entry = self.row_list[i]
                self.listed_row[i] = <uint64_t>class_of(True, &self.rows, entry) << 32 | row_at(True, &self.rows, entry)
                self.listed_weight[i] = weight_of(True, &self.rows, entry)

    def set_targets(self, const int64_t[::1] targets):
        """Numbers by row, in place of classes."""
        self._keep_targets = targets
        self.rows.target = &targets[0]
        self.gather = True

    def set_instances(
        self, uint32_t[::1] y, int64_t[::1] weight, uint32_t[::1] row_of, uint32_t[::1] first_copy,
        uint8_t[::1] narrow, uint32_t[::1] wide, uint64_t[:, ::1] exact,
    ):
        """By number of instance: class (None: it stands in the entries), weight (None: 1), row (None: the same number),
        the first of the instances that take its shares on the other branches, the branch it takes (bytes, or words
        if there are many branches), and, where rows are distributed fractionally, the weight in two words."""
        self._keep = (y, weight, row_of, first_copy, narrow, wide, exact)
        self.rows.y = &y[0] if y is not None and self.rows.shift == 32 else NULL
        self.rows.weight = &weight[0] if weight is not None else NULL
        self.rows.row_of = &row_of[0] if row_of is not None else NULL
        self.instances.y = &y[0] if y is not None else NULL
        self.instances.weight = &weight[0] if weight is not None else NULL
        self.instances.row_of = &row_of[0] if row_of is not None else NULL
        self.instances.first_copy = &first_copy[0] if first_copy is not None else NULL
        self.instances.exact = <Wide*>&exact[0, 0] if exact is not None else NULL
        self.gather = weight is not None or self.rows.shift == 32 or self.rows.target != NULL
        self.branch_ids.narrow = &narrow[0] if narrow is not None else NULL
        self.branch_ids.wide = &wide[0] if wide is not None else NULL

    def partition_and_search(
        self, Level level, Py_ssize_t group0, Py_ssize_t group1, bint partitions, Py_ssize_t first_node,
        Py_ssize_t a0, Py_ssize_t a1, const uint8_t[:, :] drawn, uint64_t[::1] list_scratch, double[:, ::1] score,
        Split[:, ::1] split, double[:, ::1] information, uint8_t[:, ::1] heuristic,
    ):
        """Partition the rows of the sibling groups `group0..group1` among the children (unless that is done: not
        `partitions`) and find the best split of each attribute at those children that there are buffers for, and where
        it is `drawn`[a, i] (None: everywhere).

        score[a, i], split[a, i]: attribute a at frontier node first_node + i; -inf: none admissible. information[a, i]:
        split information, for C4.5; for code lengths the number of values (0: not more than one; of a multiway
        attribute it means nothing); else None. heuristic[a, i]: may there be a better split by the attribute, or, where
        none was found, one that is admissible? Returns False if memory ran out.
        """
        cdef Py_ssize_t a
        cdef CandidateBuffers candidates
        cdef bint ok = True
        cdef int C = self.tables.criterion.n_classes
        cdef int64_t n_scratch = 4 * C + 2 + self.most_children(level, group0, group1)
        cdef int64_t n_cells = 256 * C
        cdef int64_t* scratch = <int64_t*>malloc(n_scratch * sizeof(int64_t))
        cdef int64_t* histogram = <int64_t*>malloc(n_cells * sizeof(int64_t))
        if scratch == NULL or histogram == NULL:
            free(scratch)
            free(histogram)
            return False
        with nogil:
            for a in range(a0, a1):
                candidates.n = score.shape[1]
                candidates.drawn = NULL
                if candidates.n > 0:       # else rows are moved, and nothing is scored
                    candidates.score = &score[a, 0]
                    candidates.split = &split[a, 0]
                    candidates.information = &information[a, 0] if information is not None else NULL
                    candidates.heuristic = &heuristic[a, 0]
                    if drawn is not None:
                        candidates.drawn = &drawn[a, 0]
                        candidates.drawn_step = drawn.strides[1]
                if self.list_row[a] >= 0:
                    ok &= self.search_presorted(
                        level, group0, group1, partitions, first_node, a, list_scratch, scratch, &candidates)
                else:
                    ok &= self.search_binned(level, group0, group1, first_node, a, scratch, histogram, &candidates)
        free(scratch)
        free(histogram)
        return ok

    cdef int64_t most_children(self, Level level, Py_ssize_t group0, Py_ssize_t group1) noexcept:
        cdef Py_ssize_t g
        cdef int64_t most = 0
        for g in range(group0, group1):
            if level.first_child[g + 1] - level.first_child[g] > most:
                most = level.first_child[g + 1] - level.first_child[g]
        return most

    cdef bint search_presorted(
        self, Level level, Py_ssize_t group0, Py_ssize_t group1, bint partitions, Py_ssize_t first_node,
        int64_t attribute,
        uint64_t[::1] list_scratch, int64_t* scratch, const CandidateBuffers* candidates,
    ) noexcept nogil:
        cdef uint64_t* source = &self.sorted_entries[self.list_row[attribute], 0]
        cdef uint64_t* entries = &self.next_sorted_entries[self.list_row[attribute], 0]
        cdef int64_t g, child, i
        cdef NodeStats stats
        cdef BestSplit best
        cdef bint ok = True
        for g in range(group0, group1):
            child = level.first_child[g]
            if not partitions:
                pass
            elif source == entries:
                partition_list(
                    entries, level.start[g], level.stop[g], &self.branch_ids, level.first_child[g + 1] - child,
                    &level.n_rows[child], &level.child_start[child], &level.frontier[child], &list_scratch[0], scratch)
            else:
                scatter_list(
                    source + level.start[g], level.stop[g] - level.start[g], &self.branch_ids, &self.instances,
                    level.first_child[g + 1] - child, level.n_filled[g], &level.child_start[child],
                    &level.frontier[child], entries, scratch)
            for child in range(child, level.first_child[g + 1]):
                i = level.frontier[child] - first_node
                if is_wanted(candidates, i):
                    stats = level.stats(child)
                    ok &= self.scan_sorted_node(
                        &stats, attribute, entries + level.child_start[child], level.n_rows[child], scratch, &best)
                    self.write_candidate(level, child, &best, i, candidates)
        return ok

    cdef void write_candidate(
        self, Level level, int64_t child, const BestSplit* best, int64_t i, const CandidateBuffers* candidates
    ) noexcept nogil:
        cdef const Criterion* criterion = &self.tables.criterion
        candidates.score[i] = best.score
        candidates.split[i] = best.split
        candidates.heuristic[i] = best.heuristic
        if criterion.kind == CODE_LENGTH:
            candidates.information[i] = <double>best.n_values
        if best.score == -INFINITY:
            return
        candidates.score[i] = final_score(criterion.kind, criterion, best.node_loss, best.score, level.total[child])
        if criterion.records_split:
            candidates.information[i] = best.information / (criterion.steps_per_bit * <double>level.total[child])
            if best.n_cuts > 0:     # what it takes to say which threshold was chosen
                candidates.score[i] -= ft_quick_log2(
                    <double>best.n_cuts) / (<double>level.limit_weight[child] / self.steps_per_unit)
        if criterion.kind == CODE_LENGTH:
            candidates.score[i] -= best.choice_bits

    cdef void count_choices(self, int64_t attribute, int64_t n_known, bint has_missing, BestSplit* best) noexcept nogil:
        """How many values there are to divide, and what it takes to tell one way from the others. (The ways to form
        several groups are counted where their number is known.)"""
        cdef int64_t n = n_known + has_missing
        if n < 2:
            return
        best.n_values = n
        if self.by_threshold(attribute):    # of the missing values one more bit tells the side
            best.choice_bits = ft_quick_log2(<double>(n - 1)) + has_missing
        elif self.shape[attribute] == SUBSET:
            best.choice_bits = <double>(n - 1)
            if n < 60:
                best.choice_bits = ft_quick_log2(<double>((<int64_t>1 << (n - 1)) - 1))

    cdef bint scan_sorted_node(
        self, const NodeStats* node_stats, int64_t attribute, const uint64_t* entries, int64_t n, int64_t* scratch,
        BestSplit* best
    ) noexcept nogil:
        """Best split of a node whose n rows are sorted by rank, those with a missing value first. False: no
        memory."""
        cdef NodeView node
        cdef CategoryStats* stats
        cdef const Criterion* criterion = &self.tables.criterion
        cdef int64_t n_missing = 0
        cdef bint ok = True, joins = self.missing == BRANCH
        self.describe_node(node_stats, attribute, scratch, &node)
        clear_best(&node, best)
        if (entries[0] ^ entries[n - 1]) >> self.rows.shift == 0:   # constant at the node
            return True
        if self.has_missing[attribute]:
            n_missing = self.count_missing(entries, n, scratch + 2 * criterion.n_classes, &node)
        if self.sets_aside and n_missing > 0:
            self.set_missing_aside(&node, scratch + 3 * criterion.n_classes)
            best.node_loss = node.loss
            entries += n_missing
            n -= n_missing
            n_missing = 0
            if n == 0 or (entries[0] ^ entries[n - 1]) >> self.rows.shift == 0:
                return True
        if criterion.kind == CODE_LENGTH and self.shape[attribute] != MULTIWAY:
            self.count_choices(
                attribute, count_runs(entries + n_missing, n - n_missing, self.rows.shift), n_missing > 0, best)
        if node.distributed != NULL and self.by_threshold(attribute):
            sweep_distributed(criterion.kind, criterion, &self.rows, entries, n, &node, scratch, best)
            return True
        if self.by_threshold(attribute):
            self.limit_sides(&node)
            if n_missing > 0 and self.missing == CATEGORY:
                set_apart(criterion.kind, criterion, &node, <int64_t>(entries[n - 1] >> self.rows.shift), scratch, best)
            if n_missing > 0:
                sweep_any(
                    criterion, self.gather, &self.rows, entries + n_missing, n - n_missing, &node, True, scratch, best)
            sweep_any(
                criterion, self.gather, &self.rows, entries + n_missing, n - n_missing, &node, False, scratch, best)
            if criterion.records_split and best.score != -INFINITY:
                weigh_threshold(criterion, &self.rows, entries + n_missing, n - n_missing, &node, best)
            return True
        if (
            self.shape[attribute] == MULTIWAY and n_missing == 0 and node.distributed == NULL
            and criterion.kind != SQUARED_ERROR
        ):
            multiway_of_runs(criterion.kind, criterion, &self.rows, entries, n, &node, scratch, best)
            return True
        stats = new_category_stats(
            count_runs(entries, n, self.rows.shift), criterion.n_classes, self.shape[attribute] != MULTIWAY)
        if stats == NULL:
            return False
        if self.shape[attribute] == MULTIWAY:
            stats_of_runs(stats, criterion, &self.rows, entries + n_missing, n - n_missing)
            scan_multiway(criterion.kind, criterion, stats, &node, joins, scratch, best)
        else:
            stats_of_runs(stats, criterion, &self.rows, entries, n)
            ok = self.scan_sets(attribute, stats, &node, scratch, best, NULL, NULL)
        free_category_stats(stats)
        return ok

    cdef bint by_threshold(self, int64_t attribute) noexcept nogil:
        return self.shape[attribute] == THRESHOLD or self.shape[attribute] == ORDERED

    cdef bint scan_sets(
        self, int64_t attribute, CategoryStats* stats, const NodeView* node, int64_t* scratch, BestSplit* best,
        uint8_t* goes_left,
        int64_t* group_of,
    ) noexcept nogil:
        """The best sets of values: two of them or several. `goes_left` or `group_of`, if not NULL, get the set of each
        bucket."""
        cdef const Criterion* criterion = &self.tables.criterion
        cdef int64_t* groups = group_of
        cdef bint ok
        if self.shape[attribute] == SUBSET:
            return scan_subset(criterion.kind, criterion, stats, node, scratch, best, goes_left)
        if groups == NULL:
            groups = <int64_t*>malloc((stats.n + 1) * sizeof(int64_t))
            if groups == NULL:
                return False
        ok = scan_groups(criterion.kind, criterion.by_ratio, criterion, stats, node, best, groups)
        if group_of == NULL:
            free(groups)
        return ok

    cdef void describe_node(
        self, const NodeStats* stats, int64_t attribute, int64_t* scratch, NodeView* node
    ) noexcept nogil:
        cdef const Criterion* criterion = &self.tables.criterion
        node.counts = stats.counts
        node.total = stats.total
        node.limit_weight = stats.limit_weight
        node.loss = stats.loss
        node.mean = 0.0
        if criterion.kind == SQUARED_ERROR:
            set_mean(node)
        node.split_base = 0.0
        if criterion.kind == GAIN_RATIO or criterion.records_split:
            node.split_base = <double>klogk(criterion, node.total)
        node.missing = scratch + 2 * criterion.n_classes
        node.n_missing = 0
        node.min_branch = criterion.min_leaf
        node.tie_tolerance = tie_tolerance_of(criterion.kind, criterion, node.loss, node.total)
        node.distributed = NULL
        node.values = NULL
        if self.values is not None and self.value_start[attribute] >= 0:
            node.values = &self.values[self.value_start[attribute]]

    cdef void limit_sides(self, NodeView* node) noexcept nogil:
        """C4.5 has its own least size for the sides of a threshold: larger than that of other branches, but in large
        nodes never above `side_most`, even where the others must be larger."""
        cdef const Criterion* criterion = &self.tables.criterion
        cdef double rounding = 1e-9 * self.steps_per_unit
        cdef double share = criterion.side_share * <double>node.limit_weight / <double>criterion.n_classes
        if share - rounding > <double>node.min_branch:
            node.min_branch = <int64_t>ceil((share if share < criterion.side_most else criterion.side_most) - rounding)

    cdef void set_missing_aside(self, NodeView* node, int64_t* known) noexcept nogil:
        """Score only the rows with a known value; the others count as one more outcome in split information."""
        cdef const Criterion* criterion = &self.tables.criterion
        cdef int c
        for c in range(criterion.n_classes):
            known[c] = node.counts[c] - node.missing[c]
        if criterion.kind == GAIN_RATIO or criterion.records_split:
            node.split_base -= <double>klogk(criterion, node.n_missing)
        if criterion.kind == CODE_LENGTH:      # a message tells all the rows, and each branch has a share of them
            node.distributed = node.missing
            node.n_distributed = node.n_missing
        node.counts = known
        node.total -= node.n_missing
        node.limit_weight = limit_weight_of(criterion, known, node.total)
        node.n_missing = 0
        node.loss = side_loss(criterion.kind, criterion, known, node.total)
        if criterion.kind == SQUARED_ERROR and node.total > 0:
            set_mean(node)

    cdef int64_t count_missing(
        self, const uint64_t* entries, int64_t n, int64_t* counts, NodeView* node
    ) noexcept nogil:
        """The rows of rank 0 that a list begins with, and their weight in each class."""
        cdef int64_t i = 0
        memset(counts, 0, self.tables.criterion.n_classes * sizeof(int64_t))
        while i < n and entries[i] >> self.rows.shift == 0:
            add_stats(self.tables.criterion.kind, &self.rows, entries[i], 1, counts)
            node.n_missing += weight_of(True, &self.rows, entries[i])
            i += 1
        return i

    cdef bint search_binned(
        self, Level level, Py_ssize_t group0, Py_ssize_t group1, Py_ssize_t first_node, int64_t attribute,
        int64_t* scratch, int64_t* histogram_scratch, const CandidateBuffers* candidates,
    ) noexcept nogil:
        """Find the best split of a binned attribute at the children, from histograms: the largest child's is what its
        siblings leave of the parent's."""
        cdef const uint8_t* codes = &self.codes[attribute, 0]
        cdef int64_t C = self.tables.criterion.n_classes
        cdef int64_t n_cells = self.n_codes[attribute] * C
        cdef int64_t g, child, heir, i, cell, n
        cdef bint is_scored
        cdef int64_t* histogram
        cdef int64_t* inherited
        cdef uint64_t sorted_rows[SMALL]
        cdef NodeStats node_stats
        cdef BestSplit best
        cdef CategoryStats* stats = NULL
        cdef bint ok = True
        if not self.by_threshold(attribute):
            stats = new_category_stats(256, <int>C, self.shape[attribute] != MULTIWAY)
            if stats == NULL:
                return False
        for g in range(group0, group1):
            heir = -1
            inherited = NULL
            if level.slot[g] >= 0:
                for child in range(level.first_child[g], level.first_child[g + 1]):
                    if level.child_slot[child] == level.slot[g]:
                        heir = child
                        inherited = &self.pool[level.slot[g], self.cell_start[attribute]]
            for child in range(level.first_child[g], level.first_child[g + 1]):
                n = level.n_rows[child]
                i = level.frontier[child] - first_node
                is_scored = is_wanted(candidates, i)
                if child == heir or (not is_scored and heir < 0):
                    continue
                if not is_scored or (level.child_slot[child] < 0 and self.is_small(n, attribute)):
                    if heir >= 0:
                        self.add(-1, level.row_start[child], n, attribute, inherited)
                    if is_scored:
                        code_entries(
                            self.rows.shift, &self.row_list[level.row_start[child]],
                            self.listed_at(level.row_start[child]), n, codes, sorted_rows)
                        node_stats = level.stats(child)
                        ok &= self.scan_sorted_node(&node_stats, attribute, sorted_rows, n, scratch, &best)
                        self.write_candidate(level, child, &best, i, candidates)
                    continue
                histogram = histogram_scratch
                if level.child_slot[child] >= 0:
                    histogram = &self.pool[level.child_slot[child], self.cell_start[attribute]]
                memset(histogram, 0, n_cells * sizeof(int64_t))
                self.add(1, level.row_start[child], n, attribute, histogram)
                if heir >= 0:
                    for cell in range(n_cells):
                        inherited[cell] -= histogram[cell]
                node_stats = level.stats(child)
                ok &= self.scan_histogram(&node_stats, attribute, histogram, stats, scratch, &best)
                self.write_candidate(level, child, &best, i, candidates)
            if heir >= 0:
                i = level.frontier[heir] - first_node
                node_stats = level.stats(heir)
                ok &= self.scan_histogram(&node_stats, attribute, inherited, stats, scratch, &best)
                self.write_candidate(level, heir, &best, i, candidates)
        free_category_stats(stats)
        return ok

    cdef bint is_small(self, int64_t n, int64_t attribute) noexcept nogil:
        return n <= SMALL and n < self.n_codes[attribute]

    cdef const uint64_t* listed_at(self, int64_t start) noexcept nogil:
        """The rows from a place in the row list on."""
        return &self.listed_row[start] if self.gather else &self.row_list[start]

    cdef void add(
        self, int64_t sign, int64_t start, int64_t n, int64_t attribute, int64_t* histogram
    ) noexcept nogil:
        """Add or take away the rows of a node, which stand from `start` on in the row list."""
        cdef const uint8_t* codes = &self.codes[attribute, 0]
        cdef int64_t n_codes = self.n_codes[attribute]
        cdef int n_classes = self.tables.criterion.n_classes
        cdef int64_t i
        if n == 0:
            return
        if self.rows.target != NULL:
            for i in range(start, start + n):
                add_stats(
                    SQUARED_ERROR, &self.rows, self.row_list[i], sign,
                    histogram + 2 * codes[row_at(True, &self.rows, self.row_list[i])])
        elif self.gather:
            add_rows(
                sign, &self.listed_row[start], &self.listed_weight[start], n, codes, n_codes, n_classes, histogram)
        elif n_classes == 2:
            add_rows(sign, &self.row_list[start], NULL, n, codes, n_codes, 2, histogram)
        else:
            add_rows(sign, &self.row_list[start], NULL, n, codes, n_codes, n_classes, histogram)

    cdef bint scan_histogram(
        self, const NodeStats* node_stats, int64_t attribute, const int64_t* histogram, CategoryStats* stats,
        int64_t* scratch, BestSplit* best,
    ) noexcept nogil:
        """Best split of a node by a binned attribute, from its histogram[code, class]. False: no memory."""
        cdef NodeView node
        cdef const Criterion* criterion = &self.tables.criterion
        cdef int n_codes = self.n_codes[attribute], largest, first_code
        self.describe_node(node_stats, attribute, scratch, &node)
        clear_best(&node, best)
        if self.has_missing[attribute]:
            node.missing = histogram
            node.n_missing = weight_of_stats(criterion.kind, criterion, histogram)
        first_code = 0
        if self.sets_aside:
            first_code = 1
            if node.n_missing > 0:
                self.set_missing_aside(&node, scratch + 3 * criterion.n_classes)
                best.node_loss = node.loss
        if criterion.kind == CODE_LENGTH and self.shape[attribute] != MULTIWAY:
            self.count_choices(
                attribute, count_codes(histogram, n_codes, criterion.n_classes), node.n_missing > 0, best)
        if self.by_threshold(attribute):
            self.limit_sides(&node)
            if node.n_missing > 0 and self.missing == CATEGORY:
                largest = n_codes - 1
                set_apart(criterion.kind, criterion, &node, largest, scratch, best)
            if node.n_missing > 0:
                scan_codes(criterion.kind, criterion, histogram, n_codes, &node, True, scratch, best)
            scan_codes(criterion.kind, criterion, histogram, n_codes, &node, False, scratch, best)
            if criterion.records_split and best.score != -INFINITY:
                weigh_code(criterion, histogram, n_codes, &node, best)
            return True
        if self.shape[attribute] == MULTIWAY:
            stats_of_histogram(stats, criterion, histogram, 1, n_codes)
            scan_multiway(criterion.kind, criterion, stats, &node, self.missing == BRANCH, scratch, best)
            return True
        stats_of_histogram(stats, criterion, histogram, first_code, n_codes)
        return self.scan_sets(attribute, stats, &node, scratch, best, NULL, NULL)

    cdef const uint64_t* rows_of(self, Level level, int64_t node, int64_t attribute) noexcept nogil:
        if self.list_row[attribute] >= 0:
            return &self.sorted_entries[self.list_row[attribute], level.child_start[node]]
        return &self.row_list[level.row_start[node]]

    cdef const uint8_t* codes_of(self, int64_t attribute) noexcept nogil:
        """Code by row of a binned attribute; NULL of a presorted one, whose entries carry their codes."""
        if self.list_row[attribute] >= 0:
            return NULL
        return &self.codes[attribute, 0]

    cdef int64_t code_of(self, uint64_t entry, const uint8_t* codes) noexcept nogil:
        return <int64_t>(entry >> self.rows.shift) if codes == NULL else codes[row_at(True, &self.rows, entry)]


cdef inline void set_mean(NodeView* node) noexcept nogil:
    """The mean of the targets, against which sides are judged."""
    node.mean = <double>node.counts[1] / <double>node.total
    node.loss = 0.0


cdef inline void clear_best(const NodeView* node, BestSplit* best) noexcept nogil:
    """No split found yet."""
    best.score = -INFINITY
    best.split = Split(0, 2, 1)
    best.node_loss = node.loss
    best.information = 0.0
    best.n_cuts = 0
    best.n_values = 0
    best.choice_bits = 0.0
    best.heuristic = False


cdef inline int64_t count_codes(const int64_t* histogram, int n_codes, int n_classes) noexcept nogil:
    """The known values that a node has."""
    cdef int64_t n = 0
    cdef int code, c
    for code in range(1, n_codes):
        for c in range(n_classes):
            if histogram[code * n_classes + c] != 0:
                n += 1
                break
    return n


cdef clones_void sweep_any(
    const Criterion* r, bint gather, const RowReader* rows, const uint64_t* entries, int64_t n, const NodeView* node,
    bint missing_left, int64_t* scratch, BestSplit* best,
) noexcept nogil:
    """`sweep` with its first arguments as literals: the compiler writes each criterion its own loop."""
    if r.kind == GINI:
        sweep_shape(GINI, r, gather, rows, entries, n, node, missing_left, scratch, best)
    elif r.kind == ENTROPY:
        sweep_shape(ENTROPY, r, gather, rows, entries, n, node, missing_left, scratch, best)
    elif r.kind == GAIN_RATIO:
        sweep_shape(GAIN_RATIO, r, gather, rows, entries, n, node, missing_left, scratch, best)
    elif r.kind == SQUARED_ERROR:
        sweep(SQUARED_ERROR, True, True, r, rows, entries, n, node, missing_left, scratch, best)
    elif r.kind == CODE_LENGTH:
        sweep_shape(CODE_LENGTH, r, gather, rows, entries, n, node, missing_left, scratch, best)
    else:
        sweep_shape(MISCLASSIFICATION, r, gather, rows, entries, n, node, missing_left, scratch, best)


cdef inline void sweep_shape(
    int kind, const Criterion* r, bint gather, const RowReader* rows, const uint64_t* entries, int64_t n,
    const NodeView* node,
    bint missing_left, int64_t* scratch, BestSplit* best,
) noexcept nogil:
    if r.n_classes == 2:
        if gather:
            sweep(kind, True, True, r, rows, entries, n, node, missing_left, scratch, best)
        else:
            sweep(kind, True, False, r, rows, entries, n, node, missing_left, scratch, best)
    elif gather:
        sweep(kind, False, True, r, rows, entries, n, node, missing_left, scratch, best)
    else:
        sweep(kind, False, False, r, rows, entries, n, node, missing_left, scratch, best)


def class_totals(const uint32_t[::1] y, const int64_t[::1] weight, int64_t[::1] out):
    """out[class] := weight of its rows."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(y.shape[0]):
            out[y[i]] += weight[i] if weight is not None else 1


def target_totals(const int64_t[::1] targets, const int64_t[::1] weight, int64_t[::1] out):
    """out := the weight of all rows, and the weighted sum of their targets."""
    cdef Py_ssize_t i
    cdef int64_t w
    with nogil:
        for i in range(targets.shape[0]):
            w = weight[i] if weight is not None else 1
            out[0] += w
            out[1] += w * targets[i]


def target_ranges(
    Grower grower, Level level, const int64_t[::1] nodes, const int64_t[::1] first_child,
    const int64_t[::1] attribute, int64_t[::1] lowest, int64_t[::1] highest,
):
    """The smallest and the largest target of the children of each split, whose rows know their branches."""
    cdef Py_ssize_t i, j
    cdef const uint64_t* entries
    cdef int64_t child, target
    with nogil:
        for i in range(nodes.shape[0]):
            entries = grower.rows_of(level, nodes[i], attribute[i])
            for j in range(level.n_rows[nodes[i]]):
                child = first_child[i] + branch_of(&grower.branch_ids, entries[j])
                target = grower.rows.target[row_at(True, &grower.rows, entries[j])]
                if target < lowest[child]:
                    lowest[child] = target
                if target > highest[child]:
                    highest[child] = target


def write_rows(const uint32_t[::1] y, const int64_t[::1] weight, int shift, uint64_t[::1] out):
    """The rows of weight above 0 as entries, like those of a sorted list but without a rank."""
    cdef Py_ssize_t i, n = 0
    with nogil:
        for i in range(y.shape[0]):
            if weight is None or weight[i] > 0:
                out[n] = entry_of(0, shift, &y[0], <uint64_t>i)
                n += 1


def keep_entries(const uint64_t[::1] entries, const uint8_t[::1] is_kept, uint64_t[::1] out):
    """The entries of a sorted list whose rows are kept, in order."""
    cdef Py_ssize_t i, n = 0
    with nogil:
        for i in range(entries.shape[0]):
            if is_kept[<uint32_t>entries[i]]:
                out[n] = entries[i]
                n += 1


def choose_attributes(
    const double[:, ::1] adjusted, const int64_t[::1] order, double tie, bint relative, const double[:, ::1] score,
    const Split[:, ::1] split, int64_t[::1] winner, double[::1] best_score, Split[::1] best_split,
):
    """The attribute of most worth at every node; they come in an `order`, and a later one must be better by more than
    `tie`, or, if `relative`, by that share of the larger of both. Its score and split go with it."""
    cdef Py_ssize_t a, i, w, index, n_nodes = adjusted.shape[1]
    cdef double new, old, tie_tolerance
    with nogil:
        for i in range(n_nodes):
            winner[i] = -1
            best_score[i] = -INFINITY
        for index in range(order.shape[0]):
            a = order[index]
            for i in range(n_nodes):
                new = adjusted[a, i]
                if new == -INFINITY:
                    continue
                w = winner[i]
                if w >= 0:
                    old = adjusted[w, i]
                    tie_tolerance = tie
                    if relative:
                        tie_tolerance *= fmax(fabs(new), fabs(old))
                    if new <= old + tie_tolerance:
                        continue
                winner[i] = a
                best_score[i] = score[a, i]
                best_split[i] = split[a, i]


include "kernels/splitting.pxi"
include "kernels/split_log.pxi"
include "kernels/subtrees.pxi"
include "kernels/small_nodes.pxi"
include "kernels/kept_histograms.pxi"
include "kernels/blocks.pxi"
include "kernels/choices.pxi"
include "kernels/surrogates.pxi"
include "kernels/encoding.pxi"
include "kernels/router.pxi"
include "kernels/pruners.pxi"
include "kernels/columns.pxi"
include "kernels/memory.pxi"
include "kernels/numeric.pxi"
include "kernels/node_values.pxi"
include "kernels/linear.pxi"
