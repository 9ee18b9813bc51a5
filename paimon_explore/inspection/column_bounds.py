"""Column statistics of a file or manifest, decoded with the schema they were written with.

Missing bounds have a reason: not collected, omitted, dropped or null.
Spec: concepts/spec/manifest, statistics.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from paimon_explore.data_types.definitions import (
    BYTES,
    TEXTS,
    UNORDERED,
    AtomicType,
    DataField,
    DataType,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.traversal import is_root
from paimon_explore.encoding.binary_row.decoder import arities, decode_rows
from paimon_explore.encoding.binary_row.row_layout import EMPTY_ROW
from paimon_explore.errors import FormatError, InvalidInputError, UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.json_members import JsonMembers
from paimon_explore.inspection.rendering.value_text import value_texts
from paimon_explore.metadata.options.column_options import STATS_MODE
from paimon_explore.metadata.options.table_options import (
    METADATA_STATS_KEEP_FIRST_N_COLUMNS,
    METADATA_STATS_MODE,
    METADATA_STATS_MODE_PER_LEVEL,
    TableOptions,
)
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.scan.pruning.file_statistics import written_columns

_TRUNCATE = re.compile(r"truncate\((\d+)\)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnBounds(JsonMembers):
    """Statistics of one column.

    Attributes:
        column: name in the schema of the file.
        type: type of the column.
        minimum: minimum as text, not escaped; None if missing.
        maximum: maximum as text, not escaped; None if missing.
        null_count: number of nulls; None if unknown.
        reason: why a bound is missing; empty if both exist.
        note: remark on the bounds, such as truncation.
    """

    column: str
    type: str
    minimum: str | None = None
    maximum: str | None = None
    null_count: int | None = None
    reason: str = ""
    note: str = ""

    def state(self) -> dict[str, object]:
        """The statistics as JSON without empty members."""
        members: dict[str, object] = {"column": self.column, "type": self.type}
        if self.minimum is not None and self.maximum is not None:
            members |= {"min": self.minimum, "max": self.maximum}
        if self.null_count is not None:
            members["nulls"] = f"{self.null_count:,}"
        if self.reason:
            members["reason"] = self.reason
        if self.note:
            members["note"] = self.note
        return members


def value_bounds(entry: Mapping[str, object], schema: TableSchema) -> tuple[ColumnBounds, ...]:
    """The statistics of all columns of a data file.

    Args:
        entry: a row of `ENTRY_SCHEMA`.
        schema: the schema of the entry's `schema_id`.
    """
    written = _names(entry["write_cols"])
    listed = _names(entry["value_stats_cols"])
    in_file = written_columns(schema, written)
    held = {field.name: field for field in in_file}
    names = [f.name for f in in_file] if listed is None else listed
    known = [held[name] for name in names if name in held]
    broken = "" if len(known) == len(names) else "_VALUE_STATS_COLS contains an unknown column"
    found: dict[str, ColumnBounds] = {}
    if not broken and not (known and _is_empty(entry["value_min"])):
        decoded = _decoded(entry, "value", known)
        if isinstance(decoded, str):
            broken = decoded
        else:
            found = {bounds.column: bounds for bounds in decoded}
    return tuple(
        _explained(field, found.get(field.name), entry, schema)
        if not broken
        else _bare(field, broken)
        for field in schema.fields
    )


def key_bounds(entry: Mapping[str, object], schema: TableSchema) -> tuple[ColumnBounds, ...]:
    """The bounds of the trimmed primary key of a data file; empty for append tables."""
    keys = [f for name in schema.trimmed_primary_keys for f in schema.fields if f.name == name]
    found = _decoded_or_bare(entry, "key", keys, "no key statistics in this file")
    return tuple(
        _with_truncation_note(bounds, field, 128) for bounds, field in zip(found, keys, strict=True)
    )


def partition_bounds(
    manifest: Mapping[str, object], schema: TableSchema
) -> tuple[ColumnBounds, ...]:
    """The partition range of a manifest.

    Args:
        manifest: a row of `MANIFEST_LIST_SCHEMA`.
        schema: any schema of the table, since partition columns cannot change.
    """
    found = _decoded_or_bare(
        manifest, "partition", schema.partition_type.fields, "the manifest has no entries"
    )
    return tuple(
        bounds
        if bounds.minimum is not None or bounds.reason
        else replace(bounds, maximum=None, reason="all values are null")
        for bounds in found
    )


def _decoded_or_bare(
    row: Mapping[str, object], of: str, fields: Sequence[DataField], if_empty: str
) -> list[ColumnBounds]:
    """The decoded bounds of the fields, or why there are none."""
    if not fields:
        return []
    found = if_empty if _is_empty(row[f"{of}_min"]) else _decoded(row, of, fields)
    return [_bare(field, found) for field in fields] if isinstance(found, str) else found


def _decoded(
    row: Mapping[str, object], of: str, fields: Sequence[DataField]
) -> list[ColumnBounds] | str:
    """The decoded bounds of the fields, or the error."""
    rows = pa.array([row[f"{of}_min"], row[f"{of}_max"]], pa.binary())
    counts = row[f"{of}_null_counts"]
    nulls = counts if isinstance(counts, list) else []
    try:
        columns = decode_rows(rows, [f.type for f in fields], where=f"_{of.upper()}_STATS")
    except (FormatError, UnsupportedFeatureError) as error:
        return error.message
    return [
        ColumnBounds(
            column=field.name,
            type=type_text(field.type),
            minimum=texts[0],
            maximum=texts[1],
            null_count=nulls[i] if i < len(nulls) else None,
        )
        for i, field in enumerate(fields)
        for texts in [value_texts(columns[i], field.type)]
    ]


def _explained(
    field: DataField, bounds: ColumnBounds | None, entry: Mapping[str, object], schema: TableSchema
) -> ColumnBounds:
    mode, option = _mode(field, entry["level"], schema)
    if bounds is None:
        return _bare(field, _why_left_out(field, entry, f"{option} = {mode}"))
    if bounds.minimum is not None and bounds.maximum is not None:
        found = _TRUNCATE.fullmatch(mode)
        return _with_truncation_note(bounds, field, int(found.group(1)) if found else 0)
    reason = _why_null(field, bounds.null_count, entry["row_count"], f"{option} = {mode}", mode)
    return _bare(field, reason, null_count=bounds.null_count)


def _why_left_out(field: DataField, entry: Mapping[str, object], setting: str) -> str:
    written = _names(entry["write_cols"])
    listed = _names(entry["value_stats_cols"])
    if written is not None and field.name not in written:
        return "the column is not in this file (_WRITE_COLS)"
    if listed is None:
        return "the writer collected no statistics for this file"
    if not listed and entry["kind"] == 1:
        return "not stored: DELETE entries omit statistics (manifest.delete-file-drop-stats)"
    if not listed:
        return f"no statistics in this file (_VALUE_STATS_COLS is empty; {setting})"
    return f"not in _VALUE_STATS_COLS ({_unbounded(field.type) or setting})"


def _why_null(field: DataField, nulls: int | None, rows: object, setting: str, mode: str) -> str:
    if nulls is not None and nulls == rows:
        return "all values are null"
    unbounded = _unbounded(field.type)
    if unbounded:
        return unbounded
    if nulls is None or mode.lower() in ("none", "counts"):
        return f"not collected ({setting})"
    if _TRUNCATE.fullmatch(mode) and is_root(field.type, *TEXTS, *BYTES):
        return f"no truncated upper bound exists ({setting})"
    return "the data file stores no bounds (NaN values, nanoseconds or an old writer)"


def _unbounded(data_type: DataType) -> str:
    if not isinstance(data_type, AtomicType):
        return f"bounds are not collected for {type_text(data_type).partition('<')[0].split()[0]}"
    return (
        f"bounds are not collected for {data_type.root.value}"
        if data_type.root in UNORDERED
        else ""
    )


def _mode(field: DataField, level: object, schema: TableSchema) -> tuple[str, str]:
    """The statistics mode of a column, and the option that sets it."""
    options = TableOptions(schema.options)
    try:
        own = STATS_MODE.value_for(field.name, options)
        if own is not None:
            return own, f"fields.{field.name}.stats-mode"
        first = options.value(METADATA_STATS_KEEP_FIRST_N_COLUMNS)
        if 0 <= first <= schema.fields.index(field):
            return "none", METADATA_STATS_KEEP_FIRST_N_COLUMNS.key
        per_level = options.value(METADATA_STATS_MODE_PER_LEVEL)
        if isinstance(level, int) and level in per_level:
            return per_level[level], METADATA_STATS_MODE_PER_LEVEL.key
        return options.value(METADATA_STATS_MODE) or "none", METADATA_STATS_MODE.key
    except InvalidInputError:
        return "unreadable", METADATA_STATS_MODE.key


def _with_truncation_note(bounds: ColumnBounds, field: DataField, limit: int) -> ColumnBounds:
    """The bounds, with a note if their length equals the truncation limit."""
    is_binary = is_root(field.type, *BYTES)
    if not limit or not (is_binary or is_root(field.type, *TEXTS)):
        return bounds
    lengths = [len(text) for text in (bounds.minimum, bounds.maximum) if text]
    if is_binary:
        lengths = [(length - 2) // 2 for length in lengths]  # hex digits after 0x
    if max(lengths, default=0) < limit:
        return bounds
    return replace(bounds, note=f"truncated to {limit} {'bytes' if is_binary else 'characters'}")


def _bare(field: DataField, reason: str, *, null_count: int | None = None) -> ColumnBounds:
    return ColumnBounds(
        column=field.name, type=type_text(field.type), reason=reason, null_count=null_count
    )


def _names(value: object) -> list[str] | None:
    return [str(name) for name in value] if isinstance(value, list) else None


def _is_empty(row: object) -> bool:
    """Whether a row of statistics has no fields."""
    if row in (b"", EMPTY_ROW):
        return True
    try:
        return bool(arities(pa.array([row], pa.binary()))[0] == 0)
    except FormatError:
        return False
