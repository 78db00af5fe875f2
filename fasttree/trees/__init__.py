# SPDX-License-Identifier: BSD-3-Clause
"""A fitted tree: its arrays, the checks of what has to hold of them, walks over them, predictions by them, and the
view of a tree that drawings and exports are given.

Public surface: `Tree` in `tree`, `ReadPolicy` and `leaves_of` in `predict`, `Exportable` in `view`.
"""
