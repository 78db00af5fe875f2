# SPDX-License-Identifier: BSD-3-Clause
"""Studies: what the library is for, from a table to the numbers of a report.

`fasttree.studies.cesarean.run()` compares the tree methods with logistic regression on a cohort of deliveries, or on a
table of yours. Everything that it finds is in a `StudyResult`; how that is shown is decided elsewhere.
"""
