# SPDX-License-Identifier: BSD-3-Clause
"""Error-based pruning with subtree raising: a node may also be replaced by its heaviest child, and its rows go down
there again. The tree meanwhile is one of slots, see raising_slots.pxd; how rows go down it stands in
raising_rows.pxd.
"""

from libc.stdint cimport int32_t, int64_t

from fasttree.kernels.alloc cimport calloc
from fasttree.kernels.keys cimport real
from fasttree.kernels.raising_rows cimport clear_scratch, flow, gather, go_down, touch, walk
from fasttree.kernels.raising_slots cimport (
    NO_MEMORY, SHARED_OUT, Raising, Slots, close_slots, errors_of, heaviest_child, note_step, open_slot, put_row,
    put_work, reserve_slots, widen,
)

cdef enum:
    CUT = 0                     # what was done at a node
    RAISED = 1
    UNDO = -1

cdef extern from *:
    const double ESTIMATE_TOLERANCE "0.1"  # an estimate that is larger by no more is as good


# ---- what a raised child would cost ---------------------------------------------------------------------------------

cdef inline int try_raise(Raising* r, int32_t slot, int32_t child, double* errors, const real* table) noexcept nogil:
    """errors := the expected errors of `child` with all the rows of `slot`. Nothing changes. Returns 0 or NO_MEMORY."""
    cdef Slots* at = &r.at
    cdef int64_t n_slots = at.n, i
    cdef int stopped = SHARED_OUT
    cdef int32_t leaf
    if not at.shares[slot]:         # those of the child stay where they are, so only the others are sent
        if not gather(r, slot, child, child):
            return NO_MEMORY
        stopped = walk(r, False, table)
        errors[0] = at.estimate[child]
        for i in range(at.n_list):
            leaf = at.list[i]
            errors[0] += errors_of(r, &at.counts[leaf * r.n_classes], &at.fresh[leaf * r.n_classes])
            errors[0] -= errors_of(r, &at.counts[leaf * r.n_classes], NULL)
    if stopped == SHARED_OUT:
        close_slots(r, n_slots)
        if not gather(r, slot, child, -1) or not flow(r, False, table):
            return NO_MEMORY
        stopped = 0
        errors[0] = 0.0
        for i in range(at.n_list):
            leaf = at.list[i]
            if at.is_leaf[leaf]:
                errors[0] += errors_of(r, &at.fresh[leaf * r.n_classes], NULL)
    clear_scratch(r)
    close_slots(r, n_slots)
    return stopped


# ---- the rows of a subtree laid out anew ----------------------------------------------------------------------------

cdef inline int64_t list_below(Raising* r, int32_t root) noexcept nogil:
    """queue := `root` and the slots below it, breadth-first, and above := their parents; their stretches become empty.
    Returns how many, -1 without memory."""
    cdef Slots* at = &r.at
    cdef int64_t n = 1, next = 0
    cdef int32_t slot, child, i
    if r.queue_capacity < at.n:
        if not widen(<void**>&r.queue, at.n * 4) or not widen(<void**>&r.above, at.n * 4):
            return -1
        r.queue_capacity = at.n
    r.queue[0], r.above[0] = root, -1
    while next < n:
        slot = r.queue[next]
        next += 1
        at.start[slot] = at.stop[slot] = 0
        if at.is_leaf[slot]:
            continue
        for i in range(r.n_children[at.test[slot]]):
            r.queue[n], r.above[n] = r.first_child[at.test[slot]] + i, slot
            n += 1
        child = at.first_added[slot]
        while child >= 0:
            r.queue[n], r.above[n] = child, slot
            n += 1
            child = at.next_added[child]
    return n


cdef inline void take_counts(Raising* r, int64_t n) noexcept nogil:
    """The counts of the slots in `queue` but the first, from the leaves upwards."""
    cdef Slots* at = &r.at
    cdef int64_t i
    cdef int32_t slot, above
    cdef int c
    for i in range(n - 1, 0, -1):
        slot, above = r.queue[i], r.above[i]
        at.changed[slot] = True
        touch(at, above)
        for c in range(r.n_classes):
            at.counts[slot * r.n_classes + c] = at.fresh[slot * r.n_classes + c]
            at.fresh[above * r.n_classes + c] += at.fresh[slot * r.n_classes + c]


cdef inline bint lay_out(Raising* r, int32_t root, bint first, const real* table) noexcept nogil:
    """Send the rows of `root` down its subtree, and put what lies below it to work, the deepest slots on top.

    Every slot gets its counts and its part of the pool, leaf after leaf. `first`: nothing was raised yet, and the
    counts are those of growth.
    """
    cdef Slots* at = &r.at
    cdef int64_t i, _, n, slot, size, top = r.pool.n
    if not gather(r, root, root, -1) or go_down(r, True, table) == NO_MEMORY:
        return False
    n = list_below(r, root)
    if n < 0:
        return False
    if not first:
        take_counts(r, n)
    clear_scratch(r)
    for i in range(n):
        slot = r.queue[i]
        at.estimate[slot] = errors_of(r, &at.counts[slot * r.n_classes], NULL)
    # Sizes upwards, then starts downwards; `stop` counts, and then is the cursor that fills.
    for i in range(r.done.n):
        at.stop[r.done.slot[i]] += 1
    for i in range(n - 1, 0, -1):
        slot = r.queue[i]
        at.stop[r.above[i]] += at.stop[slot]
        at.shares[r.above[i]] |= at.shares[slot]
    at.start[root] = top
    for i in range(n):                              # the cursor of an inner slot is where its next child starts
        slot = r.queue[i]
        size = at.stop[slot]
        if i:
            at.start[slot] = at.stop[r.above[i]]
            at.stop[r.above[i]] += size
        at.stop[slot] = at.start[slot]
    for _ in range(r.done.n):                       # makes the room; the places are filled below
        if not put_row(&r.pool, 0, 0, 0.0):
            return False
    for i in range(r.done.n):
        slot = r.done.slot[i]
        r.pool.row[at.stop[slot]], r.pool.weight[at.stop[slot]] = r.done.row[i], r.done.weight[i]
        at.stop[slot] += 1
    for i in range(n):
        if not at.is_leaf[r.queue[i]] and not put_work(r, r.queue[i]):
            return False
    return True


cdef inline bint put_stretch(Raising* r, int64_t slot) noexcept nogil:
    """Remember where the rows of a slot are: slots above it need that stretch of the pool, those below get new ones."""
    return (
        put_work(r, r.at.start[slot]) and put_work(r, r.at.stop[slot]) and put_work(r, r.pool.n) and put_work(r, slot)
        and put_work(r, UNDO)
    )


cdef inline void take_back_stretch(Raising* r) noexcept nogil:
    cdef int64_t slot = r.work[r.n_work - 1]
    r.pool.n = r.work[r.n_work - 2]
    r.at.stop[slot] = r.work[r.n_work - 3]
    r.at.start[slot] = r.work[r.n_work - 4]
    r.n_work -= 4


# ---- the pass -------------------------------------------------------------------------------------------------------

cdef inline bint begin_raising(
    Raising* r, int64_t n_nodes, int64_t n_rows, const int32_t* code, const int32_t* multiplicity, const double* counts,
    const double* weight,
) noexcept nogil:
    """A slot for each node, and all the rows at the root."""
    cdef int64_t i
    cdef bint ok
    r.whole = <double*>calloc(n_rows, sizeof(double))
    ok = r.whole != NULL and reserve_slots(&r.at, n_nodes, r.n_classes)
    for i in range(n_nodes):
        ok = ok and open_slot(r, code[i], -1)
        if ok:
            r.at.is_leaf[i] = r.first_child[i] < 0
            r.at.leaves[i] = multiplicity[i]
    for i in range(n_nodes * r.n_classes if ok else 0):
        r.at.counts[i] = counts[i]
    for i in range(n_rows):
        if weight == NULL or weight[i] > 0.0:
            ok = ok and put_row(&r.pool, 0, <int32_t>i, 1.0 if weight == NULL else weight[i])
    if ok:
        r.at.stop[0] = r.pool.n
    return ok


cdef inline bint prune_and_raise(Raising* r, const real* table) noexcept nogil:
    """Bottom-up: leaf, subtree, or heaviest child, whichever is expected to make the fewest errors."""
    cdef Slots* at = &r.at
    cdef int64_t item, leaves
    cdef int32_t slot, child, heaviest, i
    cdef double as_leaf, as_tree, as_child
    if not lay_out(r, 0, True, table):
        return False
    while r.n_work:
        r.n_work -= 1
        item = r.work[r.n_work]
        if item == UNDO:
            take_back_stretch(r)
            continue
        slot = <int32_t>item
        as_leaf = errors_of(r, &at.counts[slot * r.n_classes], NULL)
        as_tree = 0.0
        leaves = 0
        for i in range(r.n_children[at.test[slot]]):
            child = r.first_child[at.test[slot]] + i
            as_tree += at.estimate[child]
            leaves += at.leaves[child]
            at.shares[slot] |= at.shares[child]
        child = at.first_added[slot]
        while child >= 0:
            as_tree += at.estimate[child]
            leaves += at.leaves[child]
            child = at.next_added[child]
        at.estimate[slot] = as_tree
        at.leaves[slot] = <int32_t>leaves
        heaviest = heaviest_child(r, slot)
        as_child = as_leaf
        if not at.is_leaf[heaviest] and try_raise(r, slot, heaviest, &as_child, table) == NO_MEMORY:
            return False
        if as_leaf <= as_tree + ESTIMATE_TOLERANCE and as_leaf <= as_child + ESTIMATE_TOLERANCE:
            if not note_step(r, slot, CUT, leaves - 1, as_tree, as_leaf):
                return False
            at.is_leaf[slot] = True
            at.first_added[slot] = -1
            at.estimate[slot] = as_leaf
            at.leaves[slot] = 1
        elif as_child <= as_tree + ESTIMATE_TOLERANCE and not at.is_leaf[heaviest]:
            if not note_step(r, slot, RAISED, leaves - at.leaves[heaviest], as_tree, as_child):
                return False
            at.test[slot] = at.test[heaviest]
            at.first_added[slot] = at.first_added[heaviest]
            if not put_stretch(r, slot) or not lay_out(r, slot, False, table):
                return False
    return True
