# SPDX-License-Identifier: BSD-3-Clause
from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

THRESHOLD: int
SUBSET: int
MULTIWAY: int
GROUPED: int
ORDERED: int
BRANCH: int
CATEGORY: int
FRACTIONAL: int
SURROGATE: int
CRITERIA: dict[str, int]
LEAST_GAP: float
KEY_COLUMNS: int
MAX_BYTE_CODES: int
MOST_FEW_CELLS: int
SMALL_NODE: int
COPIES: str

def trim_heap() -> None: ...
def release_pages(entries: Array) -> None: ...
def fail_allocation(number: int) -> bool: ...
def count_allocations() -> tuple[int, int]: ...

UNKNOWN_CATEGORY: int

def klogk_table(steps_per_bit: float, n: int, out: Array) -> None: ...
def code_table(steps_per_bit: float, prior: float, steps_per_unit: float, out: Array) -> None: ...

class CriterionTables:
    unit: float
    min_leaf: int
    def __init__(
        self,
        kind: int,
        n_classes: int,
        min_leaf: int,
        min_weight: int,
        plain: Array | None,
        tie: float,
        records_split: bool,
        by_ratio: bool,
        side_share: float,
        side_most: float,
        exact_squares: bool,
        steps_per_bit: float,
        klogk_steps_of: Array,
        by_inverse: bool,
        inverse: Array,
        inverse_down: Array,
    ) -> None: ...
    def set_code(
        self, prior: float, steps_per_unit: float, class_code: Array, total_code: Array
    ) -> None: ...
    def losses(self, counts: Array, total: Array, out: Array) -> None: ...

class Level:
    def __init__(
        self,
        start: Array,
        stop: Array,
        first_child: Array,
        n_filled: Array,
        slot: Array,
        n_rows: Array,
        child_start: Array,
        row_start: Array,
        frontier: Array,
        child_slot: Array,
        counts: Array,
        total: Array,
        limit_weight: Array,
        loss: Array,
    ) -> None: ...

class Grower:
    def __init__(
        self,
        tables: CriterionTables,
        codes: Array,
        list_row: Array,
        shape: Array,
        n_codes: Array,
        has_missing: Array,
        missing: int,
        pool: Array,
        cell_start: Array,
        rank_shift: int,
        steps_per_unit: float,
    ) -> None: ...
    def set_targets(self, targets: Array) -> None: ...
    def set_values(self, values: Array, value_start: Array) -> None: ...
    def set_sorted_entries(self, sorted_entries: Array, next_sorted_entries: Array) -> None: ...
    def set_row_lists(self, row_list: Array, next_row_list: Array) -> None: ...
    def set_listed(self, listed_row: Array, listed_weight: Array) -> None: ...
    @property
    def looks_up(self) -> bool: ...
    def read_rows(self, start: int, stop: int) -> None: ...
    def set_instances(
        self,
        y: Array | None,
        weight: Array | None,
        row_of: Array | None,
        first_copy: Array | None,
        narrow: Array | None,
        wide: Array | None,
        exact: Array | None,
    ) -> None: ...
    def partition_and_search(
        self,
        level: Level,
        group0: int,
        group1: int,
        partitions: bool,
        first_node: int,
        a0: int,
        a1: int,
        drawn: Array | None,
        list_scratch: Array,
        score: Array,
        split: Array,
        information: Array | None,
        heuristic: Array,
    ) -> bool: ...

def add_to_histograms(
    codes: Array, index: Array, y: Array, weight: Array | None, histograms: Array
) -> None: ...
def search_histograms(
    grower: Grower,
    level: Level,
    nodes: Array,
    index: Array,
    attribute: int,
    histograms: Array,
    score: Array,
    split: Array,
    information: Array | None,
    heuristic: Array,
) -> bool: ...
def sets_of_histogram(
    grower: Grower,
    level: Level,
    node: int,
    attribute: int,
    histogram: Array,
    table_codes: Array,
    table_branch: Array,
    missing_branch: Array,
) -> bool: ...
def sides_of_ordered(neighbours: Array, table_codes: Array, table_branch: Array) -> None: ...

UNCLEAR: int
CLEAR: int

class SplitLog:
    n_splits: int
    n_all_children: int
    n_entries: int
    def __init__(
        self,
        parent: Array,
        attribute: Array,
        neighbours: Array,
        missing_branch: Array,
        n_children: Array,
        n_filled: Array,
        n_table: Array,
        child_rows: Array,
        child_counts: Array,
        heuristic: Array,
    ) -> None: ...
    def tables(self, codes: Array, branch: Array) -> None: ...

def grow_subtrees(
    grower: Grower,
    level: Level,
    nodes: Array,
    order: Array,
    tie: float,
    least_gain: float,
    above: float,
    least_split: float,
    n_levels: int,
    factor: Array | None,
    most_sorted: int,
    branch: Array,
    lists: Array,
    codes: Array,
    stop: Array,
    log: SplitLog,
) -> bool: ...
def split_nodes(
    grower: Grower,
    level: Level,
    nodes: Array,
    n0: int,
    n1: int,
    attribute: Array,
    split: Array,
    first_child: Array,
    table_start: Array,
    child_rows: Array,
    child_counts: Array,
    table_codes: Array,
    table_branch: Array,
    neighbours: Array,
    missing_branch: Array,
    n_unassigned: Array,
    node_exact: Array | None,
    child_exact: Array | None,
) -> bool: ...
def distribute_rows(
    grower: Grower,
    level: Level,
    nodes: Array,
    n0: int,
    n1: int,
    attribute: Array,
    first_child: Array,
    n_filled: Array,
    n_unassigned: Array,
    known: Array,
    pull: Array | None,
    first_copy: Array,
    child_rows: Array,
    child_counts: Array,
    child_exact: Array,
) -> bool: ...
def count_cuts(
    grower: Grower, level: Level, nodes: Array, attribute: Array, split: Array, cuts: Array
) -> None: ...
def find_variety(grower: Grower, level: Level, attribute: int, first: Array) -> None: ...
def scatter_rows(
    grower: Grower,
    level: Level,
    nodes: Array,
    n0: int,
    n1: int,
    first_child: Array,
    n_filled: Array,
    row_start: Array,
) -> bool: ...
def agreements(
    grower: Grower,
    level: Level,
    nodes: Array,
    n0: int,
    n1: int,
    attribute: Array,
    known: Array,
    tables: CriterionTables,
    a0: int,
    a1: int,
    side: Array,
    weight: Array | None,
    weight_tolerance: int,
    list_scratch: Array,
    agree: Array,
    cut: Array,
) -> bool: ...
def describe_surrogates(
    grower: Grower,
    level: Level,
    node: Array,
    attribute: Array,
    cut: Array,
    s0: int,
    s1: int,
    tables: CriterionTables,
    side: Array,
    weight: Array | None,
    weight_tolerance: int,
    list_scratch: Array,
    neighbours: Array,
    low: Array,
    table_start: Array,
    table_codes: Array,
    table_branch: Array,
    n_codes: Array,
) -> bool: ...
def set_missing_branches(
    grower: Grower,
    level: Level,
    nodes: Array,
    n0: int,
    n1: int,
    attribute: Array,
    first_child: Array,
    n_unassigned: Array,
    surrogates: Array,
    surrogate: Array,
    cut: Array,
    low: Array,
    table_start: Array,
    n_codes: Array,
    table_codes: Array,
    table_branch: Array,
    heaviest: Array,
    child_rows: Array,
    child_counts: Array,
) -> None: ...
def note_sides(
    grower: Grower, level: Level, nodes: Array, attribute: Array, side: Array
) -> None: ...
def class_totals(y: Array, weight: Array | None, out: Array) -> None: ...
def target_totals(targets: Array, weight: Array | None, out: Array) -> None: ...
def target_ranges(
    grower: Grower,
    level: Level,
    nodes: Array,
    first_child: Array,
    attribute: Array,
    lowest: Array,
    highest: Array,
) -> None: ...
def sum_groups(group: Array, values: Array, weight: Array | None, out: Array) -> bool: ...
def number_nodes(
    node: Array,
    y: Array,
    weight: Array | None,
    first_child: Array,
    n_children: Array,
    total: Array,
    mean: Array,
    squares: Array,
) -> bool: ...
def keep_entries(entries: Array, is_kept: Array, out: Array) -> None: ...
def write_rows(y: Array, weight: Array | None, shift: int, out: Array) -> None: ...
def choose_attributes(
    adjusted: Array,
    order: Array,
    tie: float,
    relative: bool,
    score: Array,
    split: Array,
    winner: Array,
    best_score: Array,
    best_split: Array,
) -> None: ...
def best_first(
    first_child: Array, n_children: Array, multiplicity: Array, score: Array, max_leaves: int
) -> bytearray: ...
def count_values(
    table: Array, most: int, codes: Array, ascending: Array, n_values: Array
) -> None: ...
def sorted_codes(values: Array, codes: Array, out: Array, ascending: Array) -> None: ...
def midpoints(below: Array, above: Array, out: Array) -> None: ...
def keys_of(table: Array, keys: Array) -> None: ...
def rank_numbers(values: Array, codes: Array, rows: Array) -> int: ...
def quantile_codes(
    keys: Array,
    cells: Array,
    found: Array,
    scratch: Array,
    weight: Array | None,
    n_bins: int,
    codes: Array,
    bin_min: Array,
    bin_max: Array,
) -> int: ...
def sorted_entries(
    keys: Array, scratch: Array, shift: int, y: Array, entries: Array
) -> tuple[int, int, float | None, float | None]: ...
def text_codes(capsule: Any, codes: Array) -> list[str] | None: ...
def pool_codes(capsule: Any, codes: Array, most: int) -> list[int] | None: ...
def dictionary_codes(capsule: Any, codes: Array) -> list[str] | None: ...
def numbers_with_holes(capsule: Any, out: Array, narrow: bool) -> bool | None: ...
def number_byte_codes(capsule: Any, codes: Array) -> list[float] | None: ...
def object_codes(values: Sequence[Any], codes: Array) -> list[Any]: ...
def take_codes(codes: Array, table: Array, out: Array) -> None: ...
def renumber(codes: Array, row_of: Array, out: Array) -> None: ...
def category_entries(
    codes: Array, n_categories: int, shift: int, y: Array, entries: Array
) -> None: ...

class Router:
    def __init__(
        self,
        attribute: Array,
        threshold: Array,
        first_child: Array,
        table_start: Array,
        table_codes: Array,
        table_branch: Array,
        default_branch: Array,
        missing_branch: Array,
        n_children: Array,
        substitutes: Array,
        substitute_attribute: Array,
        substitute_threshold: Array,
        substitute_low: Array,
        substitute_table: Array,
        substitute_codes: Array,
        substitute_branch: Array,
    ) -> None: ...
    def spread(
        self,
        table: Array,
        indices: Array,
        total: Array,
        proba: Array,
        tie: float,
        leaf: Array,
        out: Array,
        several: Array,
    ) -> bool: ...
    def ends(
        self,
        table: Array,
        indices: Array,
        total: Array,
        start: Array,
        leaf: Array,
        share: Array,
    ) -> bool: ...
    def leaves(
        self, table: Array, row0: int, row1: int, allow_missing: bool, out: Array
    ) -> tuple[int, int] | None: ...

def rows_at(values: Array, indices: Array, row0: int, row1: int, out: Array) -> None: ...
def added_errors_of(
    n: Array, e: Array, kind: int, confidence: float, z: float, out: Array
) -> None: ...
def weakest_links(
    first_child: Array,
    n_children: Array,
    multiplicity: Array,
    risk: Array,
    strength: Array,
    saved: Array,
    leaves: Array,
) -> None: ...
def greedy_removal(
    first_child: Array,
    n_children: Array,
    parent: Array,
    depth: Array,
    gain: Array,
    leaves: Array,
    spend_savings: bool,
    node_out: Array,
    gain_out: Array,
    leaves_out: Array,
) -> int: ...
def prune_with_raising(
    router: Router,
    table: Array,
    y: Array,
    weight: Array | None,
    first_child: Array,
    n_children: Array,
    empty_child: Array,
    code: Array,
    multiplicity: Array,
    counts: Array,
    total: Array,
    class_weight: Array | None,
    kind: int,
    confidence: float,
    z: float,
) -> tuple[
    tuple[bytes, bytes, bytes, bytes, bytes, bytes, bytes, bytes],
    tuple[bytes, bytes, bytes, bytes, bytes],
]: ...
def of_each(name: str, x: Array, out: Array) -> None: ...
def of_pairs(name: str, x: Array, y: Array, out: Array) -> None: ...
def sum_rows(table: Array, out: Array) -> None: ...
def sum_segments(values: Array, start: Array, out: Array) -> None: ...
def parts_of_product(x: Array, y: Array) -> list[float]: ...
def product_sum(x: Array, y: Array) -> float: ...
def matrix_product(a: Array, b: Array, out: Array) -> None: ...
def weighted_products(matrix: Array, weight: Array, out: Array) -> None: ...
def solve_symmetric(matrix: Array, right: Array, least: float) -> None: ...
