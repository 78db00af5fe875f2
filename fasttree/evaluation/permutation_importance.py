# SPDX-License-Identifier: BSD-3-Clause
"""Importance by permutation: how much worse a model does on rows whose values of a column have been shuffled.

A shuffle does not depend on the order of the rows. Each row has a hash of its values and class, of equal rows each its
own: these put the rows in one order. A hash of that hash, the seed, the name of the column and the number of the
repeat puts them in another. The first row of the one order is given the value of the first of the other, and so on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from fasttree.base.checks import check_integer, check_n_jobs, check_seed
from fasttree.base.hints import check_choice
from fasttree.base.sums import total
from fasttree.base.threads import ThreadTeam
from fasttree.base.values import short_repr, to_python
from fasttree.encoding.folds import value_hashes, with_classes
from fasttree.estimators.answers import Answers, answers_of
from fasttree.evaluation.importance_table import METRICS, Importances, Metric
from fasttree.tables.factors import check_same_kind, places_among
from fasttree.tables.fitted import read_table_for_schema
from fasttree.tables.training import Column, Table, read_target, read_weights

MOST_COPIES = 2**24  # of rows of whole weight


def permutation_importance(
    model: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    metric: str = "accuracy",
    repeats: int = 10,
    together: Mapping[str, Any] | None = None,
    random_state: int | None = None,
    n_jobs: int | None = None,
) -> Importances:
    """Measure how much worse a fitted model predicts if the values of a column are shuffled among the rows.

    Pass rows that were not used to fit the model: on the training rows, noise that a tree has overfitted looks
    important. If several columns contain the same information, each may look unimportant, because the others remain:
    shuffle them `together`.

    The shuffles depend neither on the order of the rows nor on `n_jobs`.

    Parameters
    ----------
    model
        A fitted estimator of fasttree, or a list of rules.
    X, y
        Rows as for `predict`, any kind of table, and their classes.
    sample_weight : array
        A row of integer weight w counts as w copies, each of which receives a value of its own; a row of weight 0 is
        ignored. If any weights are not integers, each row receives one value, and counts by its weight.
    metric : {"accuracy", "auc", "log_loss", "brier"}, default="accuracy"
        The metric, see `fasttree.metrics`. The importance is positive if the metric gets worse.
    repeats : int, default=10
        Shuffles of each column.
    together : dict from name to list of columns, or None
        Columns, by name or index, that are shuffled as one: a row receives all of their values from the same other row.
        All other columns are shuffled one at a time.
    random_state : int or None
        The seed of the shuffles. None is 0.
    n_jobs : int or None
        The number of threads, as in joblib.

    >>> import fasttree
    >>> X, y = fasttree.datasets.play_tennis()
    >>> model = fasttree.ID3Classifier(max_depth=1).fit(X, y)
    >>> fasttree.permutation_importance(model, X, y, repeats=5)
    How far the accuracy falls from 0.7143 on 14 rows; mean (standard deviation) of 5 shuffles
    <BLANKLINE>
    column            importance
    Outlook      0.2286 (0.0782)
    Temperature  0.0000 (0.0000)
    Humidity     0.0000 (0.0000)
    Wind         0.0000 (0.0000)
    """
    answers = answers_of(model)
    chosen = _read_metric(metric)
    n_repeats = check_integer("repeats", repeats, 1)
    seed, n_jobs = check_seed(random_state), check_n_jobs(n_jobs)
    table = read_table_for_schema(X, answers.schema, type(model).__name__, answers.unknown)
    columns = _read_together(together, answers.schema.names)
    codes = _class_codes(y, table.n_rows, answers, chosen)
    weight = read_weights(sample_weight, table.n_rows)
    n_rows = table.n_rows if weight is None else int(np.count_nonzero(weight))
    table, codes, weight = _copied(_in_columns(table), codes, weight)

    def score(rows: Table) -> float:
        found = answers.score(rows, chosen.takes_shares)
        answer = found.shares if chosen.takes_shares else found.classes
        return chosen.of_rows(codes, answer, weight)

    as_it_is = score(table)
    if np.isnan(as_it_is):
        raise ValueError(
            f"metric={metric!r} is undefined, since y has only one class: use metric='accuracy'"
        )
    hashes = _row_hashes(table, codes, weight)
    receivers = np.argsort(hashes, kind="stable")
    values = np.empty((len(columns), n_repeats))
    names = tuple(columns)

    def work(worker: int, task: int) -> None:
        place, repeat = divmod(task, n_repeats)
        said = f"{seed} {repeat} {names[place]}".encode("utf-8", "surrogatepass")
        key = int.from_bytes(hashlib.blake2b(said, digest_size=8).digest(), "little")
        giver = np.empty(len(hashes), dtype=np.int64)
        giver[receivers] = np.argsort(value_hashes([hashes], len(hashes), key), kind="stable")
        shuffled = score(_shuffled(table, columns[names[place]], giver))
        values[place, repeat] = chosen.sign * (as_it_is - shuffled)

    with ThreadTeam(n_jobs, most=values.size) as team:
        team.run(work, values.size)
    library = type(X).__module__.partition(".")[0]
    return Importances(names, values, metric, as_it_is, n_rows, library)


def _copied(
    table: Table, codes: np.ndarray, weight: np.ndarray | None
) -> tuple[Table, np.ndarray, np.ndarray | None]:
    """Rows of whole weights as often as these say, then without weights; rows of weight 0 never."""
    if weight is None:
        return table, codes, None
    rows = np.flatnonzero(weight)
    is_whole = bool((weight == np.floor(weight)).all())
    if is_whole:
        n_copies = total(weight)
        if n_copies > max(MOST_COPIES, len(weight)):
            raise ValueError(
                f"sample_weight sums to {n_copies:.6g}, but a row of integer weight w is shuffled as w copies, and the "
                f"limit is {MOST_COPIES} copies: rescale the weights to non-integers, so that each row is shuffled once"
            )
        rows = np.repeat(np.arange(len(weight)), weight.astype(np.int64))
    return table.take(rows), codes[rows], None if is_whole else weight[rows]


def _row_hashes(table: Table, codes: np.ndarray, weight: np.ndarray | None) -> np.ndarray:
    """A hash of each row, of equal rows each its own."""
    content = [*table.values(), codes, *([] if weight is None else [weight])]
    hashes = value_hashes(content, table.n_rows)
    order = np.argsort(hashes, kind="stable")
    begins = np.flatnonzero(np.diff(hashes[order], prepend=~hashes[order[:1]]))
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order)) - np.repeat(begins, np.diff(begins, append=len(order)))
    return with_classes(hashes, number)


def _in_columns(table: Table) -> Table:
    """A table column by column, so that one can be replaced without a copy of the others."""
    if table.matrix is None:
        return table
    columns = tuple(map(Column, table.names, table.matrix.T))
    return Table(table.n_rows, table.names, table.named, columns=columns)


def _shuffled(table: Table, places: list[int], giver: np.ndarray) -> Table:
    """A table where each row has, in some columns, the values of another."""
    assert table.columns is not None
    columns = list(table.columns)
    for place in places:
        columns[place] = columns[place].take(giver)
    return replace(table, columns=tuple(columns))


# -- what the user says ----------------------------------------------------------------------------------------------


def _read_metric(metric: Any) -> Metric:
    return METRICS[check_choice("metric", metric, METRICS)]


def _read_together(together: Any, names: tuple[str, ...]) -> dict[str, list[int]]:
    """The columns of each shuffle, by its name, in the order of the table."""
    if together is None:
        return {name: [place] for place, name in enumerate(names)}
    if not isinstance(together, Mapping):
        raise TypeError(
            f"together must be a dict {{name: columns shuffled as one}}, got {short_repr(together)}"
        )
    place_of: dict[Any, int] = {name: place for place, name in enumerate(names)}
    place_of |= {place: place for place in range(len(names))}
    group_of: dict[int, str] = {}
    for group, members in together.items():
        if not isinstance(group, str) or not group:
            raise TypeError(
                f"the names in together must be non-empty strings, got {short_repr(group)}"
            )
        for member in [members] if isinstance(members, (str, int)) else members:
            place = place_of.get(to_python(member)) if isinstance(member, Hashable) else None
            if place is None:
                raise ValueError(
                    f"together[{group!r}] contains {short_repr(member)}, which is not a column of the model: "
                    f"its columns are {', '.join(map(repr, names))}"
                )
            if place in group_of:
                raise ValueError(
                    f"together contains the column {names[place]!r} twice: list each column at most once"
                )
            group_of[place] = group
    found: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        group = group_of.get(place, name)
        if place not in group_of and group in together:
            raise ValueError(
                f"together uses the name {group!r} for a group, but it is the name of a column outside of the group: "
                "use another name"
            )
        found.setdefault(group, []).append(place)
    return found


def _class_codes(y: Any, n_rows: int, answers: Answers, metric: Metric) -> np.ndarray:
    """The class number of each row, -1 where the model does not know the class."""
    target = read_target(y, n_rows)
    classes = answers.schema.classes
    check_same_kind(target.classes, classes, "the model was fitted on")
    known = places_among(target.classes, classes)
    if metric.takes_shares and (known < 0).any():
        raise ValueError(
            f"y contains the class {short_repr(target.classes[int(known.argmin())])}, which was not seen at fit and "
            f"has no "
            "predicted probability: leave its rows out, or use metric='accuracy'"
        )
    return known[target.codes]
