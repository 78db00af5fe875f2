# SPDX-License-Identifier: BSD-3-Clause
"""Exit codes of every command: a script can tell what went wrong without reading the message."""

OK = 0
FAILED = 1  # something nobody expected: a bug report is welcome
USAGE = 2  # an unknown option or a value outside its range (typer's own code)
BAD_DATA = 3  # a data file, column or row that cannot be read or does not fit
BAD_MODEL = 4  # a model file that is broken, unsafe or from a newer version
BAD_OUTPUT = 5  # the output exists, or cannot be written (permission, full disk)
SOME_BAD = 6  # --keep-going: some inputs were bad and left out, the others are done
INTERRUPTED = 130  # Ctrl-C, as shells report it
READER_GONE = 141  # who read stdout closed it before the end, as shells report it
