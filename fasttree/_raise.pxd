# SPDX-License-Identifier: BSD-3-Clause
"""Error-based pruning with subtree raising: a node may also be replaced by its heaviest child, and its rows go down
there again.

What grew at a node and where it stands may part, so there are *slots*: places in the tree, numbered like the nodes that
were grown there. `test[slot]` is the node whose test stands at the slot now, and the children of the slot are the slots
of that node's children. A value that had no rows at a node gets a slot of its own when rows with it arrive: these come
after the others and hang on their parent as a list.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport calloc, free, realloc

from fasttree._encode cimport real
from fasttree._prune cimport Estimate, added_errors
from fasttree._route cimport Step, Tables, next_node

cdef enum:
    LANES = 16                  # rows in flight, so that none waits for the memory of another

cdef enum:
    SHARED_OUT = -1             # a row without a value: a share of it goes down every branch
    NO_MEMORY = -2
    CUT = 0                     # what was done at a node
    RAISED = 1
    UNDO = -1

cdef extern from *:
    const double SLACK "0.1"    # an estimate that is larger by no more is as good


cdef struct Instances:
    # Rows, or shares of them, on their way.
    int32_t* slot
    int32_t* row
    double* weight
    int64_t n, room


cdef struct Slots:
    int64_t n, room
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
    uint8_t* shares             # was a row shared out here or below?
    uint8_t* changed            # has other rows than it was grown with
    # scratch; zero wherever `touched` is
    double* fresh               # [slot, class]
    double* known
    uint8_t* touched
    int32_t* list               # the touched slots
    int64_t n_list


cdef struct Raising:
    # the grown tree
    const Step* steps
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
    Estimate how
    Slots at
    Instances pool              # the rows of all slots, each a stretch of it
    Instances here, next        # on their way down
    Instances lost              # about to be shared out
    Instances done              # at leaves
    int64_t* work               # slots still to be looked at; UNDO: see `take_back_stretch`
    int64_t n_work, work_room
    int32_t* queue              # the slots below one, breadth-first
    int32_t* above              # their parents
    int64_t queue_room
    # what was done
    int64_t n_steps, steps_room
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


cdef inline bint room_for_slots(Slots* at, int64_t n, int n_classes) noexcept nogil:
    cdef int64_t room = at.room
    if n <= room:
        return True
    room = n + n // 2 + 16
    if not (
        widen(<void**>&at.test, room * 4) and widen(<void**>&at.is_leaf, room)
        and widen(<void**>&at.first_added, room * 4) and widen(<void**>&at.next_added, room * 4)
        and widen(<void**>&at.parent, room * 4) and widen(<void**>&at.code, room * 4)
        and widen(<void**>&at.leaves, room * 4) and widen(<void**>&at.counts, room * n_classes * 8)
        and widen(<void**>&at.estimate, room * 8) and widen(<void**>&at.start, room * 8)
        and widen(<void**>&at.stop, room * 8) and widen(<void**>&at.shares, room)
        and widen(<void**>&at.changed, room) and widen(<void**>&at.fresh, room * n_classes * 8)
        and widen(<void**>&at.known, room * 8) and widen(<void**>&at.touched, room)
        and widen(<void**>&at.list, room * 4)
    ):
        return False
    at.room = room
    return True


cdef inline bint put_row(Instances* to, int32_t slot, int32_t row, double weight) noexcept nogil:
    cdef int64_t room = to.room
    if to.n == room:
        room = 2 * room + 64
        if not (
            widen(<void**>&to.slot, room * 4) and widen(<void**>&to.row, room * 4)
            and widen(<void**>&to.weight, room * 8)
        ):
            return False
        to.room = room
    to.slot[to.n], to.row[to.n], to.weight[to.n] = slot, row, weight
    to.n += 1
    return True


cdef inline bint put_work(Raising* r, int64_t item) noexcept nogil:
    if r.n_work == r.work_room:
        if not widen(<void**>&r.work, (2 * r.work_room + 64) * 8):
            return False
        r.work_room = 2 * r.work_room + 64
    r.work[r.n_work] = item
    r.n_work += 1
    return True


cdef inline bint note_step(
    Raising* r, int64_t slot, int kind, int64_t leaves, double before, double after
) noexcept nogil:
    cdef int64_t room = r.steps_room
    if r.n_steps == room:
        room = 2 * room + 64
        if not (
            widen(<void**>&r.step_node, room * 4) and widen(<void**>&r.step_kind, room * 4)
            and widen(<void**>&r.step_leaves, room * 4) and widen(<void**>&r.step_before, room * 8)
            and widen(<void**>&r.step_after, room * 8)
        ):
            return False
        r.steps_room = room
    r.step_node[r.n_steps] = r.at.test[slot]
    r.step_kind[r.n_steps] = kind
    r.step_leaves[r.n_steps] = <int32_t>leaves
    r.step_before[r.n_steps] = before
    r.step_after[r.n_steps] = after
    r.n_steps += 1
    return True


cdef inline void free_instances(Instances* some) noexcept nogil:
    free(some.slot)
    free(some.row)
    free(some.weight)


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
    free_instances(&r.pool)
    free_instances(&r.here)
    free_instances(&r.next)
    free_instances(&r.lost)
    free_instances(&r.done)
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
    if not room_for_slots(at, slot + 1, r.n_classes):
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
    to = next_node(r.has_tables, True, r.steps, r.tables, node, cells, r.column_stride, table)
    if to == node:
        return SHARED_OUT
    if to == r.empty_child[node]:
        value = (<const real*>(cells + (-1 - r.steps[node].attribute) * r.column_stride))[0]
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
    return total - most + added_errors(&r.how, total, total - most)


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


# ---- rows on their way ----------------------------------------------------------------------------------------------

cdef inline void touch(Slots* at, int32_t slot) noexcept nogil:
    if not at.touched[slot]:
        at.touched[slot] = True
        at.list[at.n_list] = slot
        at.n_list += 1


cdef inline void forget(Raising* r) noexcept nogil:
    """The scratch of all touched slots is zero again."""
    cdef Slots* at = &r.at
    cdef int64_t i, slot
    cdef int c
    for i in range(at.n_list):
        slot = at.list[i]
        at.touched[slot] = False
        at.known[slot] = 0.0
        for c in range(r.n_classes):
            at.fresh[slot * r.n_classes + c] = 0.0
    at.n_list = 0


cdef inline bint gather(Raising* r, int32_t slot, int32_t to, int32_t without) noexcept nogil:
    """here := the rows at `slot` but those of one child, about to start from `to`; shares of a row come together."""
    cdef int64_t i, n
    cdef int32_t row
    r.here.n = 0
    for i in range(r.at.start[slot], r.at.stop[slot]):
        if without >= 0 and r.at.start[without] <= i < r.at.stop[without]:
            continue
        row = r.pool.row[i]
        if r.at.shares[slot]:
            if r.whole[row] == 0.0 and not put_row(&r.here, to, row, 0.0):
                return False
            r.whole[row] += r.pool.weight[i]
        elif not put_row(&r.here, to, row, r.pool.weight[i]):
            return False
    if r.at.shares[slot]:
        for n in range(r.here.n):
            row = r.here.row[n]
            r.here.weight[n] = r.whole[row]
            r.whole[row] = 0.0
    return True


cdef inline int walk(Raising* r, bint keep, const real* table) noexcept nogil:
    """The instances in `here` go down to leaves, one after another, and are counted there in `fresh`; with `keep` they
    are put into `done`. Stops with SHARED_OUT at a row without a value, as if nothing had happened; else 0."""
    cdef Slots* at = &r.at
    cdef int64_t i = 0
    cdef int32_t[LANES] to
    cdef int lane, lanes
    cdef bint moved
    r.done.n = 0
    while i < r.here.n:
        lanes = <int>(r.here.n - i) if r.here.n - i < LANES else LANES
        for lane in range(lanes):
            to[lane] = r.here.slot[i + lane]
        moved = True
        while moved:
            moved = False
            for lane in range(lanes):
                if not at.is_leaf[to[lane]]:
                    to[lane] = child_of(r, to[lane], r.here.row[i + lane], table)
                    moved = True
                    if to[lane] < 0:
                        forget(r)
                        return to[lane]
        for lane in range(lanes):
            touch(at, to[lane])
            at.fresh[to[lane] * r.n_classes + r.y[r.here.row[i]]] += r.here.weight[i]
            if keep and not put_row(&r.done, to[lane], r.here.row[i], r.here.weight[i]):
                return NO_MEMORY
            i += 1
    return 0


cdef inline double pull_of(const Raising* r, int32_t row, double weight) noexcept nogil:
    """What a row counts for where others are shared out: as in growth, its weight times that of its class."""
    return weight if r.class_weight == NULL else weight * r.class_weight[r.y[row]]


cdef inline bint flow(Raising* r, bint keep, const real* table) noexcept nogil:
    """The same, a level at a time, so that rows without a value can be shared out like those that have one. Slots
    remember, with `keep`, that they shared rows out."""
    cdef Slots* at = &r.at
    cdef int64_t i
    cdef int32_t slot, to
    cdef Instances swap
    r.done.n = 0
    while r.here.n:
        r.next.n = r.lost.n = 0
        for i in range(r.here.n):
            slot = r.here.slot[i]
            touch(at, slot)
            if at.is_leaf[slot]:
                at.fresh[slot * r.n_classes + r.y[r.here.row[i]]] += r.here.weight[i]
                if keep and not put_row(&r.done, slot, r.here.row[i], r.here.weight[i]):
                    return False
                continue
            to = child_of(r, slot, r.here.row[i], table)
            if to == NO_MEMORY:
                return False
            if to == SHARED_OUT:
                at.shares[slot] |= keep
                if not put_row(&r.lost, slot, r.here.row[i], r.here.weight[i]):
                    return False
            else:
                at.known[to] += pull_of(r, r.here.row[i], r.here.weight[i])
                if not put_row(&r.next, to, r.here.row[i], r.here.weight[i]):
                    return False
        for i in range(r.lost.n):
            if not share_out(r, r.lost.slot[i], r.lost.row[i], r.lost.weight[i]):
                return False
        swap = r.here
        r.here = r.next
        r.next = swap
    return True


cdef inline int go_down(Raising* r, bint keep, const real* table) noexcept nogil:
    cdef int64_t n_slots = r.at.n
    cdef int stopped = walk(r, keep, table)
    if stopped == SHARED_OUT:
        close_slots(r, n_slots)
        return 0 if flow(r, keep, table) else NO_MEMORY
    return stopped


cdef inline bint share_out(Raising* r, int32_t slot, int32_t row, double weight) noexcept nogil:
    """To every branch in proportion to the rows here that know theirs, class weights included; if none does, to those
    of training."""
    cdef Slots* at = &r.at
    cdef int32_t node = at.test[slot], child, i, added = at.first_added[slot]
    cdef double known = 0.0, share
    cdef bint by_training
    for i in range(r.n_children[node]):
        known += at.known[r.first_child[node] + i]
    child = added
    while child >= 0:
        known += at.known[child]
        child = at.next_added[child]
    by_training = known <= 0.0
    if by_training:
        for i in range(r.n_children[node]):
            known += r.total[r.first_child[node] + i]
        if known <= 0.0:
            return True
    for i in range(r.n_children[node]):
        child = r.first_child[node] + i
        share = (r.total[child] if by_training else at.known[child]) / known
        if share > 0.0 and not put_row(&r.next, child, row, weight * share):
            return False
    while added >= 0 and not by_training:
        share = at.known[added] / known
        if share > 0.0 and not put_row(&r.next, added, row, weight * share):
            return False
        added = at.next_added[added]
    return True


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
    forget(r)
    close_slots(r, n_slots)
    return stopped


# ---- the rows of a subtree laid out anew ----------------------------------------------------------------------------

cdef inline int64_t list_below(Raising* r, int32_t root) noexcept nogil:
    """queue := `root` and the slots below it, breadth-first, and above := their parents; their stretches become empty.
    Returns how many, -1 without memory."""
    cdef Slots* at = &r.at
    cdef int64_t n = 1, next = 0
    cdef int32_t slot, child, i
    if r.queue_room < at.n:
        if not widen(<void**>&r.queue, at.n * 4) or not widen(<void**>&r.above, at.n * 4):
            return -1
        r.queue_room = at.n
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
    forget(r)
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
    cdef bint fine
    r.whole = <double*>calloc(n_rows, sizeof(double))
    fine = r.whole != NULL and room_for_slots(&r.at, n_nodes, r.n_classes)
    for i in range(n_nodes):
        fine = fine and open_slot(r, code[i], -1)
        if fine:
            r.at.is_leaf[i] = r.first_child[i] < 0
            r.at.leaves[i] = multiplicity[i]
    for i in range(n_nodes * r.n_classes if fine else 0):
        r.at.counts[i] = counts[i]
    for i in range(n_rows):
        if weight == NULL or weight[i] > 0.0:
            fine = fine and put_row(&r.pool, 0, <int32_t>i, 1.0 if weight == NULL else weight[i])
    if fine:
        r.at.stop[0] = r.pool.n
    return fine


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
        if as_leaf <= as_tree + SLACK and as_leaf <= as_child + SLACK:
            if not note_step(r, slot, CUT, leaves - 1, as_tree, as_leaf):
                return False
            at.is_leaf[slot] = True
            at.first_added[slot] = -1
            at.estimate[slot] = as_leaf
            at.leaves[slot] = 1
        elif as_child <= as_tree + SLACK and not at.is_leaf[heaviest]:
            if not note_step(r, slot, RAISED, leaves - at.leaves[heaviest], as_tree, as_child):
                return False
            at.test[slot] = at.test[heaviest]
            at.first_added[slot] = at.first_added[heaviest]
            if not put_stretch(r, slot) or not lay_out(r, slot, False, table):
                return False
    return True
