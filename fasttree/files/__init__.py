# SPDX-License-Identifier: BSD-3-Clause
"""CSV, Parquet, Feather and Arrow files as tables, and as streams of record batches, which are read and written.

Public surface: `open_source` in `readers`, `Output` in `writers`, `CsvStyle` in `csv_style`, `read_table` in
`tables`. The modules need pyarrow, the package itself does not.
"""
