# SPDX-License-Identifier: BSD-3-Clause
"""What every other package builds on, and what knows neither tables nor trees: single values and times, checks of
parameters and the words for what is wrong with them, exact sums and elementary functions, ragged lists,
threads, memory, files that appear whole.

Public surface: each module is used by its own name; the package exports nothing.
"""
