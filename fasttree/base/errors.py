# SPDX-License-Identifier: BSD-3-Clause
"""The one error of a model that is not to be trusted, whether it comes from a file or a pickle."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np


class ModelFileError(ValueError):
    """A file or pickle does not contain a valid model. Nothing in it has been used."""


def require(holds: bool, text: str) -> None:
    if not holds:
        raise ModelFileError(text)


def require_all(holds: np.ndarray, unit: str, text: str) -> None:
    """Refuses by the first of the nodes, rules or whatever the `unit` is for which something does not hold."""
    if not holds.all():
        raise ModelFileError(f"{unit} {int(np.argmin(holds))} {text}")


class OtherVersionWarning(UserWarning):
    """A pickle of another version was read. It passed all checks."""


@contextmanager
def reading_pickle(name: str, theirs: str | None, ours: str) -> Iterator[None]:
    """Around the checks of what a pickle brings: one type of error, and a word on the version that wrote it."""
    origin = "by an unknown version of fasttree" if theirs is None else f"by fasttree {theirs}"
    remedy = (
        "unpickle it with that version, save the model to a file with its method save, and read the file with "
        "fasttree.load: unlike pickles, such files can be read by later versions"
    )
    try:
        yield
    except (ValueError, TypeError, ArithmeticError, LookupError, AttributeError) as error:
        advice = "the pickle was damaged or edited" if theirs == ours else remedy
        raise ModelFileError(
            f"this {name} was pickled {origin} and is not valid in this version, {ours}: {error}: {advice}"
        ) from None
    if theirs != ours:
        warnings.warn(
            f"this {name} was pickled {origin}, but this is version {ours}. It passes all checks, but may behave "
            f"differently: {remedy}",
            OtherVersionWarning,
            stacklevel=3,
        )
