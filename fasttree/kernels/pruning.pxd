# SPDX-License-Identifier: BSD-3-Clause
"""Pruning where one cut changes the worth of others: the weakest links, and greedy removal. And the errors that a leaf
must be expected to make beyond those that it made."""

from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t

from fasttree.kernels.alloc cimport free, malloc

from fasttree.kernels.elementary cimport ft_exp, ft_expm1, ft_log, ft_log1p, ft_log_gamma


# ---- expected errors ------------------------------------------------------------------------------------------------

cdef enum:
    TABLE = 0                   # C4.5: the normal approximation, its quantile read off a table
    NORMAL = 1                  # the same with the exact quantile
    BINOMIAL = 2                # the exact limit


cdef struct Estimate:
    int kind
    double confidence
    double z                    # upper quantile of the normal distribution


cdef inline double added_errors(const Estimate* estimate, double n, double e) noexcept nogil:
    """How many errors beyond the `e` seen on rows of weight `n` the upper limit allows."""
    cdef double none_seen, c, share
    if n <= 0.0:
        return 0.0
    none_seen = -n * ft_expm1(ft_log(estimate.confidence) / n)  # n (1 - confidence ** (1 / n))
    if e < 1e-6:
        return none_seen
    if estimate.kind == BINOMIAL:
        return n * beta_quantile(e + 1.0, n - e, 1.0 - estimate.confidence) - e if e < n else 0.0
    if e < 0.9999:
        return none_seen + e * (added_errors(estimate, n, 1.0) - none_seen)
    if e + 0.5 >= n:
        return 0.67 * (n - e) if estimate.kind == TABLE else (n - e if n > e else 0.0)
    c = estimate.z * estimate.z
    share = (e + 0.5 + c / 2 + sqrt(c * ((e + 0.5) * (1.0 - (e + 0.5) / n) + c / 4))) / (n + c)
    return n * share - e


cdef inline double beta_quantile(double a, double b, double p) noexcept nogil:
    """x with I(x; a, b) = p: Newton's steps, halved where they would leave the bracket."""
    cdef double low = 0.0, high = 1.0, x = a / (a + b), step, value, density
    cdef double log_beta = ft_log_gamma(a) + ft_log_gamma(b) - ft_log_gamma(a + b)
    cdef int _
    for _ in range(100):
        value = beta_share(a, b, x, log_beta) - p
        if value > 0.0:
            high = x
        else:
            low = x
        density = ft_exp((a - 1.0) * ft_log(x) + (b - 1.0) * ft_log1p(-x) - log_beta)
        step = x - value / density if density > 0.0 else -1.0
        if not low < step < high:
            step = (low + high) / 2
        if fabs(step - x) <= 1e-15 * x:
            break
        x = step
    return x


cdef inline double beta_share(double a, double b, double x, double log_beta) noexcept nogil:
    """The regularised incomplete beta function, by its continued fraction on the side where that is quick."""
    cdef double front = ft_exp(a * ft_log(x) + b * ft_log1p(-x) - log_beta)
    if x < (a + 1.0) / (a + b + 2.0):
        return front * beta_fraction(a, b, x) / a
    return 1.0 - front * beta_fraction(b, a, 1.0 - x) / b


cdef inline double beta_fraction(double a, double b, double x) noexcept nogil:
    """Lentz's method."""
    cdef double c = 1.0, d = not_zero(1.0 - (a + b) * x / (a + 1.0)), fraction, term, change
    cdef int m
    d = 1.0 / d
    fraction = d
    for m in range(1, 10_000):
        term = m * (b - m) * x / ((a - 1.0 + 2 * m) * (a + 2 * m))
        d = 1.0 / not_zero(1.0 + term * d)
        c = not_zero(1.0 + term / c)
        fraction *= d * c
        term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 1.0 + 2 * m))
        d = 1.0 / not_zero(1.0 + term * d)
        c = not_zero(1.0 + term / c)
        change = d * c
        fraction *= change
        if fabs(change - 1.0) <= 4e-16:
            break
    return fraction


cdef inline double not_zero(double x) noexcept nogil:
    return x if fabs(x) > 1e-300 else 1e-300


# ---- the weakest links ----------------------------------------------------------------------------------------------

cdef struct Link:
    double strength             # risk saved for each leaf more: at this price the node stops being worth its subtree
    double saved                # by the subtree as it is when the node goes
    double leaves               # more than one
    int32_t child, next         # a pairing heap, the strongest link on top; -1: none


cdef inline int32_t meld(Link* link, int32_t a, int32_t b) noexcept nogil:
    if a < 0 or b < 0:
        return a if b < 0 else b
    if link[a].strength < link[b].strength:
        a, b = b, a
    link[b].next = link[a].child
    link[a].child = b
    return a


cdef inline int32_t without_top(Link* link, int32_t top) noexcept nogil:
    cdef int32_t at = link[top].child, pairs = -1, second, rest
    while at >= 0:
        second = link[at].next
        rest = link[second].next if second >= 0 else -1
        link[at].next = -1
        if second >= 0:
            link[second].next = -1
        at = meld(link, at, second)
        link[at].next = pairs
        pairs = at
        at = rest
    at = -1
    while pairs >= 0:
        rest = link[pairs].next
        link[pairs].next = -1
        at = meld(link, at, pairs)
        pairs = rest
    return at


cdef inline bint find_weakest_links(
    const int32_t* first_child, const int32_t* n_children, const int32_t* multiplicity, const double* risk, int64_t n,
    double* strength, double* saved, double* leaves,
) noexcept nogil:
    """strength[node] := the price of a leaf from which on the node is a leaf; saved[node] and leaves[node] := what goes
    with it at that price, leaves 0 if it goes with a node above. Leaves stay untouched. False: no memory.

    Bottom-up, in O(n log n) whatever the depth. A node is first compared with its children as leaves. A link below it
    that is stronger cannot break before the node does, so it becomes one with the node, strongest first; it is never
    looked at again.
    """
    cdef Link* link = <Link*>malloc(n * sizeof(Link))
    cdef int32_t* heap = <int32_t*>malloc(n * sizeof(int32_t))      # top of the links below each node, -1: none
    cdef int64_t node, child
    cdef int32_t top
    cdef Link* at
    cdef bint ok = link != NULL and heap != NULL
    if ok:
        for node in range(n - 1, -1, -1):
            heap[node] = -1
            if first_child[node] < 0:
                continue
            at = &link[node]
            at[0] = Link(0.0, risk[node], -1.0, -1, -1)
            top = -1
            for child in range(first_child[node], first_child[node] + n_children[node]):
                at.saved -= risk[child]
                at.leaves += multiplicity[child]
                top = meld(link, top, heap[child])
            at.strength = at.saved / at.leaves
            while top >= 0 and link[top].strength > at.strength:
                at.saved += link[top].saved
                at.leaves += link[top].leaves
                at.strength = at.saved / at.leaves
                top = without_top(link, top)
            strength[node], saved[node], leaves[node] = at.strength, at.saved, at.leaves
            heap[node] = meld(link, top, <int32_t>node)
        for node in range(n):                       # a node ends with the first of those above it
            if first_child[node] >= 0:
                for child in range(first_child[node], first_child[node] + n_children[node]):
                    if first_child[child] >= 0 and strength[child] > strength[node]:
                        strength[child] = strength[node]
                        leaves[child] = 0.0
    free(link)
    free(heap)
    return ok


# ---- greedy removal -------------------------------------------------------------------------------------------------

cdef enum:
    TOLERANCE_BITS = 10         # gains that differ by less than 2 ** 10 steps are equal but for rounding


cdef struct Candidates:
    # Nodes that may become leaves, in a heap with the best on top.
    int64_t* gain               # errors that would be saved, in steps
    int64_t* leaves             # under the node
    const int32_t* depth
    int32_t* heap
    int32_t* position           # of a node in the heap; -1: not in it
    int64_t n


cdef inline int64_t without_rounding(int64_t steps) noexcept nogil:
    return (steps + (1 << (TOLERANCE_BITS - 1))) >> TOLERANCE_BITS


cdef inline bint goes_before(const Candidates* all, int32_t a, int32_t b) noexcept nogil:
    """The largest gain; then the fewest leaves, the deepest, the smallest number."""
    cdef int64_t gain_a = without_rounding(all.gain[a]), gain_b = without_rounding(all.gain[b])
    if gain_a != gain_b:
        return gain_a > gain_b
    if all.leaves[a] != all.leaves[b]:
        return all.leaves[a] < all.leaves[b]
    if all.depth[a] != all.depth[b]:
        return all.depth[a] > all.depth[b]
    return a < b


cdef inline void restore_heap(Candidates* all, int32_t node) noexcept nogil:
    """Put a node whose worth has changed where it belongs."""
    cdef int64_t position = all.position[node], child
    while position > 0 and goes_before(all, node, all.heap[(position - 1) // 2]):
        put_candidate(all, position, all.heap[(position - 1) // 2])
        position = (position - 1) // 2
    while 2 * position + 1 < all.n:
        child = 2 * position + 1
        if child + 1 < all.n and goes_before(all, all.heap[child + 1], all.heap[child]):
            child += 1
        if not goes_before(all, all.heap[child], node):
            break
        put_candidate(all, position, all.heap[child])
        position = child
    put_candidate(all, position, node)


cdef inline void put_candidate(Candidates* all, int64_t position, int32_t node) noexcept nogil:
    all.heap[position] = node
    all.position[node] = <int32_t>position


cdef inline void remove_candidate(Candidates* all, int32_t node) noexcept nogil:
    cdef int64_t position = all.position[node]
    cdef int32_t last
    all.position[node] = -1
    all.n -= 1
    last = all.heap[all.n]
    if last != node:
        put_candidate(all, position, last)
        restore_heap(all, last)


cdef inline int64_t remove_greedily(
    const int32_t* first_child, const int32_t* n_children, const int32_t* parent, const int32_t* depth, int64_t n,
    int64_t* gain, int64_t* leaves, bint spend_savings, int32_t* node_out, int64_t* gain_out, int64_t* leaves_out,
) noexcept nogil:
    """Make the best candidate a leaf, again and again. Stops before a gain below 0; with `spend_savings`, before the
    sum of the gains would be. Returns the number of steps, -1 without memory.

    `gain` and `leaves` are those of each node with children, and change with every step.
    """
    cdef Candidates all
    cdef int64_t n_steps = 0, saved = 0, more
    cdef int32_t node, at, child
    cdef int32_t* stack = <int32_t*>malloc(n * sizeof(int32_t))
    cdef int64_t n_stack
    all = Candidates(
        gain, leaves, depth, <int32_t*>malloc(n * sizeof(int32_t)), <int32_t*>malloc(n * sizeof(int32_t)), 0)
    if stack == NULL or all.heap == NULL or all.position == NULL:
        n_steps = -1
    else:
        for node in range(n):
            all.position[node] = -1
            if first_child[node] >= 0:
                put_candidate(&all, all.n, node)
                all.n += 1
                restore_heap(&all, node)
        while all.n:
            node = all.heap[0]
            if without_rounding(saved + gain[node] if spend_savings else gain[node]) < 0:
                break
            node_out[n_steps], gain_out[n_steps], leaves_out[n_steps] = node, gain[node], leaves[node]
            n_steps += 1
            saved += gain[node]
            more = leaves[node] - 1
            at = parent[node]
            while at >= 0:
                gain[at] -= gain[node]
                leaves[at] -= more
                restore_heap(&all, at)
                at = parent[at]
            stack[0] = node
            n_stack = 1
            while n_stack:
                n_stack -= 1
                at = stack[n_stack]
                remove_candidate(&all, at)
                for child in range(first_child[at], first_child[at] + n_children[at]):
                    if all.position[child] >= 0:
                        stack[n_stack] = child
                        n_stack += 1
    free(stack)
    free(all.heap)
    free(all.position)
    return n_steps
