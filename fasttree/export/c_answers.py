# SPDX-License-Identifier: BSD-3-Clause
"""The end of the C source of a tree: classes and their shares, numbers, and rows that go down several branches.

Lines have conditions as those of `c_source`.
"""

ANSWERS = r"""@if not shares

int32_t ${p}_leaf(const double *row)
{
@if refuses
    if (${p}_is_refused(row))
        return ${P}_REFUSED;
@end
    return ${p}_end(0, row);
}
@if not classes

double ${p}_predict(const double *row)
{
    const int32_t at = ${p}_leaf(row);
@if refuses
    if (at < 0)
        return NAN;
@end
    return ${p}_prediction[at];
}
@end
@if classes

int32_t ${p}_predict(const double *row)
{
    const int32_t at = ${p}_leaf(row);
@if refuses
    if (at < 0)
        return ${P}_REFUSED;
@end
    return ${p}_class[at];
}

int32_t ${p}_predict_proba(const double *row, double *proba)
{
    int32_t c;
    const int32_t at = ${p}_leaf(row);
@if refuses
    if (at < 0) {
        for (c = 0; c < ${P}_CLASSES; c++)
            proba[c] = NAN;
        return ${P}_REFUSED;
    }
@end
    for (c = 0; c < ${P}_CLASSES; c++)
        proba[c] = ${p}_proba[${p}_proba_row[at]][c];
    return ${p}_class[at];
}
@end
@end
@if shares

/* A row that goes down every branch of a node, with a share each. At most so many such nodes lie on one way. */
#define ${P}_NESTED ${nested}

static int ${p}_goes_on(int32_t at, const double *row)
{
@if stops
    const double value = row[${p}_column[at]];
    return ${p}_n_children[at] > 0 && value != value;
@end
@if not stops
    (void)row;
    return ${p}_n_children[at] > 0;
@end
}

/* Sums of shares to the nearest step; those that rounding alone keeps below the largest equal it. */
static void ${p}_even(double *proba)
{
    int32_t c;
    double largest;
    volatile double whole; /* rounded at once, whatever the processor has */
    for (c = 0; c < ${P}_CLASSES; c++) {
        whole = proba[c] * ${steps};
        whole += 6755399441055744.0; /* 3/2 of 2^52: a double of this size is a whole number */
        whole -= 6755399441055744.0;
        whole /= ${steps};
        proba[c] = whole;
    }
    largest = proba[0];
    for (c = 1; c < ${P}_CLASSES; c++)
        if (proba[c] > largest)
            largest = proba[c];
    for (c = 0; c < ${P}_CLASSES; c++)
        if (proba[c] >= largest - ${tie})
            proba[c] = largest;
}

static int32_t ${p}_class_of(const double *proba)
{
    int32_t c, k;
@if costs
    double expected[${P}_CLASSES], least;
    volatile double part; /* rounded before it is added, whatever the processor has */
    for (k = 0; k < ${P}_CLASSES; k++)
        expected[k] = 0.0;
    for (c = 0; c < ${P}_CLASSES; c++)
        for (k = 0; k < ${P}_CLASSES; k++) {
            part = proba[c] * ${p}_cost[c][k];
            expected[k] += part;
        }
    least = expected[0];
    for (k = 1; k < ${P}_CLASSES; k++)
        if (expected[k] < least)
            least = expected[k];
    least *= ${cost_tie};
    for (c = 0; c < ${P}_CLASSES; c++) {
        k = ${p}_tie_order[c];
        if (expected[k] <= least)
            return k;
    }
@end
@if not costs
    double largest = proba[0];
    for (c = 1; c < ${P}_CLASSES; c++)
        if (proba[c] > largest)
            largest = proba[c];
    for (c = 0; c < ${P}_CLASSES; c++) {
        k = ${p}_tie_order[c];
        if (proba[k] >= largest)
            return k;
    }
@end
    return 0;
}

static int32_t ${p}_follow(const double *row, double *proba, int32_t *leaf)
{
    int32_t child[${P}_NESTED + 1] = {0}, after[${P}_NESTED + 1] = {0};
    double part_of[${P}_NESTED + 1] = {0.0}, part = 1.0, largest = -1.0;
    volatile double product; /* rounded before it is added, whatever the processor has */
    int32_t c, n = 0, split = 0, at = 0;
    *leaf = 0;
@if refuses
    if (${p}_is_refused(row)) {
        *leaf = ${P}_REFUSED;
        for (c = 0; c < ${P}_CLASSES; c++)
            proba[c] = NAN;
        return ${P}_REFUSED;
    }
@end
    for (c = 0; c < ${P}_CLASSES; c++)
        proba[c] = 0.0;
    for (;;) {
        at = ${p}_end(at, row);
        if (${p}_goes_on(at, row)) {
            n++;
            child[n] = ${p}_low[at];
            after[n] = child[n] + ${p}_n_children[at];
            part_of[n] = part;
            split = 1;
        } else {
            for (c = 0; c < ${P}_CLASSES; c++) {
                product = part * ${p}_proba[${p}_proba_row[at]][c];
                proba[c] += product;
            }
            if (part > largest + ${tie} || (part >= largest - ${tie} && at < *leaf))
                *leaf = at;
            if (part > largest)
                largest = part;
        }
        do {
            while (child[n] == after[n]) {
                if (n == 0) {
                    if (!split)
                        return ${p}_class[at];
                    ${p}_even(proba);
                    return ${p}_class_of(proba);
                }
                n--;
            }
            at = child[n]++;
        } while (!(${p}_part[at] > 0.0));
        part = part_of[n] * ${p}_part[at];
    }
}

int32_t ${p}_leaf(const double *row)
{
    int32_t leaf;
    double proba[${P}_CLASSES];
    (void)${p}_follow(row, proba, &leaf);
    return leaf;
}

int32_t ${p}_predict(const double *row)
{
    double proba[${P}_CLASSES];
    int32_t leaf;
    return ${p}_follow(row, proba, &leaf);
}

int32_t ${p}_predict_proba(const double *row, double *proba)
{
    int32_t leaf;
    return ${p}_follow(row, proba, &leaf);
}
@end
"""
