# SPDX-License-Identifier: BSD-3-Clause
"""A tree for eyes: as indented text, in the terminal, as SVG, for Graphviz; and the layout that every drawing
shares.

Public surface: `to_text` in `text`, `draw` in `svg`; the formats are entries of `fasttree.export.EXPORTERS`.
"""
