"""Statistics of data files as columns of the reading schema.

Each file's bounds are rows over the columns of *its* schema, or of `_VALUE_STATS_COLS`. They are
mapped by field id: a column the file's schema lacks is all null, a column without collected
statistics is unknown, and bounds of another type are used only where the cast keeps the order.
Spec: concepts/spec/manifest, statistics; schema evolution.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_explore.encoding.binary_row import decode_rows
from paimon_explore.metadata.manifest_entry import ManifestEntries
from paimon_explore.metadata.schema import TableSchema
from paimon_explore.scan.entries import element
from paimon_explore.scan.prune import ColumnStats, StatsFrame
from paimon_explore.types.arrow import to_arrow
from paimon_explore.types.data_types import (
    AtomicType,
    DataField,
    DataType,
    RowType,
    TypeRoot,
    with_nullable,
)

SchemaOf: TypeAlias = Callable[[int], TableSchema]

_SYSTEM_COLUMNS = ("_ROW_ID", "_SEQUENCE_NUMBER")
_WIDENING = (
    (TypeRoot.TINYINT, TypeRoot.SMALLINT, TypeRoot.INT, TypeRoot.BIGINT),
    (TypeRoot.FLOAT, TypeRoot.DOUBLE),
)


def value_stats(
    entries: ManifestEntries, schema_of: SchemaOf, wanted: Iterable[DataField]
) -> StatsFrame:
    """Bounds and null counts of the wanted columns, per file.

    Args:
        entries: n files.
        schema_of: the schema of a schema id.
        wanted: columns of the reading schema.

    Returns:
        Frame of n rows; columns whose statistics no file has are left out.
    """
    fields = tuple(wanted)
    groups = _groups(entries)
    pieces = [_group_stats(entries.take(rows), schema_of, fields) for rows in groups]
    order = np.argsort(np.concatenate(groups or [np.empty(0, np.int64)]), kind="stable")
    row_count = entries.table.column("row_count").combine_chunks()
    columns = {
        field.name: _restore([piece[i] for piece in pieces], order)
        for i, field in enumerate(fields)
        if pieces
    }
    return StatsFrame(columns=columns, row_count=row_count)


def key_stats(entries: ManifestEntries, keys: RowType) -> StatsFrame:
    """Bounds of the trimmed primary key, per file of n; from first and last key, which are exact."""
    table = entries.table
    types = [field.type for field in keys]
    lows = decode_rows(table.column("key_min").combine_chunks(), types, where="_KEY_STATS")
    highs = decode_rows(table.column("key_max").combine_chunks(), types, where="_KEY_STATS")
    nulls = table.column("key_null_counts").combine_chunks()
    columns = {
        field.name: ColumnStats(minimum=lows[i], maximum=highs[i], null_count=element(nulls, i))
        for i, field in enumerate(keys)
    }
    return StatsFrame(columns=columns, row_count=table.column("row_count").combine_chunks())


def _groups(entries: ManifestEntries) -> list[np.ndarray]:
    """Row numbers of files that share schema, collected columns and written columns."""
    if not len(entries):
        return []
    table = entries.table
    keys = pa.table(
        {
            "schema_id": table.column("schema_id"),
            "stats": pc.binary_join(table.column("value_stats_cols"), "\0"),
            "written": pc.binary_join(table.column("write_cols"), "\0"),
            "row": np.arange(len(entries)),
        }
    )
    grouped = keys.group_by(["schema_id", "stats", "written"]).aggregate([("row", "list")])
    return [np.asarray(rows.values) for rows in grouped.column("row_list")]


def _group_stats(
    entries: ManifestEntries, schema_of: SchemaOf, wanted: tuple[DataField, ...]
) -> list[ColumnStats]:
    table = entries.table
    schema = schema_of(table.column("schema_id")[0].as_py())
    written = table.column("write_cols")[0].as_py()
    listed = table.column("value_stats_cols")[0].as_py()
    in_file = _written(schema, written)
    held = {field.name: field for field in in_file}
    names = listed if listed is not None else [field.name for field in in_file]
    types = [held[name].type for name in names if name in held]
    if len(types) != len(names) or not _arity_is(table, len(types)):
        return [_unknown(field, len(entries)) for field in wanted]
    lows = decode_rows(table.column("value_min").combine_chunks(), types, where="_VALUE_STATS")
    highs = decode_rows(table.column("value_max").combine_chunks(), types, where="_VALUE_STATS")
    nulls = table.column("value_null_counts").combine_chunks()
    found: list[ColumnStats] = []
    for field in wanted:
        source = next((f for f in in_file if f.id == field.id), None)
        if source is None:
            found.append(_all_null(field, table.column("row_count").combine_chunks()))
        elif source.name not in names:
            found.append(_unknown(field, len(entries)))
        else:
            at = names.index(source.name)
            bounds = replace(_unknown(field, len(entries)), null_count=element(nulls, at))
            if keeps_order(source.type, field.type):
                target = to_arrow(field.type)
                bounds = replace(
                    bounds, minimum=lows[at].cast(target), maximum=highs[at].cast(target)
                )
            found.append(bounds)
    return found


def _written(schema: TableSchema, written: list[str] | None) -> list[DataField]:
    """The columns of a file in the order of its statistics; row tracking adds system columns."""
    if written is None:
        return list(schema.fields)
    bigint = AtomicType(root=TypeRoot.BIGINT)
    known = {field.name: field for field in schema.fields}
    for number, name in enumerate(_SYSTEM_COLUMNS):
        known.setdefault(name, DataField(id=-1 - number, name=name, type=bigint))
    return [known[name] for name in written if name in known]


def _arity_is(table: pa.Table, arity: int) -> bool:
    """Whether all bounds are rows of that many fields; writers leave them empty at will."""
    prefix = pc.binary_slice(table.column("value_min"), 0, 4)
    return bool(pc.all(pc.equal(prefix, arity.to_bytes(4, "big"))).as_py())


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
    nothing = pa.nulls(count, to_arrow(field.type))
    return ColumnStats(minimum=nothing, maximum=nothing, null_count=pa.nulls(count, pa.int64()))


def _all_null(field: DataField, row_count: pa.Int64Array) -> ColumnStats:
    nothing = pa.nulls(len(row_count), to_arrow(field.type))
    return ColumnStats(minimum=nothing, maximum=nothing, null_count=row_count)


def _restore(pieces: list[ColumnStats], order: np.ndarray) -> ColumnStats:
    """Statistics of all groups in the order of the entries."""
    back = pa.array(order)
    return ColumnStats(
        minimum=pa.concat_arrays([p.minimum for p in pieces]).take(back),
        maximum=pa.concat_arrays([p.maximum for p in pieces]).take(back),
        null_count=pa.concat_arrays([p.null_count for p in pieces]).take(back),
    )
