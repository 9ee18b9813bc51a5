"""File statistics of manifest entries, mapped to columns of the reading schema.

Each file's bounds are BinaryRows over the columns of the file's own schema, or of
`_VALUE_STATS_COLS`. They are mapped by field id: a column that the file's schema lacks is all null,
a column without collected statistics is unknown, and bounds of another type are used only if the
cast preserves the order.
Spec: concepts/spec/manifest, statistics; schema evolution.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import (
    Column,
    concat_arrays,
    list_offsets,
    null_array,
    take_rows,
    valid_mask,
)
from paimon_explore.data_types.definitions import (
    AtomicType,
    DataField,
    DataType,
    RowType,
    TypeRoot,
    with_nullable,
)
from paimon_explore.encoding.binary_row.decoder import all_have_arity, decode_rows
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.schema.fixed_buckets import has_rows_of_old_keys
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.scan.manifest_arrays import (
    Rows,
    binary,
    column,
    distinct,
    element,
    items_of,
    numbers,
    row_array,
    trimmed_minimum,
)
from paimon_explore.scan.pruning.statistics_pruning import ColumnStats, StatsTable
from paimon_explore.store.table_store import TableStore

SchemaOf: TypeAlias = Callable[[int], TableSchema]
_SYSTEM_COLUMNS = ("_ROW_ID", "_SEQUENCE_NUMBER")
_WIDENING = (
    (TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.BIGINT),
    (TypeRoot.FLOAT, TypeRoot.DOUBLE),
)


class FileSchemas:
    """The schemas of the files of a branch, each loaded once; implements `SchemaOf`.

    Args:
        store: the branch.
        schema: the reading schema.
    """

    def __init__(self, store: TableStore, schema: TableSchema) -> None:
        self._store = store
        self._schema = schema
        self._known = {schema.id: schema}

    def __call__(self, schema_id: int) -> TableSchema:
        """Return the schema of that id."""
        if schema_id not in self._known:
            self._known[schema_id] = self._store.schemas.load(schema_id)
        return self._known[schema_id]

    @cached_property
    def have_old_keys(self) -> bool:
        """Whether rows may be in other buckets than those of their keys: of append tables only."""
        own = self._schema
        if own.primary_keys or not own.id:
            return False
        older = (one for one in self._store.schemas.list() if own.id < 0 or one.id <= own.id)
        return has_rows_of_old_keys(own, older)


def value_stats(
    entries: ManifestEntries,
    schema_of: SchemaOf,
    wanted: Iterable[DataField],
    *,
    as_written: bool = False,
) -> StatsTable:
    """Bounds and null counts of the wanted columns, per file.

    Args:
        entries: n files.
        schema_of: returns the schema of a schema id.
        wanted: columns of the reading schema.
        as_written: keep the padding of CHAR bounds, which reads trim.

    Returns:
        n rows of statistics; columns without statistics in any file are missing.
    """
    fields = tuple(wanted)
    groups = _groups(entries)
    whole = len(groups) == 1
    parts = [entries] if whole else [entries.take(rows) for rows in groups]
    group_stats = [_group_stats(part, schema_of, fields, as_written=as_written) for part in parts]
    order = np.argsort(np.concatenate(groups or [np.empty(0, np.int64)]), kind="stable")
    row_count = row_array(numbers(entries.table, "row_count"))
    columns = {
        field.name: _restore([stats[i] for stats in group_stats], order)
        for i, field in enumerate(fields)
        if group_stats
    }
    return StatsTable(columns=columns, row_count=row_count)


def key_stats(entries: ManifestEntries, keys: RowType) -> StatsTable:
    """Bounds of the trimmed primary key, per file of n."""
    table = entries.table
    types = [field.type for field in keys]
    lows = decode_rows(binary(table, "key_min"), types, where="_KEY_STATS")
    highs = decode_rows(binary(table, "key_max"), types, where="_KEY_STATS")
    nulls = column(table, "key_null_counts")
    columns = {
        field.name: ColumnStats(
            minimum=trimmed_minimum(lows[i], field.type),
            maximum=highs[i],
            null_count=element(nulls, i),
        )
        for i, field in enumerate(keys)
    }
    return StatsTable(columns=columns, row_count=row_array(numbers(table, "row_count")))


def _groups(entries: ManifestEntries) -> list[Rows]:
    """Row numbers of files grouped by schema, statistics columns and written columns."""
    if not len(entries):
        return []
    table = entries.table
    group = numbers(table, "schema_id")
    for name in ("value_stats_cols", "write_cols"):
        group = _combined(group, _list_numbers(column(table, name)))
    if _is_one(group):
        return [np.arange(len(group))]
    order = np.argsort(group, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(group[order])) + 1)


def _combined(first: Rows, second: Rows) -> Rows:
    """A number per row that is equal for rows where both inputs are equal."""
    if _is_one(second):
        return first
    _, left = np.unique(first, return_inverse=True)
    _, right = np.unique(second, return_inverse=True)
    return left.astype(np.int64) * len(right) + right


def _is_one(numbers: Rows) -> bool:
    """Whether all numbers are the same."""
    return bool((numbers == numbers[0]).all())


def _list_numbers(lists: Column) -> Rows:
    """A number per list of texts that is equal for equal lists; null differs from any list."""
    offsets, valid = list_offsets(lists), valid_mask(lists)
    values = items_of(lists)
    if not valid.any():
        return np.zeros(len(lists), np.int64)
    _, codes = distinct(values)
    known: dict[bytes, int] = {}
    found = np.zeros(len(lists), np.int64)
    if valid.all() and _all_equal(codes, np.diff(offsets)):
        return found
    # This loop is rare: the files of a table mostly list the same columns.
    for row in np.flatnonzero(valid).tolist():
        key = codes[offsets[row] : offsets[row + 1]].tobytes()
        found[row] = known.setdefault(key, len(known) + 1)
    return found


def _all_equal(codes: Rows, sizes: Rows) -> bool:
    """Whether consecutive lists with these items and sizes are all equal."""
    size = int(sizes[0])
    if (sizes != size).any() or len(codes) != len(sizes) * size:
        return False
    return bool((codes.reshape(len(sizes), size) == codes[:size]).all())


def _group_stats(
    entries: ManifestEntries,
    schema_of: SchemaOf,
    wanted: tuple[DataField, ...],
    *,
    as_written: bool,
) -> list[ColumnStats]:
    table = entries.table
    schema = schema_of(table.column("schema_id")[0].as_py())
    written = table.column("write_cols")[0].as_py()
    listed = table.column("value_stats_cols")[0].as_py()
    in_file = written_columns(schema, written)
    held = {field.name: field for field in in_file}
    names = listed if listed is not None else [field.name for field in in_file]
    types = [held[name].type for name in names if name in held]
    if len(types) != len(names) or not _arity_is(table, len(types)):
        return [_unknown(field, len(entries)) for field in wanted]
    by_id = {field.id: field for field in in_file}
    used = [by_id[f.id] for f in wanted if f.id in by_id]
    at = [names.index(source.name) for source in used if source.name in names]
    lows = _bounds(table, "value_min", types, at)
    highs = _bounds(table, "value_max", types, at)
    nulls = column(table, "value_null_counts")
    found: list[ColumnStats] = []
    for field in wanted:
        source = by_id.get(field.id)
        if source is None:
            found.append(_all_null(field, row_array(numbers(table, "row_count"))))
        elif source.name not in names:
            found.append(_unknown(field, len(entries)))
        else:
            position = names.index(source.name)
            counts = element(nulls, position)
            if isinstance(field.type, AtomicType) and keeps_order(source.type, field.type):
                lowest = (
                    lows[position] if as_written else trimmed_minimum(lows[position], source.type)
                )
                low = _as_read(lowest, field.type)
                high = _as_read(highs[position], field.type)
                found.append(ColumnStats(minimum=low, maximum=high, null_count=counts))
            else:
                found.append(replace(_unknown(field, len(entries)), null_count=counts))
    return found


def _as_read(bounds: Column, data_type: AtomicType) -> Column:
    target = to_arrow(data_type)
    return bounds if bounds.type == target else bounds.cast(target)


def _bounds(
    table: pa.Table, name: str, types: list[DataType], positions: list[int]
) -> dict[int, Column]:
    """Decodes some columns of the bounds; keys are their positions in the row."""
    rows = binary(table, name)
    return dict(
        zip(
            positions, decode_rows(rows, types, where="_VALUE_STATS", fields=positions), strict=True
        )
    )


def written_columns(schema: TableSchema, written: Sequence[str] | None) -> list[DataField]:
    """The columns of a file in the order of its statistics, including row tracking columns.

    Args:
        schema: the schema of the file.
        written: its `_WRITE_COLS`.
    """
    if written is None:
        return list(schema.fields)
    bigint = AtomicType(root=TypeRoot.BIGINT)
    known = {field.name: field for field in schema.fields}
    for number, name in enumerate(_SYSTEM_COLUMNS):
        known.setdefault(name, DataField(id=-1 - number, name=name, type=bigint))
    return [known[name] for name in written if name in known]


def _arity_is(table: pa.Table, arity: int) -> bool:
    """Whether all bounds are rows with `arity` fields; some writers leave them empty."""
    return all_have_arity(binary(table, "value_min"), arity, where="_VALUE_STATS")


def keeps_order(source: DataType, target: DataType) -> bool:
    """Whether bounds of a column of type `source` bound its values cast to `target`."""
    if with_nullable(source, nullable=True) == with_nullable(target, nullable=True):
        return True
    if not isinstance(source, AtomicType) or not isinstance(target, AtomicType):
        return False
    source_root, target_root = source.root, target.root
    return any(
        source_root in chain and target_root in chain[chain.index(source_root) :]
        for chain in _WIDENING
    )


def _unknown(field: DataField, count: int) -> ColumnStats:
    nothing = null_array(count, to_arrow(field.type))
    unknown = row_array(np.zeros(count, np.int64), np.zeros(count, np.bool_))
    return ColumnStats(minimum=nothing, maximum=nothing, null_count=unknown)


def _all_null(field: DataField, row_count: pa.Int64Array) -> ColumnStats:
    return replace(_unknown(field, len(row_count)), null_count=row_count)


def _restore(group_stats: list[ColumnStats], order: Rows) -> ColumnStats:
    """Concatenates the statistics of all groups and restores the order of the entries."""
    if len(group_stats) == 1:
        return group_stats[0]
    return ColumnStats(
        minimum=take_rows(concat_arrays([p.minimum for p in group_stats]), order),
        maximum=take_rows(concat_arrays([p.maximum for p in group_stats]), order),
        null_count=take_rows(concat_arrays([p.null_count for p in group_stats]), order),
    )
