# SPDX-License-Identifier: BSD-3-Clause
"""Tables of any library as named columns, a target and a schema. Nothing above this package reads pandas, polars,
Arrow, lists or dicts.

Public surface: `read_table` and `read_table_for_schema` in `training`, `Table` and `Column` in `table`, `Categorical`
in `categorical`, `Schema` in `schema`.
"""
