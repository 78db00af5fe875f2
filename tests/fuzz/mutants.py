# SPDX-License-Identifier: BSD-3-Clause
"""Model files with something wrong: raw damage, and edits after which checksums and fingerprint are right again."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import random
import struct
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from fasttree.persistence.archive import _frame, _Member, write_archive

HEADER = "fasttree.json"
NUMBERS = (0, 1, -1, 2, -2, 3, 7, 255, 2**15, 2**31 - 1, -(2**31), 2**32 - 1, 2**62, 2**63 - 1)
REALS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-300, 1e300, float("nan"), float("inf"), float("-inf"))
ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    2,
    10**30,
    1.5,
    -0.0,
    1e308,
    "",
    "x",
    "\ud800",
    "|O",
    "<U100000000",
    "<U1",
    "majority",
    "datetime",
    "duration",
    "fractional",
    "error",
    [],
    [[]],
    {},
    [None],
    [1, 1],
    ["a", "a"],
    {"tuple": []},
    {"float": "nan"},
    {"float": "inf"},
    {"array": 0},
    {"array": 99},
    {"date": "2020-13-01"},
    {"date": "2020-01-01"},
    {"numpy": ["<i8", 5]},
    {"numpy": ["<f8", {"float": "nan"}]},
    {"dict": [[1, 2]]},
    {"dict": [[[], 2]]},
    {"decimal": "NaN"},
    {"pruning": ["ErrorBased", {"dict": []}]},
    {"pruning": ["CostComplexity", {"dict": [["folds", -3]]}]},
    {"estimator": ["RuleClassifier", {"dict": []}]},
    {"pandas.Interval": [0, 1, "right"]},
    {"os.system": ["true"]},
)

Mutation = Callable[[random.Random, bytes], bytes]


# -- raw damage ----------------------------------------------------------------------------------------------------


def flip_bits(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 5, 20))):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def set_bytes(rng: random.Random, data: bytes) -> bytes:
    changed = bytearray(data)
    at = rng.randrange(len(changed))
    n = rng.choice((1, 2, 4, 8, 64))
    changed[at : at + n] = bytes(rng.choice((0, 255, rng.randrange(256))) for _ in range(n))
    return bytes(changed)


def truncate(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.choice((rng.randrange(len(data)), rng.randrange(60), len(data) - 1))]


def insert(rng: random.Random, data: bytes) -> bytes:
    at = rng.choice((0, len(data), rng.randrange(len(data))))
    return data[:at] + rng.randbytes(rng.choice((1, 2, 22, 64, 500))) + data[at:]


def delete(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    return data[:at] + data[at + rng.choice((1, 2, 22, 64, 500)) :]


def copy_block(rng: random.Random, data: bytes) -> bytes:
    start, at, n = rng.randrange(len(data)), rng.randrange(len(data)), rng.choice((4, 64, 300))
    block = data[start : start + n]
    return data[:at] + block + data[at + rng.choice((0, len(block))) :]


# -- the zip's own fields ------------------------------------------------------------------------------------------


def edit_zip_field(rng: random.Random, data: bytes) -> bytes:
    """A number of the directory, of its end, or of what stands in front of a member."""
    changed = bytearray(data)
    marks = [at for at in _marks(data) if at + 46 < len(data)] + [len(data) - 22]
    at = rng.choice(marks) + 2 * rng.randrange(2, 22)
    form, size = rng.choice((("<H", 2), ("<I", 4)))
    if at + size > len(changed):
        return flip_bits(rng, data)
    value = rng.choice((0, 1, 8, 99, 2**16 - 1, len(data), len(data) - 1, 2**31, 2**32 - 1))
    struct.pack_into(form, changed, at, value % 2 ** (8 * size))
    return bytes(changed)


def repack(rng: random.Random, data: bytes) -> bytes:
    """By another program: compressed, in another order, with a member twice, with a comment, or as it is."""
    members = _members(data)
    how = rng.randrange(5)
    if how == 0:
        rng.shuffle(members)
    if how == 1:
        members.append(rng.choice(members))
    if how == 2:
        members.append(("bomb.npy", bytes(200_000)))
    out = io.BytesIO()
    method = rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in members:
            if name in archive.namelist():
                name = name.upper() if how != 1 else name + "x"
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=method)
        if how == 3:
            archive.comment = b"hello"
    return out.getvalue()


def _marks(data: bytes) -> list[int]:
    found, at = [], data.find(b"PK")
    while at >= 0:
        found.append(at)
        at = data.find(b"PK", at + 1)
    return found


# -- edits that checksums do not show ------------------------------------------------------------------------------


def edit_header(rng: random.Random, data: bytes) -> bytes:
    header, arrays = open_model(data)
    said = json.loads(header)
    for _ in range(rng.choice((1, 1, 2))):
        _edit_json(rng, said)
    return close_model(_dump(said), arrays)


def edit_header_text(rng: random.Random, data: bytes) -> bytes:
    header, arrays = open_model(data)
    how = rng.randrange(4)
    if how == 0:
        header = rng.choice((flip_bits, set_bytes, truncate, insert, delete, copy_block))(
            rng, header
        )
    elif how == 1:
        header = header.replace(b'"params":{', b'"params":{"n_jobs":1,')  # twice
    elif how == 2:
        header = header[:-1] + b',"x":' + b"[" * 100_000
    else:
        header = header.replace(
            b"null", rng.choice((b"NaN", b"1e999", b"-Infinity", b"9" * 5000)), 1
        )
    return close_model(header, arrays)


def edit_array(rng: random.Random, data: bytes) -> bytes:
    """Some elements."""
    header, arrays = open_model(data)
    name = _pick(rng, arrays)
    if arrays[name].size:
        changed = arrays[name].copy()
        flat = changed.reshape(-1)
        for _ in range(rng.choice((1, 1, 1, 2, 4))):
            _edit_element(rng, flat)
        arrays[name] = changed
    return close_model(header, arrays)


def edit_arrays(rng: random.Random, data: bytes) -> bytes:
    """The same element of several arrays: a node that is another all over."""
    header, arrays = open_model(data)
    n = len(arrays["tree/attribute"])
    one, other = rng.randrange(n), rng.randrange(n)
    for name in rng.sample(sorted(arrays), rng.randrange(2, 8)):
        array = arrays[name]
        if len(array) == n:
            array = array.copy()
            array[one] = array[other] if rng.random() < 0.7 else array.reshape(-1)[0]
            arrays[name] = array
    return close_model(header, arrays)


def resize_arrays(rng: random.Random, data: bytes) -> bytes:
    """An array, or all those of one length, a little longer or shorter."""
    header, arrays = open_model(data)
    name = _pick(rng, arrays)
    length, by = len(arrays[name]), rng.choice((1, 1, 2, 10))
    grows = rng.random() < 0.5
    for other in [name] if rng.random() < 0.4 else sorted(arrays):
        array = arrays[other]
        if len(array) == length:
            arrays[other] = (
                np.concatenate([array, array[-1:].repeat(by, axis=0)]) if grows else array[:-by]
            )
    return close_model(header, arrays)


def retype_array(rng: random.Random, data: bytes) -> bytes:
    header, arrays = open_model(data)
    name = _pick(rng, arrays)
    how = rng.randrange(4)
    if how == 0:
        dtype = rng.choice(("<i8", "<i4", "<u4", "<f8", "<f4", "|b1", "|u1", "<f2"))
        with np.errstate(all="ignore"):
            arrays[name] = arrays[name].astype(dtype)
    elif how == 1:
        arrays[name] = arrays[name].reshape(-1, 1)
    elif how == 2:
        arrays[name] = arrays[name].T.copy()
    else:
        arrays[name] = np.frombuffer(
            rng.randbytes(arrays[name].nbytes), arrays[name].dtype
        ).reshape(arrays[name].shape)
    return close_model(header, arrays)


def swap_arrays(rng: random.Random, data: bytes) -> bytes:
    header, arrays = open_model(data)
    one, other = _pick(rng, arrays), _pick(rng, arrays)
    how = rng.randrange(4)
    if how == 0:
        arrays[one], arrays[other] = arrays[other], arrays[one]
    elif how == 1:
        del arrays[one]
    elif how == 2:
        arrays[rng.choice(("tree/more", "../../x", "values/0", "x"))] = arrays[one]
    else:  # the nodes of some arrays in another order
        order = list(range(len(arrays["tree/attribute"])))
        rng.shuffle(order)
        for name in rng.sample(sorted(arrays), rng.randrange(1, len(arrays))):
            if len(arrays[name]) == len(order):
                arrays[name] = arrays[name][order]
    return close_model(header, arrays)


def edit_npy_header(rng: random.Random, data: bytes) -> bytes:
    """The text in front of an array, with the checksum of the member put right."""
    header, arrays = open_model(data)
    name = _pick(rng, arrays)
    old, new = rng.choice(
        (
            (b"'shape': (", b"'shape': (9"),
            (b"'shape': (", b"'shape': (-"),
            (b"'shape': (", b"'shape': (99999999,"),
            (b"<", b">"),
            (b"'<i4'", b"'|O'"),
            (b"'<f8'", b"'<M8[s]'"),
            (b"False", b"True"),
            (b"\x93NUMPY\x01", b"\x93NUMPY\x02"),
            (b"'|b1'", b"'|i1'"),
            (b" \n", b"#\n"),
        )
    )
    out = io.BytesIO()
    write_archive(out, header, arrays)
    content = dict(_members(out.getvalue()))
    member = f"{name}.npy"
    content[member] = content[member].replace(old, new, 1)
    return close_members(content)


RAW: tuple[Mutation, ...] = (flip_bits, set_bytes, truncate, insert, delete, copy_block)
ZIP: tuple[Mutation, ...] = (edit_zip_field, edit_zip_field, repack)
REPAIRED: tuple[Mutation, ...] = (
    edit_header,
    edit_header,
    edit_header_text,
    edit_array,
    edit_array,
    edit_array,
    edit_array,
    edit_arrays,
    edit_arrays,
    resize_arrays,
    retype_array,
    swap_arrays,
    edit_npy_header,
)


def mutant(seed: int, number: int, originals: list[bytes]) -> tuple[str, bytes]:
    """What was done, and the file. The same for the same numbers."""
    rng = random.Random(f"{seed}/{number}")
    group = rng.choice((RAW, ZIP, REPAIRED, REPAIRED, REPAIRED))
    how = rng.choice(group)
    original = rng.choice(originals)
    changed = how(rng, original)
    while changed == original:  # an edit may put in what was there
        changed = how(rng, original)
    return how.__name__, changed


# -- what they have in common --------------------------------------------------------------------------------------


def open_model(data: bytes) -> tuple[bytes, dict[str, np.ndarray]]:
    """The header and the arrays, by zipfile and numpy."""
    header, arrays = b"", {}
    for name, content in _members(data):
        if name == HEADER:
            header = content
        else:
            arrays[name.removesuffix(".npy")] = np.load(io.BytesIO(content))
    return header, arrays


def close_model(header: bytes, arrays: dict[str, np.ndarray]) -> bytes:
    """A file with right checksums and the fingerprint that its tree now has."""
    try:
        said = json.loads(header)
        said["fingerprint"] = fingerprint(arrays)
        header = _dump(said)
    except (ValueError, TypeError, RecursionError, KeyError):
        pass  # a header that is none: then for its own sake
    out = io.BytesIO()
    write_archive(out, header, arrays)
    return out.getvalue()


def close_members(content: dict[str, bytes]) -> bytes:
    """The same of members that are bytes already."""
    members = [_Member(name, len(part), zlib.crc32(part)) for name, part in content.items()]
    fronts, _, end = _frame(members)
    pairs = zip(fronts, content.values(), strict=True)
    return b"".join(front + part for front, part in pairs) + end


def fingerprint(arrays: dict[str, np.ndarray]) -> str:
    """As docs/model-format.md describes it."""
    digest = hashlib.sha256()
    for name, array in arrays.items():
        if name.startswith("tree/"):
            field = name.removeprefix("tree/")
            digest.update(f"{field}:{array.dtype.str}:{array.shape};".encode())
            digest.update(array.tobytes())
    return digest.hexdigest()


def _members(data: bytes) -> list[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def _pick(rng: random.Random, arrays: dict[str, np.ndarray]) -> str:
    return rng.choice(sorted(arrays))


def _edit_element(rng: random.Random, flat: np.ndarray) -> None:
    at = rng.randrange(len(flat))
    how = rng.randrange(4)
    if flat.dtype.kind == "b":
        flat[at] = not flat[at]
    elif how == 0:
        flat[at] = flat[rng.randrange(len(flat))]
    elif how == 1 and flat.dtype.kind != "f":
        info = np.iinfo(flat.dtype)
        flat[at] = min(max(int(flat[at]) + rng.choice((-1, 1, 2)), info.min), info.max)
    elif flat.dtype.kind == "f":
        flat[at] = rng.choice((*REALS, float(flat[at]) * rng.choice((2.0, -1.0, 1 + 1e-9))))
    else:
        info = np.iinfo(flat.dtype)
        flat[at] = min(max(rng.choice((*NUMBERS, len(flat))), info.min), info.max)


def _edit_json(rng: random.Random, said: Any) -> None:
    """Somewhere in it: a value changed, a key taken out, put in or exchanged."""
    holders = [said]
    at = said
    while isinstance(at, (dict, list)) and at:
        at = at[rng.choice(list(at))] if isinstance(at, dict) else rng.choice(at)
        if isinstance(at, (dict, list)) and at:
            holders.append(at)
    holder = rng.choice(holders)
    key = rng.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    how = rng.randrange(6)
    if how == 0:
        del holder[key]
    elif how == 1 and isinstance(holder, dict):
        holder[rng.choice(("x", "", "format", "kind"))] = copy.deepcopy(rng.choice(ODD_VALUES))
    elif how == 1:
        holder.insert(rng.randrange(len(holder) + 1), copy.deepcopy(rng.choice(ODD_VALUES)))
    elif how == 2:
        other = rng.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        holder[key], holder[other] = holder[other], holder[key]
    else:
        holder[key] = copy.deepcopy(rng.choice(ODD_VALUES))


def _dump(said: Any) -> bytes:
    return json.dumps(said, separators=(",", ":")).encode("ascii")
