# SPDX-License-Identifier: BSD-3-Clause
"""The container of a model file: a zip of a JSON header and `.npy` arrays, none compressed, each aligned.

There is one way to put given members into an archive, down to the last byte. So a reader needs no tolerance: it takes
names, sizes and checksums from the directory, makes all that is not content anew, and wants to find just that. Nothing
overlaps, hides between members, unpacks to more than it is, or says two things to two readers.
"""

from __future__ import annotations

import math
import mmap
import os
import re
import stat
import struct
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np

from fasttree.base.errors import ModelFileError, require

HEADER = "fasttree.json"
FORMAT_VERSION = 4
KNOWN_VERSIONS = (1, 2, 3, 4)
ALIGNMENT = 64
MOST_MEMBERS = 2**16 - 1
MOST_NAME = 64
MOST_HEADER_BYTES = 2**26
MOST_FILE_BYTES = 2**32 - 1  # this and MOST_MEMBERS are what the numbers of a plain zip can say

_LOCAL = struct.Struct("<4s5H3I2H")
_CENTRAL = struct.Struct("<4s6H3I5H2I")
_END = struct.Struct("<4s4H2IH")
_PADDING = struct.Struct("<2H")  # an extra field that says nothing: its number, its length
_PADDING_ID = 0x4654
_ZIP_VERSION, _UNIX, _DAY_ZERO, _PLAIN_FILE = 20, 3 << 8, 0x21, 0o100644 << 16

# How the header begins, whatever the version: what is behind the number is for readers of that version.
_BEGIN = re.compile(rb'\{"format":"fasttree model","format_version":([1-9][0-9]{0,8})[,}]')
_NPY = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '([<|][biuf][1248])', 'fortran_order': False, "
    rb"'shape': \((0|[1-9][0-9]{0,9})(?:,|, (0|[1-9][0-9]{0,9}))\), \} *\n",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class _Member:
    name: str
    size: int
    checksum: int


# -- the one layout ------------------------------------------------------------------------------------------------


def _frame(members: Sequence[_Member]) -> tuple[list[bytes], list[int], bytes]:
    """What stands in front of each member, where its content begins, and what stands behind the last."""
    fronts, starts, directory = [], [], []
    at = 0
    for member in members:
        name = member.name.encode("ascii")
        front_size = _LOCAL.size + len(name) + _PADDING.size
        padding = -(at + front_size) % ALIGNMENT
        shared = (_ZIP_VERSION, 0, 0, 0, _DAY_ZERO, member.checksum, member.size, member.size)
        local = _LOCAL.pack(b"PK\3\4", *shared, len(name), _PADDING.size + padding)
        fronts.append(local + name + _PADDING.pack(_PADDING_ID, padding) + bytes(padding))
        central = _CENTRAL.pack(
            b"PK\1\2", _UNIX | _ZIP_VERSION, *shared, len(name), 0, 0, 0, 0, _PLAIN_FILE, at
        )
        directory.append(central + name)
        starts.append(at + len(fronts[-1]))
        at = starts[-1] + member.size
    listing = b"".join(directory)
    n = len(members)
    return fronts, starts, listing + _END.pack(b"PK\5\6", 0, 0, n, n, len(listing), at, 0)


def _npy_header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    """Version 1.0 of numpy's format; the same for every numpy, so that a model has the same bytes."""
    text = f"{{'descr': {dtype.str!r}, 'fortran_order': False, 'shape': {shape!r}, }}"
    size = -(-(len(text) + 11) // ALIGNMENT) * ALIGNMENT
    text = text.ljust(size - 11) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode("ascii")


# -- writing -------------------------------------------------------------------------------------------------------


def write_archive(file: BinaryIO, header: bytes, arrays: Mapping[str, np.ndarray]) -> None:
    """The header, and the arrays by the names of their members without ``.npy``."""
    if len(header) > MOST_HEADER_BYTES:
        raise ValueError(
            f"the names and labels of this model take {len(header)} bytes, but a model file can store at most "
            f"{MOST_HEADER_BYTES}: shorten the labels, or pickle the model"
        )
    if len(arrays) >= MOST_MEMBERS:
        raise ValueError(
            f"this model has {len(arrays)} arrays, many of them in its parameters, but a model file can store fewer "
            f"than {MOST_MEMBERS}: for example, pass folds as one array of fold numbers, or pickle the model"
        )
    contents: list[tuple[str, tuple[Any, ...]]] = [(HEADER, (header,))]
    for name, array in arrays.items():
        plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        contents.append((f"{name}.npy", (_npy_header(plain.dtype, plain.shape), plain.data)))
    members = []
    for name, parts in contents:
        checksum, size = 0, 0
        for part in parts:
            checksum = zlib.crc32(part, checksum)
            size += memoryview(part).nbytes
        members.append(_Member(name, size, checksum))
    room = MOST_FILE_BYTES - 512 * len(members)  # for all that stands around a member
    if sum(member.size for member in members) > room:
        raise ValueError("this model takes more than 4 GiB, the limit of a model file: pickle it")
    fronts, _, end = _frame(members)
    for front, (_, parts) in zip(fronts, contents, strict=True):
        file.write(front)
        for part in parts:
            file.write(part)
    file.write(end)


# -- reading -------------------------------------------------------------------------------------------------------


def read_archive(
    path: str | os.PathLike[str], map_it: bool = False
) -> tuple[bytes, dict[str, np.ndarray]]:
    """What `read_open_archive` gives of the file of this name."""
    # Before it is opened: a pipe would let us wait.
    require(stat.S_ISREG(os.stat(path).st_mode), "it is a directory or a device, not a file")
    with open(path, "rb") as file:
        return read_open_archive(file, map_it)


def read_open_archive(file: BinaryIO, map_it: bool = False) -> tuple[bytes, dict[str, np.ndarray]]:
    """The header and the arrays. These are read-only views into one piece of memory: the file's own, if `map_it`."""
    size = os.fstat(file.fileno()).st_size
    require(size > 0, "the file is empty")
    require(
        size <= MOST_FILE_BYTES,
        f"the file has {size} bytes, more than a model file can have ({MOST_FILE_BYTES})",
    )
    file.seek(0)
    _check_header(file.read(_LOCAL.size + len(HEADER)), file, size)
    if map_it:
        whole: Any = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    else:
        file.seek(0)
        whole = np.empty(size, dtype=np.uint8)
        n_read = file.readinto(whole.data)  # type: ignore[attr-defined]
        require(n_read == size, "the file changed while it was being read")
    view = memoryview(whole).toreadonly()
    content = dict(_contents(view))
    header = bytes(content.pop(HEADER))
    require(header[-1:] not in b" \t\r\n", "its header is followed by whitespace")
    return header, {name.removesuffix(".npy"): _array(name, part) for name, part in content.items()}


def _check_header(front: bytes, file: BinaryIO, size: int) -> None:
    """Is this a model file at all, and of a version that is known here? Its first member has the answer."""
    if front[:1] == b"\x80":
        raise ModelFileError(
            "it looks like a pickle, not like a model file: if you trust its source, load it with pickle or "
            "joblib, and save the model with its method save"
        )
    is_ours = front[:4] == b"PK\3\4" and front[_LOCAL.size :] == HEADER.encode()
    require(is_ours, f"it is not a fasttree model file: its first member is not {HEADER!r}")
    *_, method, _, _, _, _, length, _, n_extra = _LOCAL.unpack(front[: _LOCAL.size])
    require(method == 0, "its members are compressed: use the file as it was saved")
    require(
        length <= MOST_HEADER_BYTES,
        f"its header has a length of {length} bytes, more than {MOST_HEADER_BYTES}",
    )
    file.seek(n_extra, os.SEEK_CUR)
    found = _BEGIN.match(file.read(100))
    if found is None:
        raise ModelFileError(
            "it is not a fasttree model file: its header has a different beginning"
        )
    version = int(found[1])
    require(
        version in KNOWN_VERSIONS,
        f"it has format version {version}, but this fasttree reads versions up to {FORMAT_VERSION}: upgrade fasttree "
        "with `pip install --upgrade fasttree`, or save the model with an older version",
    )


def _contents(view: memoryview) -> Iterator[tuple[str, memoryview]]:
    """The members, checked: they fill the file as the one layout says, and have the checksums they should have."""
    members = _directory(view)
    fronts, starts, end = _frame(members)
    at = 0
    for member, front, start in zip(members, fronts, starts, strict=True):
        require(
            view[at : at + len(front)] == front and start + member.size <= len(view),
            f"the local header of the member {member.name!r} is not valid in a model file",
        )
        at = start + member.size
    require(view[at:] == end, "its directory is not valid in a model file")
    for member, start in zip(members, starts, strict=True):
        content = view[start : start + member.size]
        require(
            zlib.crc32(content) == member.checksum,
            f"the checksum of the member {member.name!r} is wrong: the file was damaged",
        )
        yield member.name, content


def _directory(view: memoryview) -> list[_Member]:
    """What the directory says, of which nothing is believed yet but that it is not too much."""
    cut_short = (
        "its directory is not at the expected place: the file is truncated, or data was appended"
    )
    require(len(view) >= _END.size, cut_short)
    mark, _, _, n, _, size, start, _ = _END.unpack(view[-_END.size :])
    begins = len(view) - _END.size - size
    require(mark == b"PK\5\6" and start == begins, cut_short)
    require(0 < n <= MOST_MEMBERS, f"it has {n} members, but must have 1 to {MOST_MEMBERS}")
    members: dict[str, _Member] = {}
    at = begins
    for _ in range(n):
        require(at + _CENTRAL.size <= len(view) - _END.size, cut_short)
        fields = _CENTRAL.unpack(view[at : at + _CENTRAL.size])
        checksum, length, n_name = fields[7], fields[9], fields[10]
        at += _CENTRAL.size
        raw = bytes(view[at : at + min(n_name, MOST_NAME)])
        name = raw.decode("ascii", errors="replace")
        fits = n_name <= MOST_NAME and raw.isascii()
        require(fits, f"a member has the name {name!r}, which is not valid in a model file")
        require(name not in members, f"it has two members {name!r}")
        require(fields[4] == 0, f"the member {name!r} is compressed: use the file as it was saved")
        members[name] = _Member(name, length, checksum)
        at += n_name
    require(sum(member.size for member in members.values()) < len(view), cut_short)
    require(next(iter(members)) == HEADER, f"its first member is not {HEADER!r}")
    length = members[HEADER].size
    require(
        length <= MOST_HEADER_BYTES,
        f"its header has a length of {length} bytes, more than {MOST_HEADER_BYTES}",
    )
    return list(members.values())


def _array(name: str, content: memoryview) -> np.ndarray:
    require(name.endswith(".npy"), f"it has a member {name!r}, which is not an array")
    found = _NPY.match(content[: 2 * ALIGNMENT])
    if found is None:
        raise ModelFileError(f"the member {name!r} is not a valid array of a model file")
    dtype = _dtype(name, found[1].decode())
    shape = tuple(int(size) for size in found.groups()[1:] if size is not None)
    header = _npy_header(dtype, shape)
    n_items = math.prod(shape)
    require(
        content[: len(header)] == header and len(content) == len(header) + n_items * dtype.itemsize,
        f"the size of the member {name!r} does not match its shape {shape}",
    )
    array = np.frombuffer(content[len(header) :], dtype=dtype, count=n_items).reshape(shape)
    if dtype.kind == "b":
        is_truth = array.view(np.uint8).max(initial=0) <= 1
        require(bool(is_truth), f"the member {name!r} has bool values other than 0 and 1")
    return np.asarray(array, dtype=dtype.newbyteorder("="))


def _dtype(name: str, text: str) -> np.dtype[Any]:
    try:
        dtype = np.dtype(text)
    except TypeError:
        dtype = None
    require(
        dtype is not None and dtype.newbyteorder("<").str == text,
        f"the member {name!r} has elements of the unknown type {text!r}",
    )
    assert dtype is not None
    return dtype
