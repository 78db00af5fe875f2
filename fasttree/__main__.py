# SPDX-License-Identifier: BSD-3-Clause
"""``python -m fasttree`` is the command ``fasttree``."""

from fasttree.cli import main

if __name__ == "__main__":
    main()
