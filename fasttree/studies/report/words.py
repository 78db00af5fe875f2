# SPDX-License-Identifier: BSD-3-Clause
"""The words of a report: what a row and an event are called, and what each method does."""

from __future__ import annotations

from dataclasses import dataclass

from fasttree.studies.methods import COMPLETE, LOGISTIC, METHODS
from fasttree.studies.results import GroupResult, StudyResult

SMALL_TREE = "SMML"

IN_WORDS = {
    "ID3": "splits on the attribute with the largest information gain until no attribute is left; not pruned",
    "C4.5": "gain ratio instead of gain, handles numbers and missing values, pruned by a pessimistic error estimate",
    "CART": "binary splits by the Gini index, pruned to the smallest tree within one standard error of the best by "
    "cross-validation inside the training half",
    "CART0": "like CART, but pruned to the tree with the lowest cross-validated error",
    "Bayes": "splits by the marginal likelihood of the outcomes; its probabilities are an average over all "
    "prunings of a large tree",
    "MML": "splits by minimum message length; its probabilities are also an average over all prunings of a "
    "large tree",
    "SMML": "strict minimum message length: the single pruned tree that, encoded together with the outcomes, gives the "
    "shortest message",
    LOGISTIC: "attributes are dropped until all remaining ones have P < .05; a missing value is a separate indicator",
    COMPLETE: "the same, fitted and tested on rows without missing values only",
}
TITLES = {LOGISTIC: "logistic regression", COMPLETE: "logistic regression of complete cases"}


@dataclass(frozen=True, slots=True)
class Words:
    """How rows and events are called."""

    rows: str
    events: str
    event: str
    target: str
    with_event: str  # after a number of rows

    @classmethod
    def of(cls, result: StudyResult) -> Words:
        if result.synthetic:
            return cls("deliveries", "cesareans", "a cesarean", "cesarean delivery", "cesareans")
        shown = f"{result.target} = {result.event}"
        return cls("rows", f"rows with {shown}", shown, result.target, f"with {shown}")


def titled(method: str) -> str:
    """A method in a sentence."""
    return TITLES.get(method, method)


def small_tree(result: StudyResult, group: GroupResult) -> str | None:
    """The tree that a reader is shown first: SMML's, or that with the fewest leaves."""
    if SMALL_TREE in result.methods:
        return SMALL_TREE
    leaves = {m: group.summary(m).spreads["leaves"].mean for m in result.methods if m != LOGISTIC}
    return min(leaves, key=leaves.__getitem__) if leaves else None


def explained(result: StudyResult) -> tuple[tuple[str, str], ...]:
    """The methods of this study, each with what it does."""
    names = [name for name in METHODS if name in result.methods]
    if any(curve.method == COMPLETE for group in result.groups for curve in group.roc):
        names.append(COMPLETE)
    return tuple((name, IN_WORDS[name]) for name in names)


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def listed(words: list[str]) -> str:
    """In a sentence."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def in_words(n: int) -> str:
    return NUMBERS[n] if n < len(NUMBERS) else f"{n:,}"
