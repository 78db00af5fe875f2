# SPDX-License-Identifier: BSD-3-Clause
"""One tree from an encoded table, level by level: the search for splits, the choice among them, the partition of
the rows, and the arrays of the tree that comes of it.

Public surface: `grow` and `score_root` in `grow`.
"""
