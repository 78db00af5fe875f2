# SPDX-License-Identifier: BSD-3-Clause
"""Models as files that can be read safely: the container, the header, and what goes into both.

Public surface: `save` and `load` in `model_file`.
"""
