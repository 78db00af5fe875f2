# SPDX-License-Identifier: BSD-3-Clause
"""Scoring of tables that are larger than memory: record batches in, record batches out.

read_columns   an Arrow column as the model's numbers or codes, with counts of what is odd in it
models         rows of a batch to classes, shares, leaves and rules
score_batch    one record batch of input becomes one of output
stream         batches are read, scored and written at the same time
journal        which outputs are there already, for a run that goes on
inputs         what inputs stand for: files, folders, patterns, the standard input
run            one run: inputs to outputs, whole or not at all
files          what goes where, with a report

Files themselves are read and written by `fasttree.files`.
"""

from __future__ import annotations

try:
    import pyarrow  # noqa: F401
except ImportError as error:
    raise ImportError(
        "batch scoring reads and writes with pyarrow, which is not installed: pip install 'fasttree[cli]'"
    ) from error

from fasttree.batch.files import score_files
from fasttree.batch.report import Report
from fasttree.batch.stream import score_batches
from fasttree.files.errors import ArgumentError, InputError, OutputError

__all__ = ["ArgumentError", "InputError", "OutputError", "Report", "score_batches", "score_files"]
