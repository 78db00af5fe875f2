# SPDX-License-Identifier: BSD-3-Clause
"""The version, where every module can read it."""

__version__ = "0.1.0"
