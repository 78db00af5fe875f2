# SPDX-License-Identifier: BSD-3-Clause
"""CSV files that mean harm."""

from __future__ import annotations

import random

SIGNS = (
    b'"', b'""', b",", b";", b"\t", b"\n", b"\r", b"\r\n", b"\0", b"\xff", b"\xef\xbb\xbf", b"\xc3", b"'", b" ",
    b"NaN", b"inf", b"-0", b"1e999", b"0x1", b"1_0", b"99999999999999999999", b"1e-400", b"\xe2\x80\xa8",
    b'"a\nb"', b"x" * 3000, b"\\", b"\x1a", b"None", b"TRUE", b"2020-01-01", b"12:30", b"size", b"Site", b",,,,",
)  # fmt: skip


def hostile_csv(rng: random.Random, text: bytes) -> bytes:
    """Signs that mean something, anywhere."""
    for _ in range(rng.choice((1, 1, 2, 5, 30))):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(SIGNS) + text[at + rng.choice((0, 0, 1, 3)) :]
    return text
