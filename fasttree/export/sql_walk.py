# SPDX-License-Identifier: BSD-3-Clause
"""A tree that sends rows down several branches: its tests are a table, and the way of the rows a recursive query.

A level is its code here, 1 + its place among the levels; an unknown one is -1 where it ends the way of a row,
else NULL. A way that ends at a node with a test is marked by the number -1 - node.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fasttree.export.flat_steps import parts_of
from fasttree.trees.class_shares import SHARE_STEPS
from fasttree.trees.decide import CLASS_TIE
from fasttree.trees.traversal import printed_order
from fasttree.trees.view import Exportable

if TYPE_CHECKING:
    from fasttree.export.sql import Query

WHOLE = 1.5 * 2.0**52  # a double of this size is a whole number: adding it rounds


def walk(query: Query) -> str:
    model, d = query.model, query.dialect
    if model.has_surrogates:
        raise ValueError(
            'SQL export is not supported for trees with both surrogates and fractional rows: export to "python" '
            'or "json"'
        )
    coded = ["place", *query.kept, *(_code(query, place) for place in model.used)]
    coded += ["refused"] if query.refusals else []
    value = " ".join(f"WHEN {a} THEN r.{query.attributes[a]}" for a in model.used)
    value = f"CASE t.attribute {value} END"
    start = f"SELECT place, 0, {d.one()}, 0 FROM rows_coded"
    start += " WHERE refused = 0" if query.refusals else ""
    step = f"""\
SELECT
    w.place,
    CASE
      WHEN p.child IS NOT NULL THEN p.child
      WHEN {value} IS NULL THEN t.missing
      WHEN t.is_table = 0 THEN t.child + CASE WHEN {value} <= t.threshold THEN 0 ELSE 1 END
      WHEN {value} = -1 THEN -1 - w.node
      ELSE COALESCE(c.child, t.other)
    END,
    w.share * COALESCE(p.share, {d.one()}),
    CASE WHEN p.child IS NULL THEN w.is_shared ELSE 1 END
  FROM walk AS w
  JOIN rows_coded AS r ON r.place = w.place
  JOIN tests AS t ON t.node = w.node
  LEFT JOIN levels AS c ON c.node = w.node AND c.code = {value}
  LEFT JOIN parts AS p ON p.node = w.node AND {value} IS NULL"""
    parts = [
        ("rows_read", query.reading(numbered=True)),
        ("rows_coded", f"SELECT {', '.join(coded)}\n  FROM rows_read"),
        ("tests(node, attribute, is_table, threshold, child, other, missing)", _tests(query)),
        ("levels(node, code, child)", _levels(model)),
        ("parts(node, child, share)", _parts(query)),
        ("ends(node, leaf, class, place_in_sum, " + _each(model, "p{0}") + ")", _ends(query)),
        ("walk(place, node, share, is_shared)", f"{start}\n  UNION ALL\n  {step}"),
        *_sums(query),
    ]
    said = query.with_parts(parts, recursive=True).replace(
        f"is_shared) AS {d.materialized}(", "is_shared) AS ("
    )
    selected = query.answer(_label(query), "s.leaf", "s.s")
    listed = ",\n".join(f"  {item}" for item in selected)
    return (
        f"{said}\nSELECT\n{listed}\nFROM rows_read AS r LEFT JOIN sums AS s ON s.place = r.place;\n"
    )


def _code(query: Query, place: int) -> str:
    """An attribute as a number."""
    column, attribute = query.attributes[place], query.model.attributes[place]
    if attribute.time is not None:
        return f"{query.dialect.microseconds_of(attribute.name, column)} AS {column}"
    if not attribute.is_categorical:
        return column
    levels = query.model.codes(place)
    whens = " ".join(f"WHEN {query.dialect.literal(v)} THEN {c}" for v, c in levels)
    unknown = "-1" if query.model.stops_at_unknown else str(query.model.unseen(place) or "NULL")
    return f"CASE WHEN {column} IS NULL THEN NULL ELSE CASE {column} {whens} ELSE {unknown} END END AS {column}"


def _tests(query: Query) -> str:
    rows = []
    for node in np.flatnonzero(~query.model.tree.is_leaf()).tolist():
        test = query.model.test(node)
        first = test.first_child
        threshold = 0.0 if test.is_table else test.threshold
        rows.append(
            f"({node}, {test.attribute}, {int(test.is_table)}, {query.dialect.number(threshold)}, {first}, "
            f"{first + test.default_branch}, {first + test.missing_branch})"
        )
    return _values(rows)


def _levels(model: Exportable) -> str:
    rows = ["(-1, 0, 0)"]  # never empty
    for node in np.flatnonzero(model.tree.is_table()).tolist():
        test = model.test(node)
        rows += [f"({node}, {c}, {test.first_child + b})" for c, b in test.branch_of.items()]
    return _values(rows)


def _parts(query: Query) -> str:
    parts, parent = parts_of(query.model).tolist(), query.model.tree.parent.tolist()
    return _values(
        [
            f"({parent[child]}, {child}, {query.dialect.number(part)})"
            for child, part in enumerate(parts)
            if part > 0
        ]
    )


def _ends(query: Query) -> str:
    """The ends with their places in the sums: depth first, the branches in their order."""
    model = query.model
    is_leaf, ends = model.tree.is_leaf(), np.flatnonzero(model.ends)
    rows = []
    for place, node in enumerate(ends[np.argsort(printed_order(model.tree)[ends])].tolist()):
        number = node if is_leaf[node] else -1 - node
        shares = ", ".join(map(query.dialect.number, model.tree.proba[node].tolist()))
        rows.append(f"({number}, {node}, {int(model.decision[node])}, {place}, {shares})")
    return _values(rows)


def _values(rows: list[str]) -> str:
    return "VALUES\n    " + ",\n    ".join(rows)


def _sums(query: Query) -> list[tuple[str, str]]:
    """The ends of each row, and the sums over them: in one order, since sums of floats depend on it."""
    model, d = query.model, query.dialect
    top = "MAX(w.share) OVER (PARTITION BY w.place) AS top"
    shares = _each(model, "w.share * e.p{0} AS x{0}")
    found = (
        f"SELECT w.place, w.share, w.is_shared, e.leaf, e.class, e.place_in_sum, {top}, {shares}"
    )
    reached = ("reached", f"{found}\n  FROM walk AS w JOIN ends AS e ON e.node = w.node")
    leaf = f"MIN(CASE WHEN share >= top - {d.number(CLASS_TIE)} THEN leaf END) AS leaf"
    single = "MAX(is_shared) AS is_shared, MIN(class) AS class"
    if d.orders_sums:
        sums = _each(model, "SUM(x{0} ORDER BY place_in_sum) AS s{0}")
        body = f"SELECT place, {leaf}, {single}, {sums}\n  FROM reached GROUP BY place"
        return [reached, ("added", body), *_evened(query)]
    window = "OVER (PARTITION BY place ORDER BY place_in_sum ROWS UNBOUNDED PRECEDING)"
    back = "ROW_NUMBER() OVER (PARTITION BY place ORDER BY place_in_sum DESC) AS back"
    running = f"SELECT place, share, is_shared, leaf, class, top, {back}, "
    running += _each(model, f"SUM(x{{0}}) {window} AS s{{0}}")
    last = _each(model, "MAX(CASE WHEN back = 1 THEN s{0} END) AS s{0}")
    body = f"SELECT place, {leaf}, {single}, {last}\n  FROM running GROUP BY place"
    return [reached, ("running", f"{running}\n  FROM reached"), ("added", body), *_evened(query)]


def _evened(query: Query) -> list[tuple[str, str]]:
    """Sums of shares to the nearest step; those that rounding alone keeps below the largest equal it."""
    model, d = query.model, query.dialect
    steps = d.number(SHARE_STEPS)
    settled = _each(
        model,
        f"CASE WHEN is_shared = 1 THEN ((s{{0}} * {steps} + {d.number(WHOLE)}) - {d.number(WHOLE)}) / {steps} "
        "ELSE s{0} END AS s{0}",
    )
    largest = _of_all(d.greatest, [f"s{c}" for c in range(model.n_classes)])
    limit = f"most - {d.number(CLASS_TIE)}"
    sums = _each(
        model, f"CASE WHEN is_shared = 1 AND s{{0}} >= {limit} THEN most ELSE s{{0}} END AS s{{0}}"
    )
    return [
        ("settled", f"SELECT place, leaf, is_shared, class, {settled}\n  FROM added"),
        ("topped", f"SELECT settled.*, {largest} AS most\n  FROM settled"),
        ("sums", f"SELECT place, leaf, is_shared, class, most, {sums}\n  FROM topped"),
    ]


def _label(query: Query) -> str:
    """The class of a row: that of its end, or of the sums if it has been shared out."""
    model, d = query.model, query.dialect
    order, cost = model.tie_order, model.cost
    if cost is None:
        tests = [f"s.s{c} = s.most" for c in order]
    else:
        amount = [
            "("
            + " + ".join(f"s.s{t} * {d.number(float(cost[t, c]))}" for t in range(model.n_classes))
            + ")"
            for c in range(model.n_classes)
        ]
        limit = f"{_of_all(d.least, amount)} * {d.number(1 + CLASS_TIE)}"
        tests = [f"{amount[c]} <= {limit}" for c in order]
    by_sums = [f"WHEN {test} THEN {c}" for c, test in zip(order, tests, strict=True)]
    number = f"CASE WHEN s.is_shared = 0 THEN s.class {' '.join(by_sums)} END"
    labels = " ".join(f"WHEN {c} THEN {query.label(c)}" for c in range(model.n_classes))
    return f"CASE {number} {labels} END"


def _of_all(function: str, amounts: list[str]) -> str:
    return f"{function}({', '.join(amounts)})" if len(amounts) > 1 else amounts[0]


def _each(model: Exportable, item: str) -> str:
    return ", ".join(item.format(c) for c in range(model.n_classes))
