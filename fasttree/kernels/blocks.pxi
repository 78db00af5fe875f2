# SPDX-License-Identifier: BSD-3-Clause
# Included by _core.pyx: histograms of rows that are held elsewhere, and splits that are found from them alone.

from libc.stdint cimport int32_t, int64_t, uint32_t, uint8_t

from fasttree.kernels.alloc cimport free, malloc
from fasttree.kernels.categories cimport CategoryStats, free_category_stats, new_category_stats
from fasttree.kernels.search cimport BestSplit, NodeStats, Split


def add_to_histograms(
    const uint8_t[::1] codes, const int32_t[::1] index, const uint32_t[::1] y, const int64_t[::1] weight,
    int64_t[:, :, ::1] histograms,
):
    """histograms[index, code, class] += weight (None: 1) of each row with an index of 0 or more."""
    cdef Py_ssize_t row
    with nogil:
        for row in range(codes.shape[0]):
            if index[row] >= 0:
                histograms[index[row], codes[row], y[row]] += weight[row] if weight is not None else 1


def search_histograms(
    Grower grower, Level level, const int64_t[::1] nodes, const int64_t[::1] index, int64_t attribute,
    const int64_t[:, :, ::1] histograms, double[::1] score, Split[::1] split, double[::1] information,
    uint8_t[::1] heuristic,
):
    """Find the best split of an attribute at the nodes[index[i]] of a level, from histograms[i, code, class]: score,
    split, information and heuristic [index[i]], as `Grower.partition_and_search` writes them. False: no memory."""
    cdef Py_ssize_t i
    cdef CandidateBuffers candidates
    cdef NodeStats node_stats
    cdef BestSplit best
    cdef bint ok = True
    cdef int n_classes = grower.tables.criterion.n_classes
    cdef int64_t* scratch = <int64_t*>malloc((4 * n_classes + 2) * sizeof(int64_t))
    cdef CategoryStats* stats = new_category_stats(256, n_classes, True)
    ok = scratch != NULL and stats != NULL
    with nogil:
        for i in range(index.shape[0] if ok else 0):
            candidates.n = nodes.shape[0]
            candidates.score = &score[0]
            candidates.split = &split[0]
            candidates.information = &information[0] if information is not None else NULL
            candidates.heuristic = &heuristic[0]
            node_stats = level.stats(nodes[index[i]])
            ok &= grower.scan_histogram(&node_stats, attribute, &histograms[i, 0, 0], stats, scratch, &best)
            grower.write_candidate(level, nodes[index[i]], &best, index[i], &candidates)
    free(scratch)
    free_category_stats(stats)
    return ok


def sets_of_histogram(
    Grower grower, Level level, int64_t node, int64_t attribute, const int64_t[:, ::1] histogram,
    uint32_t[::1] table_codes, uint32_t[::1] table_branch, int32_t[::1] missing_branch,
):
    """The sets of the best split of a node by subsets or groups, from a histogram of 256 codes: the branch of each code
    present, in ascending order, and that of missing values. False: no memory."""
    cdef NodeStats node_stats = level.stats(node)
    return search_sets_again(
        grower, &node_stats, NULL, level.n_rows[node], attribute, &histogram[0, 0], table_codes.shape[0],
        &table_codes[0], &table_branch[0], &missing_branch[0])


def sides_of_ordered(const int64_t[::1] neighbours, uint32_t[::1] table_codes, uint32_t[::1] table_branch):
    """The branch of every category of an ordered attribute, from the largest present below a cut and the smallest
    above it."""
    fill_ordered(table_codes.shape[0], &neighbours[0], 0, &table_codes[0], &table_branch[0])
