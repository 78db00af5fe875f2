# SPDX-License-Identifier: BSD-3-Clause
# cython: language_level=3
"""The Cython core: histograms, sweeps, partition, routing.

Typed contiguous views in and out, no policy. The bodies stand in the .pxd files beside it;
this file owns the arrays of one fit (`Growth`) and looks for splits level by level. What splits are measured with, what
is done with those that were accepted, columns, encoding, routing, surrogates, pruning, and numerical functions stand in
the .pxi files that it includes.
"""

cimport cython
from libc.math cimport ceil, fabs, fmax
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t, uint8_t
from libc.string cimport memset

from fasttree.kernels.alloc cimport free, malloc
from fasttree.kernels.categories cimport (
    Buckets, buckets_of_histogram, buckets_of_runs, count_runs, free_buckets, multiway_of_runs, new_buckets,
    scan_multiway,
)
from fasttree.kernels.criteria cimport (
    CODE_LENGTH, ENTROPY, GAIN_RATIO, GINI, INFINITY, MISCLASSIFICATION, Ruler, final_score, ft_quick_log2, klogk,
    side_cost, size_of, tolerance,
)
from fasttree.kernels.keys cimport entry_of
from fasttree.kernels.groups cimport scan_groups
from fasttree.kernels.partition cimport Instances, Sides, add_rows, code_entries, deal_list, split_list
from fasttree.kernels.thresholds cimport scan_codes, set_apart, sweep, sweep_shared, weigh_code, weigh_threshold
from fasttree.kernels.search cimport Best, Node, Rows, class_of, row_at, weight_of
from fasttree.kernels.subsets cimport scan_subset
from fasttree.kernels.wide cimport Wide

cdef extern from "kernels/isa.h":
    ctypedef void clones_void "FT_CLONES void"
    const char *FT_COPIES

# How the values of an attribute become branches.
cdef enum:
    THRESHOLD = 0
    SUBSET = 1
    MULTIWAY = 2
    GROUPED = 3
    ORDERED = 4                 # categories by threshold

# Where rows go that do not know the attribute.
cdef enum:
    BRANCH = 0                  # to the side where they help most; by themselves only if nothing else is as good
    CATEGORY = 1                # by themselves if nothing else is better
    FRACTIONAL = 2              # to every branch, with a share of their weight; scores are those of the others
    SURROGATE = 3               # where another attribute says; scores are those of the others

cdef enum:
    SMALL = 32                  # up to so many rows a counted attribute is sorted instead of tabulated

SMALL_NODE = SMALL
COPIES = FT_COPIES.decode("ascii")  # for which processors there is a copy of the loops; "" if there is but one for all

include "kernels/criterion_tables.pxi"


cdef class Level:
    """The families of one level: nodes that were split, and their children, adjacent and in branch order.

    The root is the only child of a family that was never split.
    """

    # families
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
    cdef const int64_t[::1] size                    # weight before the class factors
    cdef const double[::1] cost

    def __init__(
        self, start, stop, first_child, n_filled, slot, n_rows, child_start, row_start, frontier, child_slot, counts,
        total, size, cost,
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
        self.size = size
        self.cost = cost


cdef struct Records:
    # Where the best split of one attribute is written down, by frontier node, `n` of them.
    int64_t n
    double* score
    int64_t* cut
    double* split               # split information, or the number of values; if it is asked for
    uint8_t* heuristic          # may a better split have been missed?


@cython.final
cdef class Growth:
    """The arrays of one fit, and the steps that walk them."""

    cdef Measure measure
    cdef Rows rows
    cdef Sides sides
    cdef Instances instances
    cdef bint gather                    # are the class or the weight of an entry to be looked up by its number?
    cdef uint64_t[:, ::1] lists         # swept attributes: entries sorted by rank, node after node of the frontier
    cdef const uint8_t[:, ::1] codes    # counted attributes: code by row
    cdef uint64_t[:, ::1] next_lists    # where the next level's rows go: the lists themselves unless rows multiply
    cdef uint64_t[::1] row_list         # for counted attributes: the rows of this level, node after node
    cdef uint64_t[::1] next_row_list
    cdef const int32_t[::1] storage     # per attribute: s >= 0 is lists[s], s < 0 is codes[-1 - s]
    cdef const int32_t[::1] shape       # per attribute: THRESHOLD ... ORDERED
    cdef const int32_t[::1] n_codes     # per attribute: 1 + largest code
    cdef const uint8_t[::1] has_missing     # per attribute: do some rows not know it?
    cdef int missing                    # BRANCH, CATEGORY, FRACTIONAL or SURROGATE
    cdef bint sets_aside                # are splits scored by the rows that know the attribute?
    cdef int64_t[:, ::1] pool           # histograms kept for the children: [slot, cells]
    cdef const int64_t[::1] cell_start  # per counted attribute: where its cells begin in a slot
    cdef const double[::1] values       # by code, of C4.5's numeric attributes with close ones; else None
    cdef const int64_t[::1] value_start     # per attribute: where its values begin, -1: it has none
    cdef double per_unit                # steps of weight that make 1
    cdef object _keep

    def __init__(
        self, Measure measure, codes, storage, shape, n_codes, has_missing, int missing, pool, cell_start,
        int rank_shift, double per_unit,
    ):
        self.measure = measure
        self.codes = codes
        self.storage = storage
        self.shape = shape
        self.n_codes = n_codes
        self.has_missing = has_missing
        self.missing = missing
        self.sets_aside = missing == FRACTIONAL or missing == SURROGATE
        self.pool = pool
        self.cell_start = cell_start
        self.rows.shift = rank_shift
        self.per_unit = per_unit
        self.values = None

    def set_values(self, const double[::1] values, const int64_t[::1] value_start):
        self.values = values
        self.value_start = value_start

    def set_lists(self, uint64_t[:, ::1] lists, uint64_t[:, ::1] next_lists):
        self.lists = lists
        self.next_lists = next_lists

    def set_row_lists(self, uint64_t[::1] row_list, uint64_t[::1] next_row_list):
        self.row_list = row_list
        self.next_row_list = next_row_list

    def set_instances(
        self, uint32_t[::1] y, int64_t[::1] weight, uint32_t[::1] row_of, uint32_t[::1] first_copy,
        uint8_t[::1] narrow, uint32_t[::1] wide, uint64_t[:, ::1] exact,
    ):
        """By number of instance: class (None: it stands in the entries), weight (None: 1), row (None: the same number),
        the first of the instances that take its shares on the other branches, the branch it takes (bytes, or words
        if there are many branches), and, where rows are shared out, the weight in two words."""
        self._keep = (y, weight, row_of, first_copy, narrow, wide, exact)
        self.rows.y = &y[0] if y is not None and self.rows.shift == 32 else NULL
        self.rows.weight = &weight[0] if weight is not None else NULL
        self.rows.row_of = &row_of[0] if row_of is not None else NULL
        self.instances.y = &y[0] if y is not None else NULL
        self.instances.weight = &weight[0] if weight is not None else NULL
        self.instances.row_of = &row_of[0] if row_of is not None else NULL
        self.instances.first_copy = &first_copy[0] if first_copy is not None else NULL
        self.instances.exact = <Wide*>&exact[0, 0] if exact is not None else NULL
        self.gather = weight is not None or self.rows.shift == 32
        self.sides.narrow = &narrow[0] if narrow is not None else NULL
        self.sides.wide = &wide[0] if wide is not None else NULL

    def advance(
        self, Level level, Py_ssize_t family0, Py_ssize_t family1, bint moves, Py_ssize_t first_node,
        Py_ssize_t a0, Py_ssize_t a1, uint64_t[::1] spare, double[:, ::1] score, int64_t[:, ::1] cut,
        double[:, ::1] split, uint8_t[:, ::1] heuristic,
    ):
        """Hand the rows of `family0..family1` on to the children (unless they have them: not `moves`) and find the best
        split of each attribute at those children that there are places for.

        score[a, i], cut[a, i]: attribute a at frontier node first_node + i; -inf: none admissible. split[a, i]: split
        information, for C4.5; for code lengths the number of values (0: not more than one; of a multiway attribute it
        means nothing); else None. heuristic[a, i]: may there be a better split by the attribute, or, where none was
        found, one that is admissible? Returns False if memory ran out.
        """
        cdef Py_ssize_t a
        cdef Records records
        cdef bint fine = True
        cdef int C = self.measure.ruler.n_classes
        cdef int64_t n_work = 4 * C + 2 + self.most_children(level, family0, family1)
        cdef int64_t n_cells = 256 * C
        cdef int64_t* work = <int64_t*>malloc(n_work * sizeof(int64_t))
        cdef int64_t* histogram = <int64_t*>malloc(n_cells * sizeof(int64_t))
        if work == NULL or histogram == NULL:
            free(work)
            free(histogram)
            return False
        with nogil:
            for a in range(a0, a1):
                records.n = score.shape[1]
                if records.n > 0:       # else rows are moved, and nothing is scored
                    records.score = &score[a, 0]
                    records.cut = &cut[a, 0]
                    records.split = &split[a, 0] if split is not None else NULL
                    records.heuristic = &heuristic[a, 0]
                if self.storage[a] >= 0:
                    fine &= self.advance_swept(level, family0, family1, moves, first_node, a, spare, work, &records)
                else:
                    fine &= self.advance_counted(level, family0, family1, first_node, a, work, histogram, &records)
        free(work)
        free(histogram)
        return fine

    cdef int64_t most_children(self, Level level, Py_ssize_t family0, Py_ssize_t family1) noexcept:
        cdef Py_ssize_t f
        cdef int64_t most = 0
        for f in range(family0, family1):
            if level.first_child[f + 1] - level.first_child[f] > most:
                most = level.first_child[f + 1] - level.first_child[f]
        return most

    cdef bint advance_swept(
        self, Level level, Py_ssize_t family0, Py_ssize_t family1, bint moves, Py_ssize_t first_node, int64_t attribute,
        uint64_t[::1] spare, int64_t* work, const Records* records,
    ) noexcept nogil:
        cdef uint64_t* source = &self.lists[self.storage[attribute], 0]
        cdef uint64_t* entries = &self.next_lists[self.storage[attribute], 0]
        cdef int64_t f, child, i
        cdef Best best
        cdef bint fine = True
        for f in range(family0, family1):
            child = level.first_child[f]
            if not moves:
                pass
            elif source == entries:
                split_list(
                    entries, level.start[f], level.stop[f], &self.sides, level.first_child[f + 1] - child,
                    &level.n_rows[child], &level.child_start[child], &level.frontier[child], &spare[0], work)
            else:
                deal_list(
                    source + level.start[f], level.stop[f] - level.start[f], &self.sides, &self.instances,
                    level.first_child[f + 1] - child, level.n_filled[f], &level.child_start[child],
                    &level.frontier[child], entries, work)
            for child in range(child, level.first_child[f + 1]):
                i = level.frontier[child] - first_node
                if 0 <= i < records.n:
                    fine &= self.scan_list(
                        level, child, attribute, entries + level.child_start[child], work, &best)
                    self.record(level, child, &best, i, records)
        return fine

    cdef void record(
        self, Level level, int64_t child, const Best* best, int64_t i, const Records* records
    ) noexcept nogil:
        cdef const Ruler* ruler = &self.measure.ruler
        records.score[i] = best.score
        records.cut[i] = best.cut
        records.heuristic[i] = best.heuristic
        if ruler.criterion == CODE_LENGTH:
            records.split[i] = <double>best.n_values
        if best.score == -INFINITY:
            return
        records.score[i] = final_score(ruler.criterion, ruler, best.node_cost, best.score, level.total[child])
        if ruler.records_split:
            records.split[i] = best.split / (ruler.fine * <double>level.total[child])
            if best.n_cuts > 0:     # what it takes to say which threshold was chosen
                records.score[i] -= ft_quick_log2(<double>best.n_cuts) / (<double>level.size[child] / self.per_unit)
        if ruler.criterion == CODE_LENGTH:
            records.score[i] -= best.told

    cdef void count_choices(self, int64_t attribute, int64_t n_known, bint has_missing, Best* best) noexcept nogil:
        """How many values there are to divide, and what it takes to tell one way from the others. (The ways to form
        several groups are counted where their number is known.)"""
        cdef int64_t n = n_known + has_missing
        if n < 2:
            return
        best.n_values = n
        if self.by_threshold(attribute):    # of the missing values one more bit tells the side
            best.told = ft_quick_log2(<double>(n - 1)) + has_missing
        elif self.shape[attribute] == SUBSET:
            best.told = <double>(n - 1)
            if n < 60:
                best.told = ft_quick_log2(<double>((<int64_t>1 << (n - 1)) - 1))

    cdef bint scan_list(
        self, Level level, int64_t child, int64_t attribute, const uint64_t* entries, int64_t* work, Best* best
    ) noexcept nogil:
        """Best split of a node whose rows are sorted by rank, those that do not know the attribute first. False: no
        memory."""
        cdef Node node
        cdef Buckets* buckets
        cdef const Ruler* ruler = &self.measure.ruler
        cdef int64_t n = level.n_rows[child]
        cdef int64_t n_missing = 0
        cdef bint fine = True, joins = self.missing == BRANCH
        self.describe_node(level, child, attribute, work, &node)
        clear(&node, best)
        if (entries[0] ^ entries[n - 1]) >> self.rows.shift == 0:   # constant at the node
            return True
        if self.has_missing[attribute]:
            n_missing = self.count_missing(entries, n, work + 2 * ruler.n_classes, &node)
        if self.sets_aside and n_missing > 0:
            self.set_missing_aside(&node, work + 3 * ruler.n_classes)
            best.node_cost = node.cost
            entries += n_missing
            n -= n_missing
            n_missing = 0
            if n == 0 or (entries[0] ^ entries[n - 1]) >> self.rows.shift == 0:
                return True
        if ruler.criterion == CODE_LENGTH and self.shape[attribute] != MULTIWAY:
            self.count_choices(
                attribute, count_runs(entries + n_missing, n - n_missing, self.rows.shift), n_missing > 0, best)
        if node.shared != NULL and self.by_threshold(attribute):
            sweep_shared(ruler.criterion, ruler, &self.rows, entries, n, &node, work, best)
            return True
        if self.by_threshold(attribute):
            self.limit_sides(&node)
            if n_missing > 0 and self.missing == CATEGORY:
                set_apart(ruler.criterion, ruler, &node, <int64_t>(entries[n - 1] >> self.rows.shift), work, best)
            if n_missing > 0:
                sweep_any(
                    ruler, self.gather, &self.rows, entries + n_missing, n - n_missing, &node, True, work, best)
            sweep_any(ruler, self.gather, &self.rows, entries + n_missing, n - n_missing, &node, False, work, best)
            if ruler.records_split and best.score != -INFINITY:
                weigh_threshold(ruler, &self.rows, entries + n_missing, n - n_missing, &node, best)
            return True
        if self.shape[attribute] == MULTIWAY and n_missing == 0 and node.shared == NULL:
            multiway_of_runs(ruler.criterion, ruler, &self.rows, entries, n, &node, work, best)
            return True
        buckets = new_buckets(
            count_runs(entries, n, self.rows.shift), ruler.n_classes, self.shape[attribute] != MULTIWAY)
        if buckets == NULL:
            return False
        if self.shape[attribute] == MULTIWAY:
            buckets_of_runs(buckets, &self.rows, entries + n_missing, n - n_missing, ruler.n_classes)
            scan_multiway(ruler.criterion, ruler, buckets, &node, joins, work, best)
        else:
            buckets_of_runs(buckets, &self.rows, entries, n, ruler.n_classes)
            fine = self.scan_sets(attribute, buckets, &node, work, best, NULL, NULL)
        free_buckets(buckets)
        return fine

    cdef bint by_threshold(self, int64_t attribute) noexcept nogil:
        return self.shape[attribute] == THRESHOLD or self.shape[attribute] == ORDERED

    cdef bint scan_sets(
        self, int64_t attribute, Buckets* buckets, const Node* node, int64_t* work, Best* best, uint8_t* goes_left,
        int64_t* group_of,
    ) noexcept nogil:
        """The best sets of values: two of them or several. `goes_left` or `group_of`, if not NULL, get the set of each
        bucket."""
        cdef const Ruler* ruler = &self.measure.ruler
        cdef int64_t* groups = group_of
        cdef bint fine
        if self.shape[attribute] == SUBSET:
            return scan_subset(ruler.criterion, ruler, buckets, node, work, best, goes_left)
        if groups == NULL:
            groups = <int64_t*>malloc((buckets.n + 1) * sizeof(int64_t))
            if groups == NULL:
                return False
        fine = scan_groups(ruler.criterion, ruler.by_ratio, ruler, buckets, node, best, groups)
        if group_of == NULL:
            free(groups)
        return fine

    cdef void describe_node(
        self, Level level, int64_t child, int64_t attribute, int64_t* work, Node* node
    ) noexcept nogil:
        cdef const Ruler* ruler = &self.measure.ruler
        node.counts = &level.counts[child, 0]
        node.total = level.total[child]
        node.size = level.size[child]
        node.cost = level.cost[child]
        node.split_base = 0.0
        if ruler.criterion == GAIN_RATIO or ruler.records_split:
            node.split_base = <double>klogk(ruler, node.total)
        node.missing = work + 2 * ruler.n_classes
        node.n_missing = 0
        node.lightest = ruler.min_leaf
        node.margin = tolerance(ruler.criterion, ruler, node.cost, node.total)
        node.shared = NULL
        node.values = NULL
        if self.values is not None and self.value_start[attribute] >= 0:
            node.values = &self.values[self.value_start[attribute]]

    cdef void limit_sides(self, Node* node) noexcept nogil:
        """C4.5 has its own least size for the sides of a threshold: larger than that of other branches, but in large
        nodes never above `side_most`, even where the others must be larger."""
        cdef const Ruler* ruler = &self.measure.ruler
        cdef double rounding = 1e-9 * self.per_unit
        cdef double share = ruler.side_share * <double>node.size / <double>ruler.n_classes
        if share - rounding > <double>node.lightest:
            node.lightest = <int64_t>ceil((share if share < ruler.side_most else ruler.side_most) - rounding)

    cdef void set_missing_aside(self, Node* node, int64_t* known) noexcept nogil:
        """Score only the rows that know the attribute; the others count as one more outcome in split information."""
        cdef const Ruler* ruler = &self.measure.ruler
        cdef int c
        for c in range(ruler.n_classes):
            known[c] = node.counts[c] - node.missing[c]
        if ruler.criterion == GAIN_RATIO or ruler.records_split:
            node.split_base -= <double>klogk(ruler, node.n_missing)
        if ruler.criterion == CODE_LENGTH:      # a message tells all the rows, and each branch has a share of them
            node.shared = node.missing
            node.n_shared = node.n_missing
        node.counts = known
        node.total -= node.n_missing
        node.size = size_of(ruler, known, node.total)
        node.n_missing = 0
        node.cost = side_cost(ruler.criterion, ruler, known, node.total)

    cdef int64_t count_missing(self, const uint64_t* entries, int64_t n, int64_t* counts, Node* node) noexcept nogil:
        """The rows of rank 0 that a list begins with, and their weight in each class."""
        cdef int64_t i = 0, w
        memset(counts, 0, self.measure.ruler.n_classes * sizeof(int64_t))
        while i < n and entries[i] >> self.rows.shift == 0:
            w = weight_of(True, &self.rows, entries[i])
            counts[class_of(True, &self.rows, entries[i])] += w
            node.n_missing += w
            i += 1
        return i

    cdef bint advance_counted(
        self, Level level, Py_ssize_t family0, Py_ssize_t family1, Py_ssize_t first_node, int64_t attribute,
        int64_t* work, int64_t* spare_cells, const Records* records,
    ) noexcept nogil:
        """The same from histograms: the largest child's is what its siblings leave of the parent's."""
        cdef int64_t k = -1 - self.storage[attribute]
        cdef const uint8_t* codes = &self.codes[k, 0]
        cdef const uint64_t* entries = &self.row_list[0]
        cdef int64_t C = self.measure.ruler.n_classes
        cdef int64_t n_cells = self.n_codes[attribute] * C
        cdef int64_t f, child, heir, i, cell, n
        cdef bint is_scored
        cdef int64_t* histogram
        cdef int64_t* inherited
        cdef uint64_t sorted_rows[SMALL]
        cdef Best best
        cdef Buckets* buckets = NULL
        cdef bint fine = True
        if not self.by_threshold(attribute):
            buckets = new_buckets(256, <int>C, self.shape[attribute] != MULTIWAY)
            if buckets == NULL:
                return False
        for f in range(family0, family1):
            heir = -1
            inherited = NULL
            if level.slot[f] >= 0:
                for child in range(level.first_child[f], level.first_child[f + 1]):
                    if level.child_slot[child] == level.slot[f]:
                        heir = child
                        inherited = &self.pool[level.slot[f], self.cell_start[k]]
            for child in range(level.first_child[f], level.first_child[f + 1]):
                n = level.n_rows[child]
                i = level.frontier[child] - first_node
                is_scored = 0 <= i < records.n
                if child == heir or (not is_scored and heir < 0):
                    continue
                if not is_scored or (level.child_slot[child] < 0 and self.is_small(n, attribute)):
                    if heir >= 0:
                        self.add(-1, entries + level.row_start[child], n, codes, inherited)
                    if is_scored:
                        code_entries(&self.rows, entries + level.row_start[child], n, codes, sorted_rows)
                        fine &= self.scan_list(level, child, attribute, sorted_rows, work, &best)
                        self.record(level, child, &best, i, records)
                    continue
                histogram = spare_cells
                if level.child_slot[child] >= 0:
                    histogram = &self.pool[level.child_slot[child], self.cell_start[k]]
                memset(histogram, 0, n_cells * sizeof(int64_t))
                self.add(1, entries + level.row_start[child], n, codes, histogram)
                if heir >= 0:
                    for cell in range(n_cells):
                        inherited[cell] -= histogram[cell]
                fine &= self.scan_cells(level, child, attribute, histogram, buckets, work, &best)
                self.record(level, child, &best, i, records)
            if heir >= 0:
                i = level.frontier[heir] - first_node
                fine &= self.scan_cells(level, heir, attribute, inherited, buckets, work, &best)
                self.record(level, heir, &best, i, records)
        free_buckets(buckets)
        return fine

    cdef bint is_small(self, int64_t n, int64_t attribute) noexcept nogil:
        return n <= SMALL and n < self.n_codes[attribute]

    cdef void add(
        self, int64_t sign, const uint64_t* entries, int64_t n, const uint8_t* codes, int64_t* histogram
    ) noexcept nogil:
        if self.gather:
            add_rows(True, sign, &self.rows, entries, n, codes, self.measure.ruler.n_classes, histogram)
        elif self.measure.ruler.n_classes == 2:
            add_rows(False, sign, &self.rows, entries, n, codes, 2, histogram)
        else:
            add_rows(False, sign, &self.rows, entries, n, codes, self.measure.ruler.n_classes, histogram)

    cdef bint scan_cells(
        self, Level level, int64_t child, int64_t attribute, const int64_t* histogram, Buckets* buckets, int64_t* work,
        Best* best,
    ) noexcept nogil:
        cdef Node node
        cdef const Ruler* ruler = &self.measure.ruler
        cdef int n_codes = self.n_codes[attribute], largest, first_code
        cdef int c
        self.describe_node(level, child, attribute, work, &node)
        clear(&node, best)
        if self.has_missing[attribute]:
            node.missing = histogram
            for c in range(ruler.n_classes):
                node.n_missing += histogram[c]
        first_code = 0
        if self.sets_aside:
            first_code = 1
            if node.n_missing > 0:
                self.set_missing_aside(&node, work + 3 * ruler.n_classes)
                best.node_cost = node.cost
        if ruler.criterion == CODE_LENGTH and self.shape[attribute] != MULTIWAY:
            self.count_choices(
                attribute, count_codes(histogram, n_codes, ruler.n_classes), node.n_missing > 0, best)
        if self.by_threshold(attribute):
            self.limit_sides(&node)
            if node.n_missing > 0 and self.missing == CATEGORY:
                largest = n_codes - 1
                set_apart(ruler.criterion, ruler, &node, largest, work, best)
            if node.n_missing > 0:
                scan_codes(ruler.criterion, ruler, histogram, n_codes, &node, True, work, best)
            scan_codes(ruler.criterion, ruler, histogram, n_codes, &node, False, work, best)
            if ruler.records_split and best.score != -INFINITY:
                weigh_code(ruler, histogram, n_codes, &node, best)
            return True
        if self.shape[attribute] == MULTIWAY:
            buckets_of_histogram(buckets, histogram, 1, n_codes, ruler.n_classes)
            scan_multiway(ruler.criterion, ruler, buckets, &node, self.missing == BRANCH, work, best)
            return True
        buckets_of_histogram(buckets, histogram, first_code, n_codes, ruler.n_classes)
        return self.scan_sets(attribute, buckets, &node, work, best, NULL, NULL)

    cdef const uint64_t* rows_of(self, Level level, int64_t node, int64_t attribute) noexcept nogil:
        if self.storage[attribute] >= 0:
            return &self.lists[self.storage[attribute], level.child_start[node]]
        return &self.row_list[level.row_start[node]]

    cdef const uint8_t* codes_of(self, int64_t attribute) noexcept nogil:
        """Code by row of a counted attribute; NULL of a swept one, whose entries carry their codes."""
        if self.storage[attribute] >= 0:
            return NULL
        return &self.codes[-1 - self.storage[attribute], 0]

    cdef int64_t code_of(self, uint64_t entry, const uint8_t* codes) noexcept nogil:
        return <int64_t>(entry >> self.rows.shift) if codes == NULL else codes[row_at(True, &self.rows, entry)]


cdef inline void clear(const Node* node, Best* best) noexcept nogil:
    """No split found yet."""
    best.score = -INFINITY
    best.cut = 0
    best.node_cost = node.cost
    best.split = 0.0
    best.n_cuts = 0
    best.n_values = 0
    best.told = 0.0
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
    const Ruler* r, bint gather, const Rows* rows, const uint64_t* entries, int64_t n, const Node* node,
    bint missing_left, int64_t* work, Best* best,
) noexcept nogil:
    """`sweep` with its first arguments as literals: the compiler writes each criterion its own loop."""
    if r.criterion == GINI:
        sweep_shape(GINI, r, gather, rows, entries, n, node, missing_left, work, best)
    elif r.criterion == ENTROPY:
        sweep_shape(ENTROPY, r, gather, rows, entries, n, node, missing_left, work, best)
    elif r.criterion == GAIN_RATIO:
        sweep_shape(GAIN_RATIO, r, gather, rows, entries, n, node, missing_left, work, best)
    elif r.criterion == CODE_LENGTH:
        sweep_shape(CODE_LENGTH, r, gather, rows, entries, n, node, missing_left, work, best)
    else:
        sweep_shape(MISCLASSIFICATION, r, gather, rows, entries, n, node, missing_left, work, best)


cdef inline void sweep_shape(
    int criterion, const Ruler* r, bint gather, const Rows* rows, const uint64_t* entries, int64_t n, const Node* node,
    bint missing_left, int64_t* work, Best* best,
) noexcept nogil:
    if r.n_classes == 2:
        if gather:
            sweep(criterion, True, True, r, rows, entries, n, node, missing_left, work, best)
        else:
            sweep(criterion, True, False, r, rows, entries, n, node, missing_left, work, best)
    elif gather:
        sweep(criterion, False, True, r, rows, entries, n, node, missing_left, work, best)
    else:
        sweep(criterion, False, False, r, rows, entries, n, node, missing_left, work, best)


def class_totals(const uint32_t[::1] y, const int64_t[::1] weight, int64_t[::1] out):
    """out[class] := weight of its rows."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(y.shape[0]):
            out[y[i]] += weight[i] if weight is not None else 1


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
    const double[:, ::1] worth, const int64_t[::1] order, double tie, bint relative, const double[:, ::1] score,
    const int64_t[:, ::1] cut, int64_t[::1] winner, double[::1] best_score, int64_t[::1] best_cut,
):
    """The attribute of most worth at every node; they come in an `order`, and a later one must be better by more than
    `tie`, or, if `relative`, by that share of the larger of both. Its score and cut go with it."""
    cdef Py_ssize_t a, i, w, place, n_nodes = worth.shape[1]
    cdef double new, old, margin
    with nogil:
        for i in range(n_nodes):
            winner[i] = -1
            best_score[i] = -INFINITY
            best_cut[i] = 0
        for place in range(order.shape[0]):
            a = order[place]
            for i in range(n_nodes):
                new = worth[a, i]
                if new == -INFINITY:
                    continue
                w = winner[i]
                if w >= 0:
                    old = worth[w, i]
                    margin = tie
                    if relative:
                        margin *= fmax(fabs(new), fabs(old))
                    if new <= old + margin:
                        continue
                winner[i] = a
                best_score[i] = score[a, i]
                best_cut[i] = cut[a, i]


include "kernels/splitting.pxi"
include "kernels/choices.pxi"
include "kernels/surrogates.pxi"
include "kernels/encoding.pxi"
include "kernels/router.pxi"
include "kernels/pruners.pxi"
include "kernels/columns.pxi"
include "kernels/memory.pxi"
include "kernels/numeric.pxi"
include "kernels/linear.pxi"
