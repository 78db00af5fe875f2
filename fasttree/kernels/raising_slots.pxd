# SPDX-License-Identifier: BSD-3-Clause
"""The tree while error-based pruning raises subtrees (raising.pxd): what grew at a node and where it stands may part.

So there are *slots*: places in the tree, numbered like the nodes that were grown there. `test[slot]` is the node whose
test stands at the slot now, and the children of the slot are the slots of that node's children. A value that had no
rows at a node gets a slot of its own when rows with it arrive: these come after the others and hang on their parent as
a list.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t

from fasttree.kernels.alloc cimport free, realloc
from fasttree.kernels.keys cimport real
from fasttree.kernels.pruning cimport Estimate, added_errors
from fasttree.kernels.routing cimport PackedNode, Tables, next_node

cdef enum:
    SHARED_OUT = -1             # a row without a value: a share of it goes down every branch
    NO_MEMORY = -2


cdef struct RowShares:
    # Rows, or shares of them, on their way.
    int32_t* slot
    int32_t* row
    double* weight
    int64_t n, capacity


cdef struct Slots:
    int64_t n, capacity
    int32_t* test               # the node whose test stands here
    uint8_t* is_leaf
    int32_t* first_added        # child for a value that had no rows, -1: none
    int32_t* next_added
    int32_t* parent             # of an added child
    int32_t* code               # the value that leads here
    int32_t* leaves             # under the slot; 0: no value leads here any more
    double* counts              # [slot, class]
    double* estimate            # expected errors of the subtree
    int64_t* start              # its instances in the pool
    int64_t* stop
    uint8_t* shares             # was a row distributed fractionally here or below?
    uint8_t* changed            # has other rows than it was grown with
    # scratch; zero wherever `touched` is
    double* fresh               # [slot, class]
    double* known
    uint8_t* touched
    int32_t* list               # the touched slots
    int64_t n_list


cdef struct Raising:
    # the grown tree
    const PackedNode* packed
    const Tables* tables
    const int32_t* first_child
    const int32_t* n_children
    const int32_t* empty_child  # child for the values without rows, -1: none
    const double* total         # training weight of each node, class weights included
    const double* class_weight  # NULL: 1 each
    bint has_tables
    int n_classes
    # the rows
    const int32_t* y
    int64_t row_stride, column_stride
    double* whole               # scratch: what of each row is at a slot
    # the state
    Estimate estimator
    Slots at
    RowShares pool              # the rows of all slots, each a stretch of it
    RowShares moving, next      # on their way down
    RowShares lost              # about to be distributed fractionally
    RowShares done              # at leaves
    int64_t* work               # slots still to be looked at; UNDO: see `put_stretch`
    int64_t n_work, work_capacity
    int32_t* queue              # the slots below one, breadth-first
    int32_t* above              # their parents
    int64_t queue_capacity
    # what was done
    int64_t n_steps, steps_capacity
    int32_t* step_node
    int32_t* step_kind
    int32_t* step_leaves
    double* step_before
    double* step_after


# ---- memory ---------------------------------------------------------------------------------------------------------

cdef inline bint widen(void** array, int64_t n_bytes) noexcept nogil:
    cdef void* wider = realloc(array[0], n_bytes if n_bytes > 0 else 1)
    if wider == NULL:
        return False
    array[0] = wider
    return True


cdef inline bint reserve_slots(Slots* at, int64_t n, int n_classes) noexcept nogil:
    cdef int64_t capacity = at.capacity
    if n <= capacity:
        return True
    capacity = n + n // 2 + 16
    if not (
        widen(<void**>&at.test, capacity * 4) and widen(<void**>&at.is_leaf, capacity)
        and widen(<void**>&at.first_added, capacity * 4) and widen(<void**>&at.next_added, capacity * 4)
        and widen(<void**>&at.parent, capacity * 4) and widen(<void**>&at.code, capacity * 4)
        and widen(<void**>&at.leaves, capacity * 4) and widen(<void**>&at.counts, capacity * n_classes * 8)
        and widen(<void**>&at.estimate, capacity * 8) and widen(<void**>&at.start, capacity * 8)
        and widen(<void**>&at.stop, capacity * 8) and widen(<void**>&at.shares, capacity)
        and widen(<void**>&at.changed, capacity) and widen(<void**>&at.fresh, capacity * n_classes * 8)
        and widen(<void**>&at.known, capacity * 8) and widen(<void**>&at.touched, capacity)
        and widen(<void**>&at.list, capacity * 4)
    ):
        return False
    at.capacity = capacity
    return True


cdef inline bint put_row(RowShares* to, int32_t slot, int32_t row, double weight) noexcept nogil:
    cdef int64_t capacity = to.capacity
    if to.n == capacity:
        capacity = 2 * capacity + 64
        if not (
            widen(<void**>&to.slot, capacity * 4) and widen(<void**>&to.row, capacity * 4)
            and widen(<void**>&to.weight, capacity * 8)
        ):
            return False
        to.capacity = capacity
    to.slot[to.n], to.row[to.n], to.weight[to.n] = slot, row, weight
    to.n += 1
    return True


cdef inline bint put_work(Raising* r, int64_t item) noexcept nogil:
    if r.n_work == r.work_capacity:
        if not widen(<void**>&r.work, (2 * r.work_capacity + 64) * 8):
            return False
        r.work_capacity = 2 * r.work_capacity + 64
    r.work[r.n_work] = item
    r.n_work += 1
    return True


cdef inline bint note_step(
    Raising* r, int64_t slot, int kind, int64_t leaves, double before, double after
) noexcept nogil:
    cdef int64_t capacity = r.steps_capacity
    if r.n_steps == capacity:
        capacity = 2 * capacity + 64
        if not (
            widen(<void**>&r.step_node, capacity * 4) and widen(<void**>&r.step_kind, capacity * 4)
            and widen(<void**>&r.step_leaves, capacity * 4) and widen(<void**>&r.step_before, capacity * 8)
            and widen(<void**>&r.step_after, capacity * 8)
        ):
            return False
        r.steps_capacity = capacity
    r.step_node[r.n_steps] = r.at.test[slot]
    r.step_kind[r.n_steps] = kind
    r.step_leaves[r.n_steps] = <int32_t>leaves
    r.step_before[r.n_steps] = before
    r.step_after[r.n_steps] = after
    r.n_steps += 1
    return True


cdef inline void free_row_shares(RowShares* rows) noexcept nogil:
    free(rows.slot)
    free(rows.row)
    free(rows.weight)


cdef inline void free_raising(Raising* r) noexcept nogil:
    free(r.at.test)
    free(r.at.is_leaf)
    free(r.at.first_added)
    free(r.at.next_added)
    free(r.at.parent)
    free(r.at.code)
    free(r.at.leaves)
    free(r.at.counts)
    free(r.at.estimate)
    free(r.at.start)
    free(r.at.stop)
    free(r.at.shares)
    free(r.at.changed)
    free(r.at.fresh)
    free(r.at.known)
    free(r.at.touched)
    free(r.at.list)
    free_row_shares(&r.pool)
    free_row_shares(&r.moving)
    free_row_shares(&r.next)
    free_row_shares(&r.lost)
    free_row_shares(&r.done)
    free(r.whole)
    free(r.work)
    free(r.queue)
    free(r.above)
    free(r.step_node)
    free(r.step_kind)
    free(r.step_leaves)
    free(r.step_before)
    free(r.step_after)


# ---- slots ----------------------------------------------------------------------------------------------------------

cdef inline bint open_slot(Raising* r, int32_t code, int32_t parent) noexcept nogil:
    """A leaf without rows, the last slot."""
    cdef Slots* at = &r.at
    cdef int64_t slot = at.n
    cdef int c
    if not reserve_slots(at, slot + 1, r.n_classes):
        return False
    at.test[slot] = <int32_t>slot
    at.is_leaf[slot] = True
    at.first_added[slot] = at.next_added[slot] = -1
    at.parent[slot] = parent
    at.code[slot] = code
    at.leaves[slot] = 1
    at.estimate[slot] = 0.0
    at.start[slot] = at.stop[slot] = 0
    at.shares[slot] = at.changed[slot] = False
    at.known[slot] = 0.0
    at.touched[slot] = False
    for c in range(r.n_classes):
        at.counts[slot * r.n_classes + c] = at.fresh[slot * r.n_classes + c] = 0.0
    at.n += 1
    return True


cdef inline int32_t child_for(Raising* r, int32_t slot, int32_t code) noexcept nogil:
    """The child of a slot for a value that had no rows at the node, made if it is not there."""
    cdef Slots* at = &r.at
    cdef int32_t child = at.first_added[slot]
    while child >= 0 and at.code[child] != code:
        child = at.next_added[child]
    if child >= 0:
        return child
    child = <int32_t>at.n
    if not open_slot(r, code, slot):
        return NO_MEMORY
    at.next_added[child] = at.first_added[slot]
    at.first_added[slot] = child
    at.leaves[r.empty_child[at.test[slot]]] -= 1
    return child


cdef inline void close_slots(Raising* r, int64_t n) noexcept nogil:
    """Take back the slots from number `n` on."""
    cdef Slots* at = &r.at
    cdef int32_t slot, parent
    while at.n > n:
        at.n -= 1
        slot = <int32_t>at.n
        parent = at.parent[slot]
        at.first_added[parent] = at.next_added[slot]
        at.leaves[r.empty_child[at.test[parent]]] += 1


cdef inline int32_t child_of(Raising* r, int32_t slot, int32_t row, const real* table) noexcept nogil:
    """The slot that a row goes to, SHARED_OUT or NO_MEMORY."""
    cdef int32_t node = r.at.test[slot], to
    cdef const char* cells = <const char*>table + row * r.row_stride
    cdef real value
    to = next_node(r.has_tables, True, r.packed, r.tables, node, cells, r.column_stride, table)
    if to == node:
        return SHARED_OUT
    if to == r.empty_child[node]:
        value = (<const real*>(cells + (-1 - r.packed[node].attribute) * r.column_stride))[0]
        if value == value:
            return child_for(r, slot, <int32_t>value)
    return to


cdef inline double weight_at(const Raising* r, int64_t slot) noexcept nogil:
    cdef double total = 0.0
    cdef int c
    for c in range(r.n_classes):
        total += r.at.counts[slot * r.n_classes + c]
    return total


cdef inline double errors_of(const Raising* r, const double* counts, const double* more) noexcept nogil:
    """Expected errors of a leaf with these class counts, or with the sum of two."""
    cdef double total = 0.0, most = 0.0, count
    cdef int c
    for c in range(r.n_classes):
        count = counts[c] + (more[c] if more != NULL else 0.0)
        total += count
        if count > most:
            most = count
    return total - most + added_errors(&r.estimator, total, total - most)


cdef inline int32_t heaviest_child(const Raising* r, int64_t slot) noexcept nogil:
    """Of equals the last value's."""
    cdef int32_t node = r.at.test[slot], child, best = -1
    cdef double weight, most = -1.0
    cdef int32_t i
    for i in range(r.n_children[node]):
        child = r.first_child[node] + i
        weight = weight_at(r, child)
        if weight >= most - 1e-9 * most:
            best, most = child, weight
    child = r.at.first_added[slot]
    while child >= 0:
        weight = weight_at(r, child)
        if weight > most + 1e-9 * most or (weight >= most - 1e-9 * most and r.at.code[child] > r.at.code[best]):
            best, most = child, weight
        child = r.at.next_added[child]
    return best
