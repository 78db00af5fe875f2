# SPDX-License-Identifier: BSD-3-Clause
"""From columns, weights and classes to the integers that growth works on: codes, sorted lists and weights in whole
steps; and the draws over rows that folds and held-out parts are made of.

Public surface: `Dataset` in `dataset`, `encode` and `EncodedTable` in `encode`, `IntegerWeights` in `weights`, `Folds`
in `draws`.
"""
