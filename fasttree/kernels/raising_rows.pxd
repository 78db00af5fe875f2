# SPDX-License-Identifier: BSD-3-Clause
"""The rows of a slot on their way down to leaves, where subtree raising counts them."""

from libc.stdint cimport int32_t, int64_t

from fasttree.kernels.keys cimport real
from fasttree.kernels.raising_slots cimport (
    NO_MEMORY, SHARED_OUT, Raising, RowShares, Slots, child_of, close_slots, put_row,
)

cdef enum:
    LANES = 16                  # rows in flight, so that none waits for the memory of another


cdef inline void touch(Slots* at, int32_t slot) noexcept nogil:
    if not at.touched[slot]:
        at.touched[slot] = True
        at.list[at.n_list] = slot
        at.n_list += 1


cdef inline void clear_scratch(Raising* r) noexcept nogil:
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
    r.moving.n = 0
    for i in range(r.at.start[slot], r.at.stop[slot]):
        if without >= 0 and r.at.start[without] <= i < r.at.stop[without]:
            continue
        row = r.pool.row[i]
        if r.at.shares[slot]:
            if r.whole[row] == 0.0 and not put_row(&r.moving, to, row, 0.0):
                return False
            r.whole[row] += r.pool.weight[i]
        elif not put_row(&r.moving, to, row, r.pool.weight[i]):
            return False
    if r.at.shares[slot]:
        for n in range(r.moving.n):
            row = r.moving.row[n]
            r.moving.weight[n] = r.whole[row]
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
    while i < r.moving.n:
        lanes = <int>(r.moving.n - i) if r.moving.n - i < LANES else LANES
        for lane in range(lanes):
            to[lane] = r.moving.slot[i + lane]
        moved = True
        while moved:
            moved = False
            for lane in range(lanes):
                if not at.is_leaf[to[lane]]:
                    to[lane] = child_of(r, to[lane], r.moving.row[i + lane], table)
                    moved = True
                    if to[lane] < 0:
                        clear_scratch(r)
                        return to[lane]
        for lane in range(lanes):
            touch(at, to[lane])
            at.fresh[to[lane] * r.n_classes + r.y[r.moving.row[i]]] += r.moving.weight[i]
            if keep and not put_row(&r.done, to[lane], r.moving.row[i], r.moving.weight[i]):
                return NO_MEMORY
            i += 1
    return 0


cdef inline double pull_of(const Raising* r, int32_t row, double weight) noexcept nogil:
    """What a row counts for where others are distributed fractionally: as in growth, its weight times that of its
    class."""
    return weight if r.class_weight == NULL else weight * r.class_weight[r.y[row]]


cdef inline bint flow(Raising* r, bint keep, const real* table) noexcept nogil:
    """The instances in `here` go down to leaves, a level at a time, so that rows without a value can be distributed in
    proportion to those that have one. With `keep`, slots remember that they distributed rows."""
    cdef Slots* at = &r.at
    cdef int64_t i
    cdef int32_t slot, to
    cdef RowShares swap
    r.done.n = 0
    while r.moving.n:
        r.next.n = r.lost.n = 0
        for i in range(r.moving.n):
            slot = r.moving.slot[i]
            touch(at, slot)
            if at.is_leaf[slot]:
                at.fresh[slot * r.n_classes + r.y[r.moving.row[i]]] += r.moving.weight[i]
                if keep and not put_row(&r.done, slot, r.moving.row[i], r.moving.weight[i]):
                    return False
                continue
            to = child_of(r, slot, r.moving.row[i], table)
            if to == NO_MEMORY:
                return False
            if to == SHARED_OUT:
                at.shares[slot] |= keep
                if not put_row(&r.lost, slot, r.moving.row[i], r.moving.weight[i]):
                    return False
            else:
                at.known[to] += pull_of(r, r.moving.row[i], r.moving.weight[i])
                if not put_row(&r.next, to, r.moving.row[i], r.moving.weight[i]):
                    return False
        for i in range(r.lost.n):
            if not share_out(r, r.lost.slot[i], r.lost.row[i], r.lost.weight[i]):
                return False
        swap = r.moving
        r.moving = r.next
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
