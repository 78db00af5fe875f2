# SPDX-License-Identifier: BSD-3-Clause
"""Benchmarks of fasttree. `python -m benchmarks.compare --help` is the place to start."""
