# SPDX-License-Identifier: BSD-3-Clause
"""The scenarios of tables as they come, and what each demands."""

from __future__ import annotations

from benchmarks.claims import (
    FASTEST_OTHER,
    OURS,
    PIPELINE,
    BytesARowAtMost,
    Faster,
    GigabytesAtMost,
    NotSlower,
    TimesAtMost,
)
from benchmarks.contestants import Task
from benchmarks.memory import Limits
from benchmarks.runs import Scenario
from benchmarks.table_runs import EncodeRace, FrameRace, TableMemory

OBJECTS, POLARS, ARROW = (f"fasttree, {form}" for form in ("pandas objects", "polars", "Arrow"))
FORMS = (OURS, OBJECTS, POLARS, ARROW)
FRACTIONAL, SURROGATE = "fasttree, fractional", "fasttree, surrogate"
PIPELINE_OBJECTS = f"{PIPELINE}, pandas objects"
TABLES = {"adult": "adult", "births": "natality_dev"}

TABLE_SCENARIOS: tuple[Scenario, ...] = (
    *(
        FrameRace(
            name=f"frame-{name}",
            title=f"from a frame with text and holes: {name}",
            contestants=(*FORMS, PIPELINE, PIPELINE_OBJECTS),
            task=Task(),
            claims=(
                Faster(PIPELINE, at_least=5),
                Faster(PIPELINE_OBJECTS, at_least=5, ours=OBJECTS),
                NotSlower(OURS, ours=POLARS),
                NotSlower(OURS, ours=ARROW),
            ),
            table=table,
        )
        for name, table in TABLES.items()
    ),
    *(
        FrameRace(
            name=f"frame-{name}-2m",
            title=f"from a frame with text and holes: {name}, repeated",
            contestants=(*FORMS, PIPELINE),
            task=Task(),
            claims=(
                Faster(PIPELINE, at_least=10),
                Faster(PIPELINE, at_least=10, ours=OBJECTS),
                NotSlower(OURS, ours=POLARS),
                NotSlower(OURS, ours=ARROW),
            ),
            table=table,
            n_rows=2_000_000,
        )
        for name, table in TABLES.items()
    ),
    FrameRace(
        name="missing-births",
        title="what policies for missing values cost: births",
        contestants=(OURS, FRACTIONAL, SURROGATE),
        task=Task(),
        claims=(
            TimesAtMost(OURS, 2.5, ours=FRACTIONAL),
            TimesAtMost(OURS, 3, ours=SURROGATE),
        ),
        table="natality_dev",
    ),
    EncodeRace(
        name="encode-text",
        title="a column of text to codes",
        contestants=(POLARS, ARROW),
        task=Task(),
        claims=(
            TimesAtMost(FASTEST_OTHER, 1.5, ours=POLARS),
            TimesAtMost(FASTEST_OTHER, 1.5, ours=ARROW),
        ),
        n_rows=1_000_000,
        n_levels=1_000,
    ),
    *(
        TableMemory(
            name=f"memory-levels-{split}",
            title=f"peak memory beyond X, 100,000 levels, {split}",
            contestants=(OURS,),
            task=Task(categorical_split=split),
            claims=(BytesARowAtMost(120),),
            source="many levels",
            n_rows=1_000_000,
            n_columns=5,
        )
        for split in ("subset", "multiway")
    ),
    TableMemory(
        name="memory-fractional",
        title="peak memory beyond X, fractional, 30 % holes",
        contestants=(FRACTIONAL,),
        task=Task(),
        claims=(GigabytesAtMost(2, ours=FRACTIONAL),),
        source="holed",
        n_rows=200_000,
        n_columns=20,
        limits=Limits(gigabytes=8, seconds=120),
    ),
)
