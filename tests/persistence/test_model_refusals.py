# SPDX-License-Identifier: BSD-3-Clause
"""Model files that are damaged, edited or made up are refused, with words that say what is wrong."""

from __future__ import annotations

import json
import os
import pickle
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz.fuzz_model_file import HARMLESS, REFUSED, VALID, originals_of, run
from fuzz.mutants import REPAIRED, close_members, close_model, open_model
from fuzz.seeds import models, table
from fuzz.slow_validator import faults

import fasttree
from fasttree import CARTClassifier, ID3Classifier, ModelFileError, RuleClassifier, TreeClassifier


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.fasttree"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file of a model with tables, thresholds, surrogates and three classes."""
    path = tmp_path_factory.mktemp("refusals") / "model"
    CARTClassifier(pruning=None).fit(*table()).save(path)
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
    ("attribute too large", put("tree/attribute", 5), "tests an attribute that does not exist"),
    ("attribute below -1", put("tree/attribute", -2), "tests an attribute that does not exist"),
    ("a leaf that splits", put("tree/attribute", 0, first_leaf), "fewer than two children"),
    ("a split that is a leaf", put("tree/attribute", -1), "is a leaf with children"),
    ("child beyond the end", put("tree/first_child", 10**9), "do not follow"),
    ("child that is the node", put("tree/first_child", 0), "do not follow"),
    ("child of two", put("tree/first_child", 1, 1), "do not follow|first child"),
    ("a child too few", put("tree/n_children", 3), "not the child of exactly one node"),
    ("no children", put("tree/n_children", 0), "fewer than two children"),
    ("endless children", put("tree/n_children", 2**31 - 1), "not the child of exactly one node"),
    ("negative children", put("tree/n_children", -(2**31)), "fewer than two children"),
    ("wrong parent", put("tree/parent", 0, -1), "has the wrong parent"),
    ("root with a parent", put("tree/parent", 0), "has the wrong parent"),
    ("wrong depth", put("tree/depth", 1, -1), "not one level below"),
    ("deep root", put("tree/depth", 1), "depth of its root"),
    (
        "NaN threshold",
        put("tree/threshold", np.nan, by_threshold),
        "threshold without testing a number",
    ),
    (
        "table and threshold",
        put("tree/threshold", 1.0, by_table),
        "a threshold without testing a number|without a threshold",
    ),
    ("threshold at a leaf", put("tree/threshold", 1.0, first_leaf), "threshold"),
    ("code 0", put("tree/table_codes", 0), "code that no category has"),
    ("code beyond the levels", put("tree/table_codes", 2**32 - 1), "code that no category has"),
    ("branch of a table", put("tree/table_branch", 2), "leads to a branch that does not exist"),
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
    ("tables backwards", put("tree/table_start", 2**62, 1), "tables are not in ascending order"),
    ("tables that begin late", put("tree/table_start", 1), "begin and end"),
    ("tables that end early", put("tree/table_start", 0, -1), "begin and end"),
    (
        "seen at a leaf",
        put("tree/missing_seen", True, first_leaf),
        "has no branch for missing values",
    ),
    ("negative count", put("tree/counts", -1.0, (0, 0)), "class counts"),
    ("infinite count", put("tree/counts", np.inf, (0, 0)), "class counts"),
    ("NaN count", put("tree/counts", np.nan, (0, 0)), "class counts"),
    ("count of another", put("tree/counts", 1e6, (0, 0)), "differ from the sum over its children"),
    ("share above 1", put("tree/proba", 1.5, (0, 0)), "class probabilities outside"),
    ("NaN share", put("tree/proba", np.nan, (0, 0)), "class probabilities"),
    ("shares of nothing", put("tree/proba", 0.0, 0), "do not sum to 1"),
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
    (
        "surrogates backwards",
        put("tree/surrogate_start", 2**40, 1),
        "surrogates are not in ascending order",
    ),
    ("surrogate's attribute", put("tree/surrogate_attribute", -1), "surrogate 0 tests"),
    ("surrogate's branch", put("tree/surrogate_low", 2, surrogate(False)), "leads to a branch"),
    (
        "surrogate's threshold",
        put("tree/surrogate_threshold", np.nan, surrogate(False)),
        "threshold",
    ),
    ("surrogate with both", put("tree/surrogate_threshold", 0.0, surrogate(True)), "threshold"),
    ("surrogate's codes", put("tree/surrogate_table_codes", 99), "code that no category has"),
    ("surrogate's table", put("tree/surrogate_table_branch", 2), "leads to a branch that does not"),
    ("surrogate's agreement", put("tree/surrogate_agreement", 2.0), "surrogate_agreement"),
    ("surrogate's advantage", put("tree/surrogate_adjusted", np.nan), "surrogate_adjusted"),
    (
        "first child of a leaf",
        put("tree/first_child", 5, first_leaf),
        "is a leaf with a first child",
    ),
    (
        "a table for numbers",
        put("tree/attribute", 0, by_table),
        "has a table without testing a category",
    ),
    (
        "a surrogate's table",
        put("tree/surrogate_attribute", 0, surrogate(True)),
        "a table without testing a category",
    ),
    ("codes that descend", codes_in_another_order, "codes that are not in ascending order"),
    ("no nodes", no_nodes, "has 0 nodes"),
    ("classes too heavy", heavy_classes, "whose sum overflows"),
    ("no rows", put("tree/counts", 0.0, slice(None)), "training rows of its tree have no weight"),
    ("no rows at a test", a_test_without_rows, "a test, but no training rows"),
    (
        "another type",
        lambda said, arrays: arrays.update({"tree/gain": arrays["tree/gain"].astype("f4")}),
        "'gain' of its tree is not of the type f8",
    ),
    ("no array", lambda said, arrays: arrays.pop("tree/gain"), "has no array 'tree/gain'"),
    (
        "one more",
        lambda said, arrays: arrays.update(x=np.zeros(3)),
        "array 'x', which a model of its kind must not have",
    ),
    ("no class", lambda said, arrays: said.pop("class"), "does not have 'class'"),
    ("unknown class", lambda said, arrays: said.update({"class": "Forest"}), "upgrade fasttree"),
    (
        "class is a number",
        lambda said, arrays: said.update({"class": 1}),
        "has the wrong type for 'class': 1",
    ),
    ("unknown field", lambda said, arrays: said.update(more=1), "'more', which is unknown"),
    ("no parameters", lambda said, arrays: said.update(params={}), "are missing or unknown"),
    ("a parameter", lambda said, arrays: said["params"].update(criterion="x"), "criterion must be"),
    ("threads", lambda said, arrays: said["params"].update(n_jobs=10**6), "n_jobs=1000000"),
    ("policy", lambda said, arrays: said["fitted"].update(missing="?"), "missing values"),
    ("a range upside down", put_range([2.0, 1.0]), "has the invalid range 2.0 to 1.0"),
    ("a range with NaN", put_range([{"float": "nan"}, 1.0]), "has the invalid range nan to 1.0"),
    ("a range of text", put_range(["1", "2"]), "is not two numbers"),
    ("half a range", put_range([1.0]), "is not two numbers"),
    ("unknown times", put_time("epoch"), "invalid kind of time 'epoch'"),
    ("times as a number", put_time(1), "has the wrong type for 'time': 1"),
    ("times and levels", put_time("datetime", "categorical"), "'time', which is unknown"),
    ("no attributes", lambda said, arrays: said["schema"].update(attributes=[]), "no attributes"),
    (
        "one attribute",
        lambda said, arrays: said["schema"]["attributes"].pop(),
        "tests an attribute",
    ),
    (
        "kind",
        lambda said, arrays: said["schema"]["attributes"][0].update(kind="x"),
        "'size' has the unknown kind 'x'",
    ),
    (
        "a level too few",
        lambda said, arrays: said["schema"]["attributes"][2]["categories"].pop(),
        "no category has",
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
        "two of its attributes have the same name",
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
        "not values of the type '<U1'",
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
        "which is unknown",
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
    model = ID3Classifier(max_depth=1, categorical_features=["colour", "grade"])
    model.fit(*table()).save(path)
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

    refused(path, edited(data, with_threshold), "has a threshold but not two children")
    refused(path, edited(data, with_surrogate), "has surrogates but not two children")


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
    refused(path, data[:-1], "truncated")
    refused(path, data[: len(data) // 2], "truncated")
    refused(path, data + b"\0", "truncated, or data was appended")
    refused(path, b"\0" + data, "not a fasttree model file")
    refused(path, b"hello", "not a fasttree model file")
    refused(
        path, data.replace(b"fasttree model", b"another format"), "header has a different beginning"
    )


def test_a_pickle_is_not_loaded(path: Path) -> None:
    refused(path, pickle.dumps(TreeClassifier()), "looks like a pickle")


@pytest.mark.parametrize("version", [5, 99, 999_999_999])
def test_a_newer_format_says_to_upgrade(version: int, path: Path, data: bytes) -> None:
    newer = f'"format_version":{version}'.encode()
    says = rf"format version {version}, but this fasttree reads versions up to 4: upgrade"
    members = dict(_members(data))
    header = members["fasttree.json"].replace(b'"format_version":4', newer)
    refused(path, close_members(members | {"fasttree.json": header}), says)
    # Whatever else the new version may have changed behind the beginning of the file.
    changed = data.replace(b'"format_version":4,', newer + b",")
    refused(path, changed[:5000] + b"quite another directory", says)


def test_a_repacked_file_is_refused(path: Path, data: bytes) -> None:
    for method, match in (
        (zipfile.ZIP_DEFLATED, "compressed"),
        (zipfile.ZIP_STORED, "not valid in a model file"),
    ):
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in _members(data):
                archive.writestr(zipfile.ZipInfo(name), content, compress_type=method)
        refused(path, path.read_bytes(), match)


@pytest.mark.parametrize("blanks", [b" ", b"\n", b"\t\r\n", b" " * 1000])
def test_blanks_behind_the_header(blanks: bytes, path: Path, data: bytes) -> None:
    """JSON allows them, but then a model would have many files."""
    members = dict(_members(data))
    header = members["fasttree.json"] + blanks
    refused(
        path, close_members(members | {"fasttree.json": header}), "header is followed by whitespace"
    )


def test_bombs(path: Path, data: bytes) -> None:
    """Little files that say they are large are refused before anything is made of what they say."""
    members = dict(_members(data))
    for shape in (b"(9999999999,)", b"(9999999999, 9999999999)"):
        npy = members["tree/gain.npy"]
        end = npy.index(b"}") + 1
        head = npy[:end].replace(npy[npy.index(b"(") : end - 3], shape)
        bomb = head.ljust(127) + b"\n" + npy[128:]
        refused(
            path,
            close_members(members | {"tree/gain.npy": bomb}),
            "size of the member .* does not match its shape",
        )
    deep = members["fasttree.json"][:-1] + b',"x":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
    refused(path, close_members(members | {"fasttree.json": deep}), "not valid JSON")
    digits = members["fasttree.json"][:-1] + b',"x":' + b"9" * 100_000 + b"}"
    refused(path, close_members(members | {"fasttree.json": digits}), "not valid JSON")
    # Sizes, method of the first member.
    for at, value in (22, 2**32 - 1), (18, 2**32 - 1), (8, 8):
        changed = bytearray(data)
        struct.pack_into("<H" if at == 8 else "<I", changed, at, value)
        refused(
            path,
            bytes(changed),
            "header has a length|compressed|not valid in a model file|not a valid array",
        )
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
    refused(path, bytes(overlapping), "directory is not valid in a model file")
    one, other = names[-2].encode(), names[-1].encode()
    assert len(one) != len(other)
    twice = dict(_members(data))
    content = close_members(twice | {"tree/gaim.npy": twice["tree/gain.npy"]})
    refused(
        path, content.replace(b"tree/gaim.npy", b"tree/gain.npy"), "two members 'tree/gain.npy'"
    )


def test_rules_are_checked_too(path: Path) -> None:
    RuleClassifier(base=CARTClassifier(pruning=None)).fit(*table()).save(path)
    data = path.read_bytes()
    for name, value, match in (
        ("rules/condition", 10**6, "condition of a rule is not one of the"),
        ("rules/label", 3, "label of a rule is not one of the"),
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
        ("default", 3, "default class of its rules is not one of its classes"),
        ("unknown", "?", "unknown categories"),
        ("training_weight", 0, "training rows"),
        ("substitutes", False, "which a model of its kind must not"),
    ):
        refused(
            path,
            edited(data, lambda said, arrays, k=key, v=value: said["rules"].update({k: v})),
            match,
        )


# -- fuzzing ---------------------------------------------------------------------------------------


@pytest.mark.campaign
@pytest.mark.skipif(os.name != "posix", reason="the watchdog waits for pipes, as POSIX can")
def test_hundreds_of_mutants(length: int) -> None:
    found = list(run(700 * length, seed=20))
    harm = [line for line in found if line[2] not in HARMLESS]
    assert harm == []
    outcomes = [outcome for _, _, outcome, _ in found]
    assert outcomes.count(REFUSED) > 500 * length
    assert outcomes.count(VALID) > 10 * length


def test_the_fuzzer_would_notice(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the checks of trees its mutants get in, and its validator finds them."""
    import random

    import fasttree.persistence.model_file as model_file

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
