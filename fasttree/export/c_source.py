# SPDX-License-Identifier: BSD-3-Clause
"""The C source around the tables of a tree: declarations, the codes of categories, and where a row goes.

`c_answers` has what is answered at the end.

Lines between "@if name" and "@end" stay if `name` holds ("@if not name": if it does not).
"""

HEAD = r"""/* A decision tree, made by fasttree. C99 without dependencies; do not compile with -ffast-math.

   A row is an array of ${P}_COLUMNS doubles, in the order of ${p}_column_names. A missing value is NAN.
@if levels
   A categorical column contains codes: 1 for its first category, 2 for the next; ${p}_code (words) and
   ${p}_code_of_number return the code of a category. Any other number is a category not seen in training.
@end
@if merges
   Categories with few training rows share one code, the last of their column.
@end
@if merges_unseen
   A category of such a column that was not seen in training has this code, too.
@end
@if times
   Times are numbers of microseconds:
${times}
@end
   Numbers are read as doubles. All functions are thread-safe.

@if classes
   ${p}_predict        the number of the class, a place in ${p}_class_labels
   ${p}_predict_proba  the same; fills in the ${P}_CLASSES class probabilities
   ${p}_leaf           the number of the node at which the row ends${heaviest}
@if refuses
   All three return ${P}_REFUSED for a row with ${refused} in any column; its probabilities are NAN.
@end
@end
@if not classes
   ${p}_predict        the number that is predicted
   ${p}_leaf           the number of the node at which the row ends
@if refuses
   Of a row with ${refused} in any column the prediction is NAN, and the node ${P}_REFUSED.
@end
@end
*/

#include <math.h>
#include <stddef.h>
#include <stdint.h>
@if words
#include <string.h>
@end

#define ${P}_COLUMNS ${n_columns}
@if classes
#define ${P}_CLASSES ${n_classes}
@end
#define ${P}_REFUSED (-1)

extern const char *const ${p}_column_names[${P}_COLUMNS];
@if classes
extern const char *const ${p}_class_labels[${P}_CLASSES];
@end
double ${p}_code(int column, const char *text, size_t length);
double ${p}_code_of_number(int column, double number);
int32_t ${p}_leaf(const double *row);
@if classes
int32_t ${p}_predict(const double *row);
int32_t ${p}_predict_proba(const double *row, double *proba);
@end
@if not classes
double ${p}_predict(const double *row);
@end
"""

CODE = r"""
/* The code of a category by its bytes (UTF-8); -1 for one not seen in training, or if the categories of the column
   are not words. */
double ${p}_code(int column, const char *text, size_t length)
{
@if words
    int32_t low, high, middle;
    size_t shared;
    int order;
    if (column < 0 || column >= ${P}_COLUMNS)
        return -1.0;
    low = ${p}_word_start[column];
    high = ${p}_word_start[column + 1];
    while (low < high) {
        middle = low + (high - low) / 2;
        shared = length < ${p}_word_length[middle] ? length : ${p}_word_length[middle];
        order = shared ? memcmp(${p}_word[middle], text, shared) : 0;
        if (order == 0 && ${p}_word_length[middle] == length)
            return (double)${p}_word_code[middle];
        if (order < 0 || (order == 0 && ${p}_word_length[middle] < length))
            low = middle + 1;
        else
            high = middle;
    }
@end
@if not words
    (void)column;
    (void)text;
    (void)length;
@end
    return -1.0;
}

/* The code of a category that is a number, or 0 or 1 for false and true; NAN for NAN. */
double ${p}_code_of_number(int column, double number)
{
@if numbers
    int32_t low, high, middle;
    if (number != number)
        return NAN;
    if (column < 0 || column >= ${P}_COLUMNS)
        return -1.0;
    low = ${p}_number_start[column];
    high = ${p}_number_start[column + 1];
    while (low < high) {
        middle = low + (high - low) / 2;
        if (${p}_number[middle] == number)
            return (double)${p}_number_code[middle];
        if (${p}_number[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return -1.0;
@end
@if not numbers
    (void)column;
    return number != number ? NAN : -1.0;
@end
}
@if coded

@if merges_unseen
/* The code in a categorical column; for a category not seen in training, that of the rare categories, or 0. */
@end
@if not merges_unseen
/* The code in a categorical column: 0 for a category not seen in training. */
@end
static uint32_t ${p}_level(int32_t column, double value)
{
    if (!(value >= 1.0 && value <= (double)${p}_n_levels[column]) || value != (double)(uint32_t)value)
@if merges_unseen
        return ${p}_unseen_level[column];
@end
@if not merges_unseen
        return 0;
@end
    return (uint32_t)value;
}
@end
@if refuses

static int ${p}_is_refused(const double *row)
{
    int32_t i;
    for (i = 0; i < ${P}_COLUMNS; i++) {
@if refuses_missing
        if (row[i] != row[i])
            return 1;
@end
@if refuses_unknown
        if (${p}_n_levels[i] >= 0 && row[i] == row[i] && ${p}_level(i, row[i]) == 0)
            return 1;
@end
    }
    return 0;
}
@end

/* Where a row goes from a step; an end leads to itself. */
static int32_t ${p}_next(int32_t at, const double *row)
{
    const double value = row[${p}_column[at]];
@if tables
    int32_t low, high, middle;
    uint32_t code;
@end
    if (value != value)
        return ${p}_missing[at];
@if tables
    low = ${p}_table_start[at];
    high = ${p}_table_start[at + 1];
    if (low < high) {
        code = ${p}_level(${p}_column[at], value);
        if (code == 0)
@if stops
            return ${p}_unknown[at];
@end
@if not stops
            return ${p}_missing[at];
@end
        while (low < high) {
            middle = low + (high - low) / 2;
            if (${p}_table_code[middle] == code)
                return ${p}_table_to[middle];
            if (${p}_table_code[middle] < code)
                low = middle + 1;
            else
                high = middle;
        }
        return ${p}_other[at];
    }
@end
    return value > ${p}_threshold[at] ? ${p}_high[at] : ${p}_low[at];
}

static int32_t ${p}_end(int32_t at, const double *row)
{
    int32_t to = ${p}_next(at, row);
    while (to != at) {
        at = to;
        to = ${p}_next(at, row);
    }
    return at;
}
"""
