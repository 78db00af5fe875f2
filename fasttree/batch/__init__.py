# SPDX-License-Identifier: BSD-3-Clause
"""Scoring of tables that are larger than memory: record batches in, record batches out.

text, attributes   an Arrow column as the model's numbers or codes, with counts of what is odd in it
scorers            rows of a batch to classes, shares, leaves and rules
rows               one record batch of input becomes one of output
stream             batches are read, scored and written at the same time
readers            files as streams of batches
csv_file           those of CSV, and csv_style: how one is written
writers, atomic    streams as files, which are there whole or not at all
journal            which outputs are there already, for a run that goes on
inputs             what inputs stand for: files, folders, patterns, the standard input
run                one run: inputs to outputs, whole or not at all
files              what goes where, with a report
"""

from __future__ import annotations

try:
    import pyarrow  # noqa: F401
except ImportError as error:
    raise ImportError(
        "batch scoring reads and writes with pyarrow, which is not installed: pip install 'fasttree[cli]'"
    ) from error

from fasttree.batch.errors import ArgumentError, InputError, OutputError
from fasttree.batch.files import score_files
from fasttree.batch.report import Report
from fasttree.batch.stream import score_batches

__all__ = ["ArgumentError", "InputError", "OutputError", "Report", "score_batches", "score_files"]
