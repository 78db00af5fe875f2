# SPDX-License-Identifier: BSD-3-Clause
"""How the split of a node is chosen among the best splits of the attributes, where the criterion alone does not
decide: by price, by C4.5's rules, by message length, by measures that allow for chance.

Public surface: `costs`, which `fasttree` offers under this name.
"""
