# SPDX-License-Identifier: BSD-3-Clause
"""Classification or regression: what a target asks for, if the command line does not say it."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

from fasttree.base.wording import near
from fasttree.cli.errors import DataError, UsageError

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

    is_integer, is_float = pa.types.is_integer(y.type), pa.types.is_floating(y.type)
    if said == REGRESSION and not (is_integer or is_float or pa.types.is_boolean(y.type)):
        raise UsageError(
            f"--task regression: the target is {y.type}, not numbers: leave --task out"
        )
    if said is not None:
        return Task(said, "--task says so")
    if not (is_integer or is_float):
        return Task(CLASSIFICATION, "the target is not numeric")
    if is_float and not pc.all(pc.equal(y, pc.round(y))).as_py():
        return Task(REGRESSION, "the target has numbers with a fraction")
    if of_classes_only:
        return Task(CLASSIFICATION, "the method predicts classes")
    n_values = len(y.unique())
    numbers = f"{n_values:,} distinct whole number{'' if n_values == 1 else 's'}"
    if n_values <= MOST_CLASSES:
        doubt = f"the target has {numbers}, which are taken for classes: --task regression predicts numbers instead"
        return Task(CLASSIFICATION, f"the target has {numbers}", doubt)
    doubt = f"the target has {numbers}, which are predicted as numbers: --task classification takes them for classes"
    return Task(REGRESSION, f"the target has {numbers}", doubt)


def check_classes(y: Any, target: str, command: str) -> None:
    """For commands that know classes alone: refuses numbers with fractions, and warns of very many whole numbers."""
    task = task_of(y, None, of_classes_only=False)
    if task.name != REGRESSION:
        return
    if task.doubt is None:
        raise UsageError(
            f"--target {target}: {task.why}, but {command} knows classes only: name another column, or predict numbers "
            "with fasttree train"
        )
    warn_of_guess(task._replace(doubt=f"{task.why}, and {command} takes each of them for a class"))


def check_text(y: Any, target: str) -> None:
    """Refuses a target of text that is nearly all numbers: a stray word would make hundreds of classes of them."""
    import pyarrow as pa

    from fasttree.tables.doubts import odd_among_numbers

    if not (pa.types.is_string(y.type) or pa.types.is_large_string(y.type)):
        return
    counts = y.value_counts()
    labels = counts.field(0).to_pylist()
    odd = odd_among_numbers(labels, counts.field(1).to_numpy())
    if len(labels) <= MOST_CLASSES or odd is None:
        return
    if not odd:
        raise DataError(
            f"the target {target!r} is text such as {labels[0]!r}, which looks like a number: give its decimal sign "
            "(--decimal ,), or take the texts for classes (--task classification)"
        )
    raise DataError(
        f"the target {target!r} has {len(labels) - len(odd):,} distinct numbers, but also the text {labels[odd[0]]!r}: "
        "correct or leave out such rows, or take all of them for classes (--task classification)"
    )


def warn_of_guess(task: Task) -> None:
    """A warning, if the task was guessed and may be another."""
    if task.doubt is not None:
        from fasttree.tables.doubts import DataWarning

        warnings.warn(task.doubt, DataWarning, stacklevel=2)
