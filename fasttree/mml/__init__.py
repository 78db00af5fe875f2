# SPDX-License-Identifier: BSD-3-Clause
"""The message length of a tree: the bits that encode the tree and the classes of its rows, the pruning with the
shortest message, and averages over all prunings.

Public surface: `message_length` and `prune_by_length` in `message`, `choices_of` in `options`, `average_prunings`
in `averaging`.
"""
