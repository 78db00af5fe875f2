# SPDX-License-Identifier: BSD-3-Clause
"""Models in files and pickles: what goes in comes out, and nothing else gets in."""

from __future__ import annotations

import copy
import datetime
import json
import mmap
import os
import pickle
import stat
import struct
import subprocess
import sys
import warnings
import zipfile
import zlib
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from child import run_child
from fuzz.fuzz_model_file import HARMLESS, REFUSED, VALID, originals_of, run
from fuzz.mutants import REPAIRED, close_members, close_model, open_model
from fuzz.seeds import models, rows_for, table
from fuzz.slow_validator import faults

import fasttree
from fasttree import (
    BayesTreeClassifier,
    C45Classifier,
    CARTClassifier,
    ID3Classifier,
    MMLClassifier,
    ModelFileError,
    RuleClassifier,
    SMMLClassifier,
    TreeClassifier,
    costs,
    pruning,
)
from fasttree.refusals import OtherVersionWarning

X, Y = table()
NUMBERS = np.random.default_rng(5).normal(size=(80, 3))
CODES = (NUMBERS[:, 0] + NUMBERS[:, 1] > 0).astype(int) + (NUMBERS[:, 2] > 1)

METHODS = [
    TreeClassifier(),
    TreeClassifier(max_depth=0),
    TreeClassifier(criterion="entropy", categorical_split="multiway", missing="category"),
    TreeClassifier(categorical_split="grouped", max_leaves=9, unknown="majority"),
    TreeClassifier(categorical_split="grouped", missing="fractional", max_bins=8),
    TreeClassifier(missing="surrogate", threshold="value"),
    TreeClassifier(attribute_costs={"size": 2.0}, cost_function="nunez", random_state=2**60),
    TreeClassifier(attribute_costs={"size": 2.0}, cost_function=costs.nunez(0.25)),
    TreeClassifier(class_weight={"yes": 2.5, "Ω": np.float32(0.5)}, significance=0.2),
    TreeClassifier(class_weight="balanced", min_samples_leaf=np.int64(2)),
    TreeClassifier(
        misclassification_cost={"yes": {"no": 7}}, significance=pruning.Significance(0.3)
    ),
    TreeClassifier(misclassification_cost=1 - np.eye(3), n_jobs=2),
    TreeClassifier(
        categorical_features={"flag": None, "colour": ('a,"b"\'', "grün", "red", "нет")}
    ),
    TreeClassifier(ordered_features=np.array([False, False, True, True, False])),
    ID3Classifier(),
    ID3Classifier(pruning=pruning.CrossValidated(folds=np.arange(90) % 4)),
    C45Classifier(),
    C45Classifier(pruning=pruning.ErrorBased(confidence=0.1, raising=False), compat="j48"),
    CARTClassifier(),
    CARTClassifier(pruning=pruning.CostComplexity(folds=3, se=0.0, impurity="gini")),
    CARTClassifier(pruning=pruning.ReducedError()),
    TreeClassifier(pruning="leaf_penalty"),
    TreeClassifier(pruning=pruning.MessageLength(alpha="opt")),
    SMMLClassifier(),
    MMLClassifier(alpha=1.0),
    BayesTreeClassifier(),
    RuleClassifier(),
    RuleClassifier(estimate="validation", random_state=3),
    RuleClassifier(base=CARTClassifier(pruning=None), when="not_worse"),
    RuleClassifier(base=TreeClassifier(unknown="majority", max_depth=3)),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.fasttree"


def fitted(model: Any, X: Any = X, y: Any = Y) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fold more or less is nothing here
        return copy.deepcopy(model).fit(X, y)


def assert_same(loaded: Any, model: Any, X: Any) -> None:
    """Does the loaded model all that the first one does?"""
    assert type(loaded) is type(model)
    assert repr(loaded) == repr(model)
    assert loaded.tree_ == model.tree_
    assert loaded.tree_.fingerprint() == model.tree_.fingerprint()
    assert loaded.to_text() == model.to_text()
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.n_features_in_ == model.n_features_in_
    assert hasattr(loaded, "feature_names_in_") == hasattr(model, "feature_names_in_")
    for rows in (X, rows_for(model.tree_.schema)):
        assert loaded.predict(rows).tolist() == model.predict(rows).tolist()
        assert loaded.predict_proba(rows).tobytes() == model.predict_proba(rows).tobytes()
    for name in ("trace", "path", "choice"):
        one, other = (getattr(m, f"pruning_{name}_", None) for m in (loaded, model))
        assert str(one) == str(other)
        if other is not None:
            for key, column in other.columns().items():
                assert np.array_equal(one.columns()[key], column, equal_nan=key == "alpha")
    if isinstance(model, RuleClassifier):
        assert loaded.rules_.to_json() == model.rules_.to_json()
        assert loaded.default_class_ == model.default_class_
        assert [str(rule) for rule in loaded.rules_] == [str(rule) for rule in model.rules_]
        return
    assert loaded.feature_importances_.tobytes() == model.feature_importances_.tobytes()
    assert loaded.apply(X).tolist() == model.apply(X).tolist()
    assert (loaded.decision_path(X) != model.decision_path(X)).nnz == 0
    if not model.averaged:
        assert loaded.rules().to_json() == model.rules().to_json()
        assert loaded.prune("leaf_penalty").tree_ == model.prune("leaf_penalty").tree_
    if model._choices is not None:
        assert loaded.message_length().bits == model.message_length().bits
    assert loaded.message_length(X).bits == model.message_length(X).bits


# -- there and back --------------------------------------------------------------------------------


@pytest.mark.parametrize("model", METHODS, ids=str)
def test_a_loaded_model_is_the_saved_one(model: Any, path: Path) -> None:
    model = fitted(model)
    model.save(path)
    for mapped in (False, True):
        loaded = fasttree.load(path, mmap=mapped)
        assert_same(loaded, model, X)
        loaded.save(path.with_suffix(".again"))
        assert path.with_suffix(".again").read_bytes() == path.read_bytes()
        assert_same(pickle.loads(pickle.dumps(loaded)), model, X)
    assert faults(loaded.tree_) == []


@pytest.mark.parametrize("model", METHODS, ids=str)
def test_parameters_come_back(model: Any, path: Path) -> None:
    fitted(model).save(path)
    loaded = fasttree.load(path).get_params()
    for name, value in model.get_params().items():
        if isinstance(value, np.ndarray):
            assert np.array_equal(loaded[name], value)
        elif name == "base" and value is not None:
            assert repr(loaded[name]) == repr(value)
        elif isinstance(value, pruning.CrossValidated):
            assert np.array_equal(loaded[name].folds, value.folds)
        else:
            assert loaded[name] == value
            assert type(loaded[name]) is type(value)


@pytest.mark.parametrize(
    "X",
    [
        NUMBERS,
        NUMBERS.astype(np.float32),
        NUMBERS.tolist(),
        dict(zip(["", "a b", "\x00 'quoted' \"名\" \ud800"], NUMBERS.T, strict=True)),
        {"x": NUMBERS[:, 0].tolist(), "y": ["u", "v"] * 40},
        {"empty": [None] * 80, "x": NUMBERS[:, 1]},
    ],
    ids=["numpy", "float32", "list", "odd names", "dict", "a column without values"],
)
def test_tables_with_and_without_names(X: Any, path: Path) -> None:
    model = TreeClassifier().fit(X, CODES)
    model.save(path)
    assert_same(fasttree.load(path), model, X)


DAYS = [datetime.date(2020, 1, 1), datetime.date(1999, 12, 31)]
LABELS: list[list[Any]] = [
    ["", "x"],
    ["é\u0000'\"", "\ud800"],
    [2, 1],
    [-(2**52), 2**52],
    [0.5, -0.25],
    [False, True],
    DAYS,
    [datetime.datetime(2020, 1, 1, 1, 2, 3, 4), datetime.datetime(2020, 1, 1)],
    [datetime.timedelta(1, 2, 3), datetime.timedelta(-1)],
    [Decimal("1.50"), Decimal(2)],
    [pd.Interval(0, 1), pd.Interval(1, 2.5, closed="right")],
    [frozenset({"cough"}), (1, frozenset({"fever"}))],
    [pd.Timestamp("2020-01-01 01:02:03.000000004"), pd.Timestamp("2020-01-01")],
    [pd.Timestamp("2020-01-01 10:00", tz="Europe/Berlin"), pd.Timestamp("2020-06-01", tz="UTC")],
    [pd.Timedelta("3 days 00:00:00.000000001"), pd.Timedelta(0)],
    [pd.Period("2020", "Y"), pd.Period("2021", "Y")],
    [("a", 1), ("b", 2)],
]


@pytest.mark.parametrize("labels", LABELS, ids=repr)
def test_levels_of_every_type(labels: list[Any], path: Path) -> None:
    levels = np.empty(2, dtype=object)
    levels[:] = labels
    column = fasttree.Categorical(levels[np.arange(80) % 2], labels)
    model = TreeClassifier(max_depth=2).fit({"x": column, "y": NUMBERS[:, 0]}, np.arange(80) % 2)
    model.save(path)
    loaded = fasttree.load(path)
    categories = loaded.tree_.schema.attributes[0].categories
    assert categories == tuple(labels)
    assert list(map(type, categories)) == list(map(type, labels))
    assert (
        loaded.predict({"x": column, "y": NUMBERS[:, 0]}).tolist() == (np.arange(80) % 2).tolist()
    )


@pytest.mark.parametrize(
    "y",
    [
        np.array([3, -1]),
        np.array([3, -1], dtype=">i2"),
        np.array([0, 2**64 - 1], dtype=np.uint64),
        np.array([1.0, -2.0], dtype=np.float32),
        np.array([True, False]),
        np.array(["a", "longer"]),
        np.array(["a", "b"], dtype="<U40"),
        np.array(["a", "b"], dtype=object),
        np.array(["a", "b"], dtype=np.dtypes.StringDType()),
        pd.Series(pd.cut([1, 2], [0, 1, 2])),
        pd.Categorical(["low", "high"], categories=["low", "high"], ordered=True),
    ],
    ids=lambda y: str(y.dtype),
)
def test_classes_of_every_type(y: Any, path: Path) -> None:
    y = y.take(np.arange(80) % 2)
    model = TreeClassifier(max_depth=3).fit(NUMBERS, y)
    model.save(path)
    loaded = fasttree.load(path)
    assert_same(loaded, model, NUMBERS)
    assert loaded.classes_.tolist() == model.classes_.tolist()
    assert loaded.tree_.schema.tie_order == model.tree_.schema.tie_order


def test_values_that_are_easily_lost(path: Path) -> None:
    """-0.0, infinities and numbers that need all their digits."""
    X = np.array([[-np.inf, 0.1], [-0.0, np.nextafter(0.1, 1)], [np.inf, 1e300], [5e-324, 2.0]])
    params = {"attribute_costs": [1.0, np.float64(0.1)], "cost_function": "gain_per_cost"}
    model = TreeClassifier(**params).fit(X, [0, 1, 2, 3])
    model.set_params(class_weight={0: float("inf"), 1: -0.0})
    model.save(path)
    loaded = fasttree.load(path)
    assert loaded.tree_.threshold.tobytes() == model.tree_.threshold.tobytes()
    assert repr(loaded.class_weight) == "{0: inf, 1: -0.0}"
    assert repr(loaded.attribute_costs) == repr(params["attribute_costs"])


@pytest.mark.parametrize(
    "columns",
    [
        pd.Index(["colour", "grade", "flag"]),
        dict.fromkeys(["colour", "grade", "flag"]).keys(),
        range(2, 5),
    ],
    ids=["an index", "keys", "a range"],
)
def test_what_is_as_good_as_a_list_comes_back_as_one(columns: Any, path: Path) -> None:
    model = fitted(TreeClassifier(categorical_features=list(columns)))
    model.set_params(categorical_features=columns).save(path)
    loaded = fasttree.load(path)
    assert loaded.categorical_features == list(columns)
    assert loaded.tree_ == model.tree_


def test_many_arrays_among_the_parameters(path: Path) -> None:
    rows = np.arange(90)
    splits = [(np.delete(rows, row), rows[[row]]) for row in rows]
    model = fitted(CARTClassifier(pruning=pruning.CostComplexity(folds=splits)))
    model.save(path)
    loaded = fasttree.load(path).pruning.folds
    for one, other in zip(loaded, splits, strict=True):
        assert type(one) is tuple
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_a_model_that_is_too_large_for_a_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = fitted(C45Classifier())
    for limit, match in (
        ("MOST_HEADER_BYTES", "names and labels of this model take"),
        ("MOST_MEMBERS", "arrays among its parameters"),
        ("MOST_FILE_BYTES", "more than 4 GiB"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr("fasttree.archive." + limit, 20)
            with pytest.raises(ValueError, match=match):
                model.save(path)
    assert not path.exists()
    assert os.listdir(path.parent) == []


def test_a_tree_of_ten_thousand_levels(path: Path) -> None:
    X = np.arange(10_001.0).reshape(-1, 1)
    model = TreeClassifier().fit(X, np.arange(10_001) % 2)
    assert model.get_depth() == 10_000
    model.save(path)
    loaded = fasttree.load(path, mmap=True)
    assert loaded.predict(X).tolist() == (np.arange(10_001) % 2).tolist()
    assert loaded.tree_ == pickle.loads(pickle.dumps(model)).tree_ == model.tree_


def test_ten_thousand_classes_and_levels(path: Path) -> None:
    names = [f"class {number}" for number in range(10_000)]
    X = {"x": np.arange(10_000.0), "level": names}
    model = TreeClassifier(max_depth=3, categorical_split="multiway").fit({"x": X["x"]}, names)
    model.save(path)
    assert_equal_answers(fasttree.load(path), model, {"x": X["x"]})
    model = ID3Classifier().fit(X, np.arange(10_000) % 7)
    model.save(path)
    assert_equal_answers(fasttree.load(path), model, X)


def assert_equal_answers(loaded: Any, model: Any, X: Any) -> None:
    assert loaded.tree_ == model.tree_
    assert loaded.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()


# -- the file --------------------------------------------------------------------------------------


def test_the_file_is_a_zip_that_others_read(path: Path) -> None:
    model = fitted(C45Classifier())
    model.save(path)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_STORED}
        header = json.loads(archive.read("fasttree.json"))
    assert header["class"] == "C45Classifier"
    assert header["fasttree_version"] == fasttree.__version__
    assert header["fingerprint"] == model.tree_.fingerprint()
    with np.load(path, allow_pickle=False) as arrays:
        assert np.array_equal(arrays["tree/threshold"], model.tree_.threshold, equal_nan=True)
        assert np.array_equal(arrays["tree/counts"], model.tree_.counts)


def test_every_array_begins_at_a_multiple_of_64_bytes(path: Path) -> None:
    fitted(CARTClassifier()).save(path)
    data = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            n_name, n_extra = struct.unpack_from("<2H", data, info.header_offset + 26)
            start = info.header_offset + 30 + n_name + n_extra
            assert start % 64 == 0
            if info.filename.endswith(".npy"):
                (length,) = struct.unpack_from("<H", data, start + 8)
                assert (length + 10) % 64 == 0


def test_equal_models_make_equal_files(path: Path, tmp_path: Path) -> None:
    code = """
        import sys, warnings
        warnings.simplefilter("ignore")
        sys.path[:0] = sys.argv[1:]
        from fuzz.seeds import models
        import hashlib, fasttree
        for model in models():
            model.set_params(**({"categorical_features": {"colour", "grade", "flag"}}
                                if hasattr(model, "criterion") else {}))
            model.save("model")
            print(hashlib.sha256(open("model", "rb").read()).hexdigest())
    """
    tests = str(Path(__file__).parent)
    prints = set()
    for seed in ("1", "2"):
        folder = tmp_path / seed
        folder.mkdir()
        done = subprocess.run(
            [sys.executable, "-c", "\n".join(line[8:] for line in code.splitlines()), tests],
            env=os.environ | {"PYTHONHASHSEED": seed},
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
        )
        prints.add(done.stdout)
    assert len(prints) == 1
    assert len(prints.pop().split()) == len(models())


def test_saving_replaces_a_file_only_when_it_is_whole(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    TreeClassifier(max_depth=1).fit(NUMBERS, CODES).save(path)
    before = path.read_bytes()
    larger = TreeClassifier().fit(NUMBERS, CODES)
    for function, error in (
        ("fsync", OSError(28, "No space left on device")),
        ("replace", KeyboardInterrupt()),
    ):
        with monkeypatch.context() as patched:

            def fail(*_: Any, error: BaseException = error) -> None:
                raise error

            patched.setattr(os, function, fail)
            with pytest.raises(type(error)):
                larger.save(path)
        assert path.read_bytes() == before
        assert os.listdir(path.parent) == [path.name]
    larger.save(path)
    assert fasttree.load(path).tree_ == larger.tree_


def test_a_death_while_saving_leaves_the_old_file(path: Path) -> None:
    TreeClassifier(max_depth=1).fit(NUMBERS, CODES).save(path)
    before = path.read_bytes()
    code = f"""
        import os, numpy as np, fasttree
        model = fasttree.TreeClassifier().fit(np.arange(9.0).reshape(-1, 1), np.arange(9) % 2)
        os.fsync = lambda descriptor: os._exit(0)
        model.save({os.fspath(path)!r})
        raise SystemExit(1)
    """
    run_child(code)
    assert path.read_bytes() == before


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_permissions_and_links(path: Path) -> None:
    model = TreeClassifier().fit(NUMBERS, CODES)
    old = os.umask(0o027)
    try:
        model.save(path)
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    link = path.with_name("link")
    link.symlink_to(path)
    model.save(link)  # the file that it leads to is replaced
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
    assert fasttree.load(os.fsencode(link)).tree_ == model.tree_
    model.save(os.fsencode(path))


def test_paths_that_cannot_be(path: Path) -> None:
    model = TreeClassifier().fit(NUMBERS, CODES)
    with pytest.raises(FileNotFoundError, match="there is no directory"):
        model.save(path / "deeper" / "model")
    with pytest.raises(IsADirectoryError, match="directory"):
        model.save(path.parent)
    with pytest.raises(FileNotFoundError):
        fasttree.load(path)
    with pytest.raises(ModelFileError, match="not a file"):
        fasttree.load(path.parent)
    if hasattr(os, "mkfifo"):
        os.mkfifo(path)
        with pytest.raises(ModelFileError, match="not a file"):  # and does not wait for it
            fasttree.load(path)


# -- what cannot be saved --------------------------------------------------------------------------


def test_an_unfitted_estimator_is_not_saved(path: Path) -> None:
    for model in (TreeClassifier(), RuleClassifier()):
        with pytest.raises(ValueError, match="not fitted"):
            model.save(path)
    assert not path.exists()


def test_a_function_is_not_saved(path: Path) -> None:
    model = TreeClassifier(
        attribute_costs=[1, 2, 3], cost_function=lambda gain, cost: gain / (1 + cost)
    ).fit(NUMBERS, CODES)
    with pytest.raises(
        TypeError, match=r"cost_function holds .*lambda.*set_params\(cost_function=None\)"
    ):
        model.save(path)
    model.set_params(cost_function=None).save(path)
    assert fasttree.load(path).tree_ == model.tree_


def test_other_things_that_are_not_saved(path: Path) -> None:
    class Own(TreeClassifier):
        pass

    with pytest.raises(TypeError, match="Own is not one of fasttree's own estimators"):
        Own().fit(NUMBERS, CODES).save(path)
    model = TreeClassifier().fit(NUMBERS, CODES)
    with pytest.raises(ValueError, match="max_depth"):  # better now than when it is loaded
        copy.copy(model).set_params(max_depth="deep").save(path)
    with pytest.raises(ValueError, match="n_jobs=5000"):
        copy.copy(model).set_params(n_jobs=5000).save(path)
    with pytest.raises(TypeError, match=r"categorical_features holds .* of type object"):
        copy.copy(model).set_params(categorical_features=[object()]).save(path)
    levels = [frozenset({1}), frozenset({2}), b"bytes"]
    column = fasttree.Categorical([levels[0], levels[1]] * 40, levels)
    with pytest.raises(TypeError, match="the column 'x' has the label b'bytes' of type bytes"):
        TreeClassifier().fit({"x": column}, np.arange(80) % 2).save(path)
    assert not path.exists()


# -- refusals --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file of a model with tables, thresholds, surrogates and three classes."""
    path = tmp_path_factory.mktemp("refusals") / "model"
    fitted(CARTClassifier(pruning=None)).save(path)
    return path.read_bytes()


def refused(path: Path, data: bytes, match: str) -> None:
    path.write_bytes(data)
    for mapped in (False, True):
        with pytest.raises(ModelFileError, match=match) as caught:
            fasttree.load(path, mmap=mapped)
        assert str(caught.value).startswith(f"{path}: ")


def edited(data: bytes, change: Callable[[Any, dict[str, np.ndarray]], None]) -> bytes:
    """The file with other contents, and right checksums and fingerprint."""
    header, arrays = open_model(data)
    said = json.loads(header)
    arrays = {name: array.copy() for name, array in arrays.items()}
    change(said, arrays)
    return close_model(json.dumps(said, separators=(",", ":")).encode(), arrays)


def inner(arrays: dict[str, np.ndarray], with_table: bool) -> int:
    """A node with a table, or one with a threshold."""
    has_table = np.diff(arrays["tree/table_start"]) > 0
    return int(np.flatnonzero((arrays["tree/attribute"] >= 0) & (has_table == with_table))[0])


def put(name: str, value: Any, at: Any = 0) -> Callable[[Any, dict[str, np.ndarray]], None]:
    """Sets an element of an array; `at` is a place, or says one."""

    def change(said: Any, arrays: dict[str, np.ndarray]) -> None:
        place = at(arrays) if callable(at) else at
        arrays[name][place] = value

    return change


def by_table(arrays: dict[str, np.ndarray]) -> int:
    return inner(arrays, with_table=True)


def by_threshold(arrays: dict[str, np.ndarray]) -> int:
    return inner(arrays, with_table=False)


def first_leaf(arrays: dict[str, np.ndarray]) -> int:
    return int(np.argmax(arrays["tree/attribute"] < 0))


def surrogate(with_table: bool) -> Callable[[dict[str, np.ndarray]], int]:
    return lambda arrays: int(
        np.argmax((np.diff(arrays["tree/surrogate_table_start"]) > 0) == with_table)
    )


def put_range(ends: Any) -> Callable[[Any, dict[str, np.ndarray]], None]:
    """Of the first numeric attribute."""

    def change(said: Any, arrays: dict[str, np.ndarray]) -> None:
        numeric = [one for one in said["schema"]["attributes"] if one["kind"] == "numeric"]
        numeric[0]["range"] = ends

    return change


def put_time(kind: Any, of: str = "numeric") -> Callable[[Any, dict[str, np.ndarray]], None]:
    """Of the first attribute that is numeric or categorical."""

    def change(said: Any, arrays: dict[str, np.ndarray]) -> None:
        found = [one for one in said["schema"]["attributes"] if one["kind"] == of]
        found[0]["time"] = kind

    return change


def no_nodes(said: Any, arrays: dict[str, np.ndarray]) -> None:
    n = len(arrays["tree/attribute"])
    for name, array in arrays.items():
        arrays[name] = (
            array[:1] if name.endswith("start") else array[: 0 if len(array) == n else None]
        )


def codes_in_another_order(said: Any, arrays: dict[str, np.ndarray]) -> None:
    start, codes = arrays["tree/table_start"], arrays["tree/table_codes"]
    at = start[np.argmax(np.diff(start) >= 2)]
    codes[at], codes[at + 1] = codes[at + 1], codes[at]


def heavy_classes(said: Any, arrays: dict[str, np.ndarray]) -> None:
    said["schema"]["class_weight"] = {"array": 0}
    said["n_values"] = 1
    arrays["values/0"] = np.full(3, 1e308)


def a_test_without_rows(said: Any, arrays: dict[str, np.ndarray]) -> None:
    """All that is below an inner node goes to its sibling, a leaf."""
    counts, attribute = arrays["tree/counts"], arrays["tree/attribute"]
    first = arrays["tree/first_child"]
    for parent in np.flatnonzero(attribute >= 0):
        children = [first[parent], first[parent] + 1]
        if sorted(attribute[children] < 0) == [False, True]:
            node, leaf = sorted(children, key=lambda child: attribute[child] < 0)
            counts[leaf] += counts[node]
            for below in range(node, len(counts)):
                above = below
                while above > node:
                    above = arrays["tree/parent"][above]
                if above == node:
                    counts[below] = 0
            return


EDITS: list[tuple[str, Callable[[Any, dict[str, np.ndarray]], None], str]] = [
    ("attribute too large", put("tree/attribute", 5), "asks for an attribute that is none"),
    ("attribute below -1", put("tree/attribute", -2), "asks for an attribute that is none"),
    ("a leaf that splits", put("tree/attribute", 0, first_leaf), "not two children or more"),
    ("a split that is a leaf", put("tree/attribute", -1), "is a leaf and has children"),
    ("child beyond the end", put("tree/first_child", 10**9), "do not follow"),
    ("child that is the node", put("tree/first_child", 0), "do not follow"),
    ("child of two", put("tree/first_child", 1, 1), "do not follow|first child"),
    ("a child too few", put("tree/n_children", 3), "not a child of one node"),
    ("no children", put("tree/n_children", 0), "not two children"),
    ("endless children", put("tree/n_children", 2**31 - 1), "not a child of one node"),
    ("negative children", put("tree/n_children", -(2**31)), "not two children"),
    ("wrong parent", put("tree/parent", 0, -1), "does not name the node"),
    ("root with a parent", put("tree/parent", 0), "does not name the node"),
    ("wrong depth", put("tree/depth", 1, -1), "not one level below"),
    ("deep root", put("tree/depth", 1), "depth of its root"),
    ("NaN threshold", put("tree/threshold", np.nan, by_threshold), "no number to compare"),
    (
        "table and threshold",
        put("tree/threshold", 1.0, by_table),
        "a threshold and no number|or none",
    ),
    ("threshold at a leaf", put("tree/threshold", 1.0, first_leaf), "threshold"),
    ("code 0", put("tree/table_codes", 0), "code of no level"),
    ("code beyond the levels", put("tree/table_codes", 2**32 - 1), "code of no level"),
    ("branch of a table", put("tree/table_branch", 2), "leads to a branch that is none"),
    ("default branch", put("tree/default_branch", 2, by_table), "branch for other values"),
    ("no default branch", put("tree/default_branch", -1, by_table), "branch for other values"),
    (
        "default at a threshold",
        put("tree/default_branch", 0, by_threshold),
        "branch for other values",
    ),
    ("missing branch", put("tree/missing_branch", 2), "branch for missing values"),
    ("missing branch below -1", put("tree/missing_branch", -2), "branch for missing values"),
    (
        "missing branch of a leaf",
        put("tree/missing_branch", 0, first_leaf),
        "branch for missing values",
    ),
    ("tables backwards", put("tree/table_start", 2**62, 1), "tables do not follow"),
    ("tables that begin late", put("tree/table_start", 1), "begin and end"),
    ("tables that end early", put("tree/table_start", 0, -1), "begin and end"),
    ("seen at a leaf", put("tree/missing_seen", True, first_leaf), "has no branch for the missing"),
    ("heuristic leaf", put("tree/heuristic", True, first_leaf), "is a leaf, yet"),
    ("negative count", put("tree/counts", -1.0, (0, 0)), "class counts"),
    ("infinite count", put("tree/counts", np.inf, (0, 0)), "class counts"),
    ("NaN count", put("tree/counts", np.nan, (0, 0)), "class counts"),
    ("count of another", put("tree/counts", 1e6, (0, 0)), "than its children together"),
    ("share above 1", put("tree/proba", 1.5, (0, 0)), "class shares outside"),
    ("NaN share", put("tree/proba", np.nan, (0, 0)), "class shares"),
    ("shares of nothing", put("tree/proba", 0.0, 0), "do not add up to 1"),
    ("class beyond the last", put("tree/pred", 3), "predicts a class"),
    ("class -1", put("tree/pred", -1), "predicts a class"),
    ("NaN gain", put("tree/gain", np.nan), "gain"),
    ("negative gain", put("tree/gain", -1.0), "gain"),
    ("gain of a leaf", put("tree/gain", 1.0, first_leaf), "gain"),
    ("multiplicity 0", put("tree/multiplicity", 0), "number of leaves"),
    (
        "multiplicity without end",
        put("tree/multiplicity", 2**31 - 1, first_leaf),
        "number of leaves",
    ),
    ("surrogates backwards", put("tree/surrogate_start", 2**40, 1), "surrogates do not follow"),
    ("surrogate's attribute", put("tree/surrogate_attribute", -1), "surrogate 0 asks"),
    ("surrogate's branch", put("tree/surrogate_low", 2, surrogate(False)), "leads to a branch"),
    (
        "surrogate's threshold",
        put("tree/surrogate_threshold", np.nan, surrogate(False)),
        "threshold",
    ),
    ("surrogate with both", put("tree/surrogate_threshold", 0.0, surrogate(True)), "threshold"),
    ("surrogate's codes", put("tree/surrogate_table_codes", 99), "code of no level"),
    ("surrogate's table", put("tree/surrogate_table_branch", 2), "leads nowhere"),
    ("surrogate's agreement", put("tree/surrogate_agreement", 2.0), "surrogate_agreement"),
    ("surrogate's advantage", put("tree/surrogate_adjusted", np.nan), "surrogate_adjusted"),
    (
        "first child of a leaf",
        put("tree/first_child", 5, first_leaf),
        "is a leaf and has a first child",
    ),
    ("a table for numbers", put("tree/attribute", 0, by_table), "has a table and no category"),
    (
        "a surrogate's table",
        put("tree/surrogate_attribute", 0, surrogate(True)),
        "a table and no category",
    ),
    ("codes that descend", codes_in_another_order, "codes that do not ascend"),
    ("no nodes", no_nodes, "has 0 nodes"),
    ("classes too heavy", heavy_classes, "more than a number holds"),
    ("no rows", put("tree/counts", 0.0, slice(None)), "no row counts in its tree"),
    ("no rows at a test", a_test_without_rows, "a test that no row has passed"),
    (
        "another type",
        lambda said, arrays: arrays.update({"tree/gain": arrays["tree/gain"].astype("f4")}),
        "'gain' of its tree is not of the type f8",
    ),
    ("no array", lambda said, arrays: arrays.pop("tree/gain"), "has no array 'tree/gain'"),
    ("one more", lambda said, arrays: arrays.update(x=np.zeros(3)), "array 'x', which no model"),
    ("no class", lambda said, arrays: said.pop("class"), "does not say 'class'"),
    ("unknown class", lambda said, arrays: said.update({"class": "Forest"}), "upgrade fasttree"),
    ("class is a number", lambda said, arrays: said.update({"class": 1}), "says 'class': 1"),
    ("unknown field", lambda said, arrays: said.update(more=1), "'more', which is not known"),
    ("no parameters", lambda said, arrays: said.update(params={}), "are too many or missing"),
    ("a parameter", lambda said, arrays: said["params"].update(criterion="x"), "criterion must be"),
    ("threads", lambda said, arrays: said["params"].update(n_jobs=10**6), "n_jobs=1000000"),
    ("policy", lambda said, arrays: said["fitted"].update(missing="?"), "missing values"),
    ("a range upside down", put_range([2.0, 1.0]), "has the range 2.0 to 1.0"),
    ("a range with NaN", put_range([{"float": "nan"}, 1.0]), "has the range nan to 1.0"),
    ("a range of text", put_range(["1", "2"]), "is not two numbers"),
    ("half a range", put_range([1.0]), "is not two numbers"),
    ("unknown times", put_time("epoch"), "numbers are times of the kind 'epoch'"),
    ("times as a number", put_time(1), "says 'time': 1"),
    ("times and levels", put_time("datetime", "categorical"), "'time', which is not known"),
    ("no attributes", lambda said, arrays: said["schema"].update(attributes=[]), "no attributes"),
    (
        "one attribute",
        lambda said, arrays: said["schema"]["attributes"].pop(),
        "asks for an attribute",
    ),
    (
        "kind",
        lambda said, arrays: said["schema"]["attributes"][0].update(kind="x"),
        "'size' is 'x'",
    ),
    (
        "a level too few",
        lambda said, arrays: said["schema"]["attributes"][2]["categories"].pop(),
        "no level",
    ),
    (
        "a level twice",
        lambda said, arrays: said["schema"]["attributes"][2]["categories"].append("red"),
        "hold 'red' twice",
    ),
    (
        "a missing level",
        lambda said, arrays: said["schema"]["attributes"][2]["categories"].append({"float": "nan"}),
        "missing value",
    ),
    (
        "two names",
        lambda said, arrays: said["schema"]["attributes"][0].update(name="weight"),
        "two of its attributes have one name",
    ),
    ("a class too few", lambda said, arrays: said["schema"]["classes"]["labels"].pop(), "order"),
    (
        "a class twice",
        lambda said, arrays: said["schema"]["classes"].update(labels=["a"] * 3),
        "twice",
    ),
    (
        "a class that does not fit",
        lambda said, arrays: said["schema"]["classes"].update(dtype="<U1"),
        "not what '<U1' can hold",
    ),
    (
        "classes as a bomb",
        lambda said, arrays: said["schema"]["classes"].update(dtype="<U100000000"),
        "would take 1200000000 bytes",
    ),
    ("classes of code", lambda said, arrays: said["schema"]["classes"].update(dtype="|V8"), "type"),
    ("order of classes", lambda said, arrays: said["schema"].update(tie_order=[0, 0, 1]), "order"),
    (
        "class weights",
        lambda said, arrays: said["schema"].update(class_weight=[1.0]),
        "class weights",
    ),
    ("costs", lambda said, arrays: said["schema"].update(cost={"array": 3}), "array number 3"),
    (
        "unknown type",
        lambda said, arrays: said["schema"].update(cost={"os.system": ["x"]}),
        "not known",
    ),
]


@pytest.mark.parametrize(("change", "match"), [e[1:] for e in EDITS], ids=[e[0] for e in EDITS])
def test_a_file_with_wrong_contents_is_refused(
    change: Callable[[Any, dict[str, np.ndarray]], None], match: str, path: Path, data: bytes
) -> None:
    path.write_bytes(edited(data, lambda said, arrays: None))
    fasttree.load(path)  # what is wrong is the change, not the way of making it
    refused(path, edited(data, change), match)


def test_a_node_of_many_branches_has_a_table_alone(path: Path) -> None:
    """Three children, where a threshold or a surrogate knows two."""
    fitted(ID3Classifier(max_depth=1, categorical_features=["colour", "grade"])).save(path)
    data = path.read_bytes()

    def with_threshold(said: Any, arrays: dict[str, np.ndarray]) -> None:
        assert arrays["tree/n_children"][0] > 2
        arrays["tree/attribute"][0], arrays["tree/threshold"][0] = 0, 0.5
        arrays["tree/default_branch"][0] = -1
        arrays["tree/table_start"][:] = 0
        for name in ("tree/table_codes", "tree/table_branch"):
            arrays[name] = arrays[name][:0]

    def with_surrogate(said: Any, arrays: dict[str, np.ndarray]) -> None:
        arrays["tree/surrogate_start"][1:] = 1
        arrays["tree/surrogate_table_start"] = np.zeros(2, dtype=np.int64)
        for name in ("attribute", "low", "threshold", "agreement", "adjusted"):
            array = arrays[f"tree/surrogate_{name}"]
            arrays[f"tree/surrogate_{name}"] = np.zeros(1, dtype=array.dtype)

    refused(path, edited(data, with_threshold), "has a threshold and not two children")
    refused(path, edited(data, with_surrogate), "has surrogates and not two children")


def test_a_changed_tree_does_not_have_its_fingerprint(path: Path, data: bytes) -> None:
    members = dict(_members(data))
    gain = bytearray(members["tree/gain.npy"])
    gain[128] ^= 1  # the last bit of the first number
    refused(path, close_members(members | {"tree/gain.npy": bytes(gain)}), "fingerprint")


def _members(data: bytes) -> list[tuple[str, bytes]]:
    import io

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def test_damage_is_seen(path: Path, data: bytes) -> None:
    at = data.index(b"\x93NUMPY") + 128
    refused(path, data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :], "checksum .* was damaged")
    refused(path, b"", "the file is empty")
    refused(path, data[:-1], "cut short")
    refused(path, data[: len(data) // 2], "cut short")
    refused(path, data + b"\0", "cut short, or something was added")
    refused(path, b"\0" + data, "not a fasttree model file")
    refused(path, b"hello", "not a fasttree model file")
    refused(path, data.replace(b"fasttree model", b"another format"), "header begins otherwise")


def test_a_pickle_is_not_loaded(path: Path) -> None:
    refused(path, pickle.dumps(TreeClassifier()), "looks like a pickle")


@pytest.mark.parametrize("version", [2, 99, 999_999_999])
def test_a_newer_format_says_to_upgrade(version: int, path: Path, data: bytes) -> None:
    newer = f'"format_version":{version}'.encode()
    says = rf"format version {version}, and this fasttree reads version 1: upgrade"
    members = dict(_members(data))
    header = members["fasttree.json"].replace(b'"format_version":1', newer)
    refused(path, close_members(members | {"fasttree.json": header}), says)
    # Whatever else the new version may have changed behind the beginning of the file.
    changed = data.replace(b'"format_version":1,', newer + b",")
    refused(path, changed[:5000] + b"quite another directory", says)


def test_a_repacked_file_is_refused(path: Path, data: bytes) -> None:
    for method, match in (
        (zipfile.ZIP_DEFLATED, "compressed"),
        (zipfile.ZIP_STORED, "as a model file"),
    ):
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in _members(data):
                archive.writestr(zipfile.ZipInfo(name), content, compress_type=method)
        refused(path, path.read_bytes(), match)


def test_bombs(path: Path, data: bytes) -> None:
    """Little files that say they are large are refused before anything is made of what they say."""
    members = dict(_members(data))
    for shape in (b"(9999999999,)", b"(9999999999, 9999999999)"):
        npy = members["tree/gain.npy"]
        end = npy.index(b"}") + 1
        head = npy[:end].replace(npy[npy.index(b"(") : end - 3], shape)
        bomb = head.ljust(127) + b"\n" + npy[128:]
        refused(path, close_members(members | {"tree/gain.npy": bomb}), "not as large as its shape")
    deep = members["fasttree.json"][:-1] + b',"x":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    refused(path, close_members(members | {"fasttree.json": deep}), "no JSON")
    digits = members["fasttree.json"][:-1] + b',"x":' + b"9" * 100_000 + b"}"
    refused(path, close_members(members | {"fasttree.json": digits}), "no JSON")
    # Sizes, method of the first member.
    for at, value in (22, 2**32 - 1), (18, 2**32 - 1), (8, 8):
        changed = bytearray(data)
        struct.pack_into("<H" if at == 8 else "<I", changed, at, value)
        refused(path, bytes(changed), "header says that it has|compressed|as a model file has it")
    deflated = zlib.compress(bytes(10**7))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("fasttree.json", members["fasttree.json"])
        archive.writestr("tree/attribute.npy", bytes(10**8), compress_type=zipfile.ZIP_DEFLATED)
    assert path.stat().st_size < 10 * len(deflated) + len(data)
    refused(path, path.read_bytes(), "not as a model file|compressed|header begins")


def test_members_that_overlap_or_come_twice(path: Path, data: bytes) -> None:
    names = [name for name, _ in _members(data)]
    at = data.rindex(b"PK\1\2")  # the last entry of the directory
    previous = data.rindex(b"PK\1\2", 0, at)
    overlapping = bytearray(data)
    overlapping[at + 42 : at + 46] = data[previous + 42 : previous + 46]
    refused(path, bytes(overlapping), "directory is not as a model file has it")
    one, other = names[-2].encode(), names[-1].encode()
    assert len(one) != len(other)
    twice = dict(_members(data))
    content = close_members(twice | {"tree/gaim.npy": twice["tree/gain.npy"]})
    refused(
        path, content.replace(b"tree/gaim.npy", b"tree/gain.npy"), "two members 'tree/gain.npy'"
    )


def test_rules_are_checked_too(path: Path) -> None:
    fitted(RuleClassifier(base=CARTClassifier(pruning=None))).save(path)
    data = path.read_bytes()
    for name, value, match in (
        ("rules/condition", 10**6, "condition of a rule is none"),
        ("rules/label", 3, "label of a rule is none"),
        ("rules/counts", np.nan, "class counts"),
        ("rules/estimated_error", 2.0, "error that is not"),
        ("rules/default_counts", -1.0, "other rows"),
        ("rules/conditions/attribute", 77, "attribute of a condition"),
        ("rules/conditions/start", 5, "begin and end"),
        ("rules/substitutes/group", -1, "group of a substitute"),
        ("rules/substitutes/alternative", 10**6, "alternative of a substitute"),
        ("rules/substitutes/answers/attribute", -1, "attribute of a substitute"),
    ):
        refused(path, edited(data, put(name, value)), match)
    for key, value, match in (
        ("default", 3, "default is no class"),
        ("unknown", "?", "unknown levels"),
        ("training_weight", 0, "training rows"),
        ("substitutes", False, "which no model"),
    ):
        refused(
            path,
            edited(data, lambda said, arrays, k=key, v=value: said["rules"].update({k: v})),
            match,
        )


# -- fuzzing ---------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name != "posix", reason="the watchdog waits for pipes, as POSIX can")
def test_hundreds_of_mutants() -> None:
    found = list(run(700, seed=20))
    harm = [line for line in found if line[2] not in HARMLESS]
    assert harm == []
    outcomes = [outcome for _, _, outcome, _ in found]
    assert outcomes.count(REFUSED) > 500
    assert outcomes.count(VALID) > 10


def test_the_fuzzer_would_notice(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the checks of trees its mutants get in, and its validator finds them."""
    import random

    import fasttree.model_file as model_file

    monkeypatch.setattr(model_file, "check_tree", lambda schema, arrays: None)
    rng = random.Random(1)
    originals = originals_of(models()[:3])
    n_invalid = 0
    for _ in range(60):
        path.write_bytes(REPAIRED[3](rng, rng.choice(originals)))  # elements of arrays
        try:
            model = fasttree.load(path)
        except ModelFileError:
            continue
        n_invalid += bool(faults(model.tree_))
    assert n_invalid > 10


# -- memory maps -----------------------------------------------------------------------------------


def memory_of(array: np.ndarray) -> Any:
    """What the memory of an array belongs to in the end."""
    owner: Any = array
    while True:
        if isinstance(owner, memoryview):
            owner = owner.obj
        elif isinstance(owner, np.ndarray) and owner.base is not None:
            owner = owner.base
        else:
            return owner


def test_mapped_arrays_are_the_file(path: Path) -> None:
    fitted(MMLClassifier()).save(path)
    mapped, read = fasttree.load(path, mmap=True), fasttree.load(path)
    owners = {id(memory_of(array)) for array in mapped.tree_._arrays().values()}
    assert len(owners) == 1
    assert isinstance(memory_of(mapped.tree_.counts), mmap.mmap)
    assert isinstance(memory_of(mapped._choices.eligible), mmap.mmap)
    assert not isinstance(memory_of(read.tree_.counts), mmap.mmap)
    for model in (mapped, read):
        for array in model.tree_._arrays().values():
            assert not array.flags.writeable
            with pytest.raises(ValueError, match="cannot set WRITEABLE flag"):
                array.flags.writeable = True


@pytest.mark.skipif(os.name != "posix", reason="Windows does not replace a file that is mapped")
def test_a_mapped_file_can_be_replaced(path: Path) -> None:
    model = MMLClassifier().fit(X, Y)
    model.save(path)
    mapped = fasttree.load(path, mmap=True)
    MMLClassifier(max_depth=1).fit(X, Y).save(path)
    assert np.array_equal(mapped.predict_proba(X), model.predict_proba(X))
    assert mapped.tree_ == model.tree_
    assert fasttree.load(path).get_depth() == 1


# -- pickles ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", METHODS[::4], ids=str)
def test_copies_and_pickles(model: Any) -> None:
    model = fitted(model)
    for copied in (copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert_same(copied, model, X)
    for unfitted in (type(model)(), TreeClassifier(max_depth=3)):
        assert repr(pickle.loads(pickle.dumps(unfitted))) == repr(unfitted)


def test_joblib_with_and_without_memory_maps(path: Path) -> None:
    import joblib

    model = fitted(CARTClassifier())
    joblib.dump(model, path)
    for mode in (None, "r"):
        assert_same(joblib.load(path, mmap_mode=mode), model, X)


def test_workers_of_loky_get_a_model(path: Path) -> None:
    from joblib import Parallel, delayed

    # Large enough that joblib hands its arrays over as memory maps.
    numbers = np.random.default_rng(0).normal(size=(20_000, 2))
    model = TreeClassifier().fit(numbers, np.random.default_rng(1).integers(0, 2, 20_000))
    assert model.tree_.counts.nbytes > 100_000
    model.save(path)
    for one in (model, fasttree.load(path, mmap=True)):
        with Parallel(n_jobs=2, backend="loky", max_nbytes=10_000) as parallel:
            answers = parallel(delayed(one.predict)(part) for part in np.split(numbers, 4))
        assert np.array_equal(np.concatenate(answers), model.predict(numbers))


def test_a_pickle_of_another_version_warns() -> None:
    model = fitted(ID3Classifier())
    state = model.__getstate__() | {"_fasttree_version": "0.0.7"}
    again = ID3Classifier()
    with pytest.warns(
        OtherVersionWarning, match=r"pickled by fasttree 0\.0\.7.*method save.*fasttree\.load"
    ):
        again.__setstate__(state)
    assert again.predict(X).tolist() == model.predict(X).tolist()
    tree = model.tree_.__getstate__()
    del tree["fasttree_version"]
    with pytest.warns(OtherVersionWarning, match="unknown version"):
        type(model.tree_).__new__(type(model.tree_)).__setstate__(tree)


def test_a_pickle_that_is_no_model_is_refused() -> None:
    model = fitted(CARTClassifier(pruning=None))
    kind = type(model.tree_)
    state = model.tree_.__getstate__()
    wrong = state["first_child"].copy()
    wrong[0] = 10**6
    for broken, match in (
        (state | {"first_child": wrong}, "damaged or edited"),
        (
            state | {"first_child": wrong, "fasttree_version": "9.9"},
            r"by fasttree 9\.9.*save the model",
        ),
        (state | {"counts": state["counts"].astype(np.float32)}, "'counts'"),
        (state | {"schema": "nothing"}, "schema is none"),
        (state | {"more": state["gain"]}, "does not have the arrays of a tree"),
        ({"fasttree_version": "9.9", "nodes": 3}, r"fasttree 9\.9"),
    ):
        with pytest.raises(ModelFileError, match=match):
            kind.__new__(kind).__setstate__(broken)
    with pytest.raises(ModelFileError, match="classes are not those of its tree"):
        CARTClassifier().__setstate__(model.__getstate__() | {"classes_": np.array([1, 2])})
    rules = fitted(RuleClassifier())
    with pytest.raises(ModelFileError, match="no list of rules"):
        RuleClassifier().__setstate__(rules.__getstate__() | {"rules_": []})


# -- golden files ----------------------------------------------------------------------------------

GOLDEN = Path(__file__).parent / "data" / "models"
GOLDEN_FILES = sorted(GOLDEN.glob("*/*.fasttree"))


def all_of(model: Any) -> str:
    return model.to_text() if isinstance(model, RuleClassifier) else model.to_text(exact=True)


def test_there_are_golden_files() -> None:
    assert len(GOLDEN_FILES) >= 10


@pytest.mark.parametrize("file", GOLDEN_FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_files_of_every_version_are_read(file: Path) -> None:
    expected = json.loads(file.with_suffix(".json").read_text("utf-8"))
    model = fasttree.load(file)
    assert repr(model) == expected["model"]
    assert all_of(model) == expected["text"]
    rows = {
        name: np.array([float(value) for value in values])
        if kind == "numeric"
        else np.array([*values, None], dtype=object)[:-1]
        for name, (kind, values) in expected["rows"].items()
    }
    X: Any = rows if expected["named"] else np.column_stack(list(rows.values()))
    assert model.predict(X).tolist() == expected["predict"]
    assert model.predict_proba(X).tolist() == expected["predict_proba"]


# -- import ----------------------------------------------------------------------------------------


def test_loading_needs_no_heavy_library(path: Path) -> None:
    fitted(C45Classifier()).save(path)
    code = f"""
        import sys, fasttree
        assert "fasttree.estimators" not in sys.modules
        fasttree.load({os.fspath(path)!r})
        heavy = {{"pandas", "polars", "pyarrow", "sklearn", "scipy", "narwhals", "matplotlib"}}
        print(sorted(heavy & sys.modules.keys()))
    """
    assert run_child(code).strip() == "[]"
