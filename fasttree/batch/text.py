# SPDX-License-Identifier: BSD-3-Clause
"""The words that stand for a missing value in the text of data files."""

from fasttree.files.text import NULL_SPELLINGS

__all__ = ["NULL_SPELLINGS"]
