# SPDX-License-Identifier: BSD-3-Clause
"""``as_frame=True``: only here is pandas loaded, since the package does without it."""

from __future__ import annotations

import importlib
from typing import Any


def import_pandas() -> Any:
    try:
        return importlib.import_module("pandas")
    except ImportError as error:
        raise ImportError(
            "as_frame=True requires pandas: install it, or use as_frame=False for a dict of columns"
        ) from error
