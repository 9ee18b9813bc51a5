"""The statistics file written by ANALYZE: table and column statistics for query planners.

Spec: concepts/spec/snapshot, `statistics`. Seen in: golden java09 and java200 `analyze`.
"""

from collections.abc import Mapping
from dataclasses import field

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.json_object import JsonObject, parse_object, render_object


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnStatistics:
    """Statistics of one column; None means unknown.

    Attributes:
        column_id: the field id.
        distinct_count: number of distinct values.
        min: smallest value, cast to STRING; of DATE and TIME the number of the day or millisecond.
        max: largest value, likewise.
        null_count: number of nulls.
        average_length: average size of a value in bytes.
        max_length: size of the longest value in bytes.
    """

    column_id: int
    distinct_count: int | None = None
    min: str | None = None
    max: str | None = None
    null_count: int | None = None
    average_length: int | None = None
    max_length: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics:
    """Statistics of a table.

    Attributes:
        snapshot_id: the analyzed snapshot.
        schema_id: its schema.
        merged_record_count: number of rows after merging.
        merged_record_size: their size in bytes.
        columns: statistics by column name.
    """

    snapshot_id: int
    schema_id: int
    merged_record_count: int | None = None
    merged_record_size: int | None = None
    columns: Mapping[str, ColumnStatistics] = field(default_factory=dict)


def parse_statistics(data: bytes, path: str) -> Statistics:
    """Parse a statistics file."""
    source = parse_object(data, path)
    columns = source.optional_object("colStats")
    return Statistics(
        snapshot_id=source.integer("snapshotId"),
        schema_id=source.integer("schemaId"),
        merged_record_count=source.optional_integer("mergedRecordCount"),
        merged_record_size=source.optional_integer("mergedRecordSize"),
        columns={}
        if columns is None
        else {name: _column(columns, name) for name in columns.values},
    )


def encode_statistics(statistics: Statistics) -> bytes:
    """Encode a statistics file."""
    return render_object(
        {
            "snapshotId": statistics.snapshot_id,
            "schemaId": statistics.schema_id,
            "mergedRecordCount": statistics.merged_record_count,
            "mergedRecordSize": statistics.merged_record_size,
            "colStats": {name: _members(column) for name, column in statistics.columns.items()},
        }
    )


def _column(columns: JsonObject, name: str) -> ColumnStatistics:
    source = columns.required_object(name)
    return ColumnStatistics(
        column_id=source.integer("colId"),
        distinct_count=source.optional_integer("distinctCount"),
        min=source.optional_text("min"),
        max=source.optional_text("max"),
        null_count=source.optional_integer("nullCount"),
        average_length=source.optional_integer("avgLen"),
        max_length=source.optional_integer("maxLen"),
    )


def _members(column: ColumnStatistics) -> dict[str, object]:
    values = {
        "colId": column.column_id,
        "distinctCount": column.distinct_count,
        "min": column.min,
        "max": column.max,
        "nullCount": column.null_count,
        "avgLen": column.average_length,
        "maxLen": column.max_length,
    }
    return {key: value for key, value in values.items() if value is not None}
