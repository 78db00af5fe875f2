# SPDX-License-Identifier: BSD-3-Clause
"""scikit-learn's tree, scored by onnxruntime: what teams do who find scikit-learn too slow."""

from __future__ import annotations

from typing import Any

import numpy as np


class OnnxTree:
    """Fits scikit-learn's tree, writes it as an ONNX tree ensemble in float32 and scores that."""

    def __init__(self, tree: Any, threads: int) -> None:
        self.tree = tree
        self.threads = threads

    def fit(self, X: Any, y: Any) -> OnnxTree:
        import onnxruntime

        self.tree.fit(X, y)
        self.classes_ = self.tree.classes_
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.threads
        self.session = onnxruntime.InferenceSession(
            _model(self.tree), options, providers=["CPUExecutionProvider"]
        )
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return self.session.run(["shares"], {"X": X})[0]

    def predict(self, X: Any) -> np.ndarray:
        return self.classes_[self.predict_proba(np.asarray(X, np.float32)).argmax(axis=1)]

    def get_n_leaves(self) -> int:
        return int(self.tree.get_n_leaves())

    def get_depth(self) -> int:
        return int(self.tree.get_depth())


def _model(fitted: Any) -> bytes:
    from onnx import TensorProto, helper

    tree = fitted.tree_
    numbers = list(range(tree.node_count))
    leaves = np.flatnonzero(tree.children_left < 0)
    modes = np.where(tree.children_left < 0, "LEAF", "BRANCH_LEQ").tolist()
    shares = tree.value[leaves, 0]
    n_classes = shares.shape[1]
    ensemble = helper.make_node(
        "TreeEnsembleClassifier",
        ["X"],
        ["label", "shares"],
        domain="ai.onnx.ml",
        nodes_treeids=[0] * len(numbers),
        nodes_nodeids=numbers,
        nodes_featureids=np.maximum(tree.feature, 0).tolist(),
        nodes_modes=modes,
        # scikit-learn compares float32 values with float64 thresholds: rounded down, they part the same values.
        nodes_values=_rounded_down(tree.threshold).tolist(),
        nodes_truenodeids=np.maximum(tree.children_left, 0).tolist(),
        nodes_falsenodeids=np.maximum(tree.children_right, 0).tolist(),
        class_treeids=[0] * (len(leaves) * n_classes),
        class_nodeids=np.repeat(leaves, n_classes).tolist(),
        class_ids=np.tile(np.arange(n_classes), len(leaves)).tolist(),
        class_weights=shares.ravel().astype(np.float32).tolist(),
        classlabels_int64s=list(range(n_classes)),
        post_transform="NONE",
    )
    graph = helper.make_graph(
        [ensemble],
        "tree",
        [helper.make_tensor_value_info("X", TensorProto.FLOAT, [None, fitted.n_features_in_])],
        [
            helper.make_tensor_value_info("label", TensorProto.INT64, [None]),
            helper.make_tensor_value_info("shares", TensorProto.FLOAT, [None, n_classes]),
        ],
    )
    opsets = [helper.make_opsetid("ai.onnx.ml", 3), helper.make_opsetid("", 18)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()


def _rounded_down(threshold: np.ndarray) -> np.ndarray:
    rounded = threshold.astype(np.float32)
    above = rounded > threshold
    rounded[above] = np.nextafter(rounded[above], np.float32(-np.inf))
    return rounded
