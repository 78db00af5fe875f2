# SPDX-License-Identifier: BSD-3-Clause
"""Loops over contiguous arrays, without Python objects and without policy: the Cython and C that `fasttree._core` is
made of.

Public surface: none in Python; `_core.pyi` declares what the extension offers.
"""
