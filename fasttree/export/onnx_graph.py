# SPDX-License-Identifier: BSD-3-Clause
"""ONNX graphs, an operator at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

OPSET, ML_OPSET, IR_VERSION = 18, 4, 9
ML = "ai.onnx.ml"

Input = str | np.generic | np.ndarray  # the name of a value, or a constant


def onnx_library() -> Any:
    try:
        import onnx
    except ImportError as error:
        raise ImportError(
            "the format 'onnx' needs the package onnx: pip install 'fasttree[onnx]'"
        ) from error
    return onnx


class Graph:
    """A graph that is being written. Methods take and return names of values; `body` is a graph within this one, which
    sees its values."""

    def __init__(self, taken: Iterable[str] = (), outer: Graph | None = None) -> None:
        self.onnx = onnx_library()
        self.nodes: list[Any] = []
        self._outer = outer
        self._taken = set(taken)
        self._constants: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self._tensors: list[Any] = []
        self._n_names = 0

    def body(self) -> Graph:
        return Graph(outer=self)

    def new_name(self) -> str:
        if self._outer is not None:
            return self._outer.new_name()
        while True:
            self._n_names += 1
            name = f"v{self._n_names}"
            if name not in self._taken:
                return name

    def constant(self, values: Any) -> str:
        """Numbers, or an array of text."""
        if self._outer is not None:
            return self._outer.constant(values)
        array = np.asarray(values)
        if array.dtype.kind in "OU":
            return self._keep(self._text(array))
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._constants:
            tensor = self.onnx.numpy_helper.from_array(
                np.ascontiguousarray(array).reshape(array.shape)
            )
            self._constants[key] = self._keep(tensor)
        return self._constants[key]

    def _keep(self, tensor: Any) -> str:
        tensor.name = self.new_name()
        self._tensors.append(tensor)
        return str(tensor.name)

    def _text(self, array: np.ndarray) -> Any:
        data = [text.encode() for text in array.ravel().tolist()]
        return self.onnx.helper.make_tensor("", self.onnx.TensorProto.STRING, array.shape, data)

    def tensor(self, values: Any) -> Any:
        """As an attribute of an operator."""
        array = np.asarray(values)
        if array.dtype.kind in "OU":
            return self._text(array)
        return self.onnx.numpy_helper.from_array(array)

    def op(
        self, kind: str, *inputs: Input, domain: str = "", name: str = "", **attributes: Any
    ) -> str:
        """An operator. Inputs that are no names of values become constants."""
        return self.ops(kind, 1, *inputs, domain=domain, name=name, **attributes)[0]

    def ops(
        self, kind: str, n: int, *inputs: Input, domain: str = "", name: str = "", **attributes: Any
    ) -> list[str]:
        """An operator with several outputs."""
        names = [value if isinstance(value, str) else self.constant(value) for value in inputs]
        outputs = [self.new_name() for _ in range(n)]
        self.nodes.append(
            self.onnx.helper.make_node(
                kind, names, outputs, domain=domain, name=name or outputs[0], **attributes
            )
        )
        return outputs

    # -- what is asked for again and again -------------------------------------------------------------------------

    def pick(self, values: Any, places: str) -> str:
        """values[places], rows of a constant."""
        return self.op("Gather", values, places)

    def whole(self, name: str) -> str:
        return self.op("Cast", name, to=self.onnx.TensorProto.INT64)

    def count(self, mask: str) -> str:
        """How many are true."""
        return self.op("ReduceSum", self.whole(mask), keepdims=0)

    def size(self, name: str) -> str:
        """The length of the first axis, as a list of one."""
        return self.op("Shape", name, start=0, end=1)

    def full(self, shape: str, value: Any) -> str:
        return self.op("ConstantOfShape", shape, value=self.tensor(np.array([value])))

    def look_up(self, values: str, keys: Any, found: Any, default: Any) -> str:
        """found[i] where the value is keys[i]."""
        return self.op(
            "LabelEncoder",
            values,
            domain=ML,
            keys_tensor=self.tensor(keys),
            values_tensor=self.tensor(found),
            default_tensor=self.tensor(np.array([default], dtype=np.asarray(found).dtype)),
        )

    def loop(
        self,
        body: Graph,
        most: int,
        before: Sequence[str],
        inside: Sequence[tuple[str, Any]],
        goes_on: str,
        after: Sequence[str],
    ) -> list[str]:
        """Values that change from turn to turn: `before` the loop, `inside` at the beginning of a turn (name, type) and
        `after` it."""
        helper, types = self.onnx.helper, self.onnx.TensorProto
        inputs = [
            helper.make_tensor_value_info(self.new_name(), types.INT64, []),
            helper.make_tensor_value_info(self.new_name(), types.BOOL, []),
            *(helper.make_tensor_value_info(name, kind, None) for name, kind in inside),
        ]
        outputs = [
            helper.make_tensor_value_info(goes_on, types.BOOL, []),
            *(
                helper.make_tensor_value_info(name, kind, None)
                for name, (_, kind) in zip(after, inside, strict=True)
            ),
        ]
        graph = helper.make_graph(body.nodes, "turn", inputs, outputs)
        return self.ops("Loop", len(before), np.int64(most), np.array(True), *before, body=graph)

    def model(
        self, inputs: Sequence[Any], outputs: Sequence[tuple[str, Any]], **metadata: str
    ) -> bytes:
        """The finished file. `outputs`: values, and under which names and types they are known outside."""
        for value, info in outputs:
            self.nodes.append(self.onnx.helper.make_node("Identity", [value], [info.name]))
        graph = self.onnx.helper.make_graph(
            self.nodes, "tree", list(inputs), [info for _, info in outputs], self._tensors
        )
        operators = [
            self.onnx.helper.make_opsetid("", OPSET),
            self.onnx.helper.make_opsetid(ML, ML_OPSET),
        ]
        model = self.onnx.helper.make_model(
            graph, opset_imports=operators, ir_version=IR_VERSION, producer_name="fasttree"
        )
        self.onnx.helper.set_model_props(model, metadata)
        self.onnx.checker.check_model(model)
        return bytes(model.SerializeToString())
