# SPDX-License-Identifier: BSD-3-Clause
"""Methods, depths and attributes compared: cross-validation on shared folds, the choice of a depth, scores of
attributes at the root, importance by permutation.

Public surface: `compare_methods`, `select_depth`, `rank_attributes` and `permutation_importance`, which `fasttree`
offers under these names.
"""
