# SPDX-License-Identifier: BSD-3-Clause
"""A tree as a checkpoint of treelite 4, in double precision.

treelite splits in two, and knows sets of categories; so a split into more branches becomes several. Categories are
numbered 0, 1, ... What else a user of the file must know is in its attributes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from fasttree.base.values import to_python
from fasttree.export.category_keys import codes_by_branch, plain_json
from fasttree.trees.view import Exportable, Test

REFUSED = -1  # the class of rows that the model refuses; their probabilities are NaN

Node = tuple[str, dict[str, Any]]  # a method of treelite's ModelBuilder and what it is given


def export(model: Exportable) -> bytes:
    """The file, for ``treelite.Model.deserialize_bytes``."""
    if model.shares_rows:
        raise ValueError(
            "this tree distributes rows with a missing value fractionally over branches, which treelite does not "
            "support: "
            'use format="onnx" or "c"'
        )
    if model.has_surrogates:
        raise ValueError(
            "this tree routes rows with a missing value by surrogates, which treelite does not support: "
            'use format="onnx", "c" or "pmml"'
        )
    nodes, classes = _Nodes(model).all()
    builder = _builder(model, classes)
    builder.start_tree()
    for key, (method, given) in enumerate(nodes):
        builder.start_node(key)
        getattr(builder, method)(**given)
        builder.end_node()
    builder.end_tree()
    return bytes(builder.commit().serialize_bytes())


def _builder(model: Exportable, classes: list[int]) -> Any:
    try:
        from treelite import model_builder as made
    except ImportError as error:
        raise ImportError(
            "the format 'treelite' needs the package treelite: pip install 'fasttree[treelite]'"
        ) from error
    k = model.n_classes
    return made.ModelBuilder(
        threshold_type="float64",
        leaf_output_type="float64",
        metadata=made.Metadata(
            num_feature=len(model.names),
            task_type="kMultiClf",
            average_tree_output=False,
            num_target=1,
            num_class=[k],
            leaf_vector_shape=(1, k),
        ),
        tree_annotation=made.TreeAnnotation(num_tree=1, target_id=[0], class_id=[-1]),
        postprocessor=made.PostProcessorFunc(name="identity_multiclass"),
        base_scores=[0.0] * k,
        attributes={
            "columns": list(model.names),
            "levels": [list(map(plain_json, model.levels(i))) for i in range(len(model.names))],
            "unseen_is_missing": _unseen_is_missing(model),
            **({"others": _others(model)} if model.merges else {}),
            "classes": list(map(plain_json, model.classes)),
            "class_of_node": classes,
            **({"units": model.units} if model.units else {}),
        },
    )


def _unseen_is_missing(model: Exportable) -> bool:
    """Is a level that was not seen in training given as NaN? If not, as the number of levels."""
    return model.unknown == "missing" and model.allow_missing


def _others(model: Exportable) -> list[list[Any] | None]:
    """For each column the levels of few rows, which have the number of its last level; None: it has none. So has a
    level that was not seen in training, if the model takes these for missing elsewhere."""
    return [
        None if a.others is None else [plain_json(to_python(level)) for level in a.others]
        for a in model.attributes
    ]


class _Nodes:
    """The nodes of the file, level by level. The number of a node is given when its parent is written."""

    def __init__(self, model: Exportable) -> None:
        self.model = model
        self.nodes: list[Node] = []
        self.classes: list[int] = []  # of each node; 0 where there is a test
        self.waiting: deque[tuple[Any, ...]] = deque()
        self.n_numbers = 0

    def all(self) -> tuple[list[Node], list[int]]:
        self.later(self.check, 0)
        while self.waiting:
            write, *given = self.waiting.popleft()
            write(*given)
        return self.nodes, self.classes

    def later(self, *what: Any) -> int:
        """The number of a node that is still to be written."""
        self.waiting.append(what)
        self.n_numbers += 1
        return self.n_numbers - 1

    def leaf(self, node: int) -> None:
        self.nodes.append(("leaf", {"leaf_value": self.model.tree.proba[node].tolist()}))
        self.classes.append(int(self.model.decision[node]))

    def refusal(self) -> None:
        self.nodes.append(("leaf", {"leaf_value": [np.nan] * self.model.n_classes}))
        self.classes.append(REFUSED)

    def test(
        self, method: str, attribute: int, default_left: bool, low: int, high: int, **given: Any
    ) -> None:
        given |= {"left_child_key": low, "right_child_key": high}
        self.nodes.append(
            (method, {"feature_id": attribute, "default_left": default_left, **given})
        )
        self.classes.append(0)

    def threshold(
        self, attribute: int, sign: str, value: float, default_left: bool, low: int, high: int
    ) -> None:
        self.test(
            "numerical_test", attribute, default_left, low, high, opname=sign, threshold=value
        )

    def check(self, attribute: int) -> None:
        """What the model refuses in any column ends before the root."""
        model = self.model
        while attribute < len(model.names):
            refuses_unknown = (
                model.unknown == "error" and model.attributes[attribute].is_categorical
            )
            if refuses_unknown or not model.allow_missing:
                limit = float(len(model.levels(attribute))) if refuses_unknown else np.inf
                low, high = self.later(self.check, attribute + 1), self.later(self.refusal)
                sign = "<" if refuses_unknown else "<="
                self.threshold(attribute, sign, limit, model.allow_missing, low, high)
                return
            attribute += 1
        self.node(0)

    def node(self, node: int) -> None:
        if self.model.is_leaf(node):
            self.leaf(node)
            return
        test = self.model.test(node)
        if not test.is_table:
            low, high = (self.later(self.node, child) for child in test.children)
            self.threshold(
                test.attribute, "<=", test.threshold, test.missing_branch == 0, low, high
            )
        elif self.model.stops_at_unknown:
            limit = float(len(self.model.levels(test.attribute)))
            low, high = self.later(self.branches, test), self.later(self.leaf, node)
            self.threshold(test.attribute, "<", limit, True, low, high)
        else:
            self.branches(test)

    def branches(self, test: Test) -> None:
        """All branches of a table. The last is the one to which levels fall through that no list names."""
        model = self.model
        if _unseen_is_missing(model) or model.unknown != "missing":
            codes = codes_by_branch(test.branch_of, test.n_branches)
            last = test.default_branch
        else:  # missing values are refused, but unseen levels go their way
            codes, last = test.levels(len(model.levels(test.attribute))), test.missing_branch
        order = sorted(range(test.n_branches), key=lambda branch: branch == last)
        self.halves(test, order, codes)

    def halves(self, test: Test, order: Sequence[int], codes: Sequence[list[int]]) -> None:
        """The branches of a table that are left: a test whether it is one of the first half."""
        if len(order) == 1:
            self.node(test.first_child + order[0])
            return
        first, second = order[: len(order) // 2], order[len(order) // 2 :]
        low, high = (
            self.later(self.halves, test, first, codes),
            self.later(self.halves, test, second, codes),
        )
        listed = [code - 1 for branch in first for code in codes[branch]]
        self.test(
            "categorical_test",
            test.attribute,
            test.missing_branch in first,
            low,
            high,
            category_list=listed,
            category_list_right_child=False,
        )  # fmt: skip
