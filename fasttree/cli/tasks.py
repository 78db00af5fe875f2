# SPDX-License-Identifier: BSD-3-Clause
"""Classification or regression: what a target asks for, if the command line does not say it."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

from fasttree.base.wording import near
from fasttree.cli.errors import UsageError

CLASSIFICATION, REGRESSION = "classification", "regression"
TASKS = (CLASSIFICATION, REGRESSION)
MOST_CLASSES = 30  # distinct whole numbers that are taken for classes


class Task(NamedTuple):
    """What is to be predicted, and why; `doubt`: what speaks against it, if it was guessed and may be wrong."""

    name: str
    why: str
    doubt: str | None = None


def check_task(name: str | None) -> str | None:
    if name is not None and name not in TASKS:
        raise UsageError(f"--task {name!r} is not a task: {near(name, TASKS)}")
    return name


def task_of(y: Any, said: str | None, of_classes_only: bool) -> Task:
    """The task for a target, a column of Arrow. `of_classes_only`: the method that was chosen knows no other."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if said is not None:
        return Task(said, "as --task says")
    if not (pa.types.is_integer(y.type) or pa.types.is_floating(y.type)):
        return Task(CLASSIFICATION, "the target is not numeric")
    if pa.types.is_floating(y.type) and not pc.all(pc.equal(y, pc.round(y))).as_py():
        return Task(REGRESSION, "the target has numbers with a fraction")
    n_values = len(y.unique())
    if of_classes_only and pa.types.is_integer(y.type):
        return Task(CLASSIFICATION, "the method predicts classes")
    numbers = f"{n_values:,} distinct whole number{'' if n_values == 1 else 's'}"
    if pa.types.is_integer(y.type) and n_values <= MOST_CLASSES:
        doubt = f"the target has {numbers}, which are taken for classes: --task regression predicts numbers instead"
        return Task(CLASSIFICATION, f"the target has {numbers}", doubt)
    doubt = f"the target has {numbers}, which are predicted as numbers: --task classification takes them for classes"
    return Task(REGRESSION, f"the target has {numbers}", doubt)


def warn_of_guess(task: Task) -> None:
    """A warning, if the task was guessed and may be another."""
    if task.doubt is not None:
        from fasttree.tables.doubts import DataWarning

        warnings.warn(task.doubt, DataWarning, stacklevel=2)
