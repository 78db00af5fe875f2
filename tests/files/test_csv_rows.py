# SPDX-License-Identifier: BSD-3-Clause
"""The longest row of a CSV file, whatever it is made of."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fasttree.files.csv_rows import LongRow, longest_row


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", LongRow(1, 0, False)),
        (b"a", LongRow(1, 1, False)),
        (b"a\nbcd\nef\n", LongRow(2, 4, False)),
        (b"a\nbc\ndefg", LongRow(3, 4, False)),
        (b'a\n"b\n\nc"\nde\n', LongRow(2, 7, False)),  # quoted ends of lines end no row
        (b'a\n"b""\nc"\nde\n', LongRow(2, 8, False)),
        (b'a,long,row\nb,"c\nd\n', LongRow(2, 7, True)),
        (b'a\n"b\n"x"\nc\n', LongRow(2, 9, True)),
        (b"x" * 200_000 + b"\n" + b"y" * 300_000, LongRow(2, 300_000, False)),
    ],
)
def test_examples(text: bytes, expected: LongRow) -> None:
    assert longest_row(io.BytesIO(text)) == expected


@given(st.lists(st.text(st.sampled_from('a,"\n'), max_size=8), max_size=8))
def test_rows_that_are_well_quoted(values: list[str]) -> None:
    rows = ['"' + value.replace('"', '""') + '"\n' for value in values]
    longest = max(rows, key=len, default="")  # the first of the longest
    line = 1 + "".join(rows[: rows.index(longest)]).count("\n") if rows else 1
    found = longest_row(io.BytesIO("".join(rows).encode()))
    assert found == LongRow(line, len(longest), False)
