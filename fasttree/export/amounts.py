# SPDX-License-Identifier: BSD-3-Clause
"""Weights of rows in texts for people."""

from __future__ import annotations


def weight_text(weight: float) -> str:
    """Rows, of which there may be fractions. Two decimals tell a reader enough, but a small share is not nothing."""
    if 0 < weight < 0.095:
        return f"{weight:.2g}"
    return f"{weight:.2f}".rstrip("0").rstrip(".")
