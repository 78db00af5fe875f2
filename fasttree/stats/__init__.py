# SPDX-License-Identifier: BSD-3-Clause
"""Formulas on counts and predictions, with the same digits on every processor.

Public surface: `measures` (how good an attribute is) and `metrics` (how good predictions are), which `fasttree`
offers under these names.
"""
