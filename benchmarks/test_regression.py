# SPDX-License-Identifier: BSD-3-Clause
"""The table of regression times has a row for each library, and those that grow the same tree fit equally well."""

from benchmarks import regression


def test_a_row_for_each_library() -> None:
    head, _, *rows = regression.lines(600, repeats=1)
    assert len(rows) == sum(len(regression.models(work)) for work in regression.WORKS)
    assert {row.count("|") for row in rows} == {head.count("|")}
    r2 = {tuple(row.split(" | ")[:2]): row.split(" | ")[-1] for row in rows}
    for work in regression.WORKS[:2]:
        own = r2[f"| {work.title}", "fasttree"]
        assert own == r2[f"| {work.title}", "scikit-learn"]
