"""The manifest entry of a new data file."""

from paimon_explore.encoding.binary_row.row_layout import EMPTY_ROW
from paimon_explore.metadata.manifest.manifest_entry import FileKind
from paimon_explore.write.column_statistics import EMPTY_STATS, EncodedStats
from paimon_explore.write.file_layout import FileLayout
from paimon_explore.write.new_file_names import FileRow


def file_row(
    layout: FileLayout,
    *,
    file_size: int,
    row_count: int,
    sequences: tuple[int, int] = (0, 0),
    key_stats: EncodedStats = EMPTY_STATS,
    value_stats: EncodedStats,
) -> FileRow:
    """Return the entry of a file without its name, its time and retracted rows.

    Args:
        layout: the layout of the file.
        file_size: its size in bytes.
        row_count: its number of rows.
        sequences: smallest and largest sequence number.
        key_stats: statistics of the key columns; none in append files, which have no key either.
        value_stats: statistics of the columns.
    """
    columns = value_stats.columns
    return {
        "kind": FileKind.ADD.value,
        "file_size": file_size,
        "row_count": row_count,
        "min_key": EMPTY_ROW,
        "max_key": EMPTY_ROW,
        **_stats_columns("key", key_stats),
        **_stats_columns("value", value_stats),
        "value_stats_cols": None if columns is None else list(columns),
        "min_sequence_number": sequences[0],
        "max_sequence_number": sequences[1],
        "schema_id": layout.schema_id,
        "level": layout.level,
        "extra_files": [],
        "delete_row_count": 0,
        "file_source": layout.source.value,
    }


def _stats_columns(name: str, stats: EncodedStats) -> FileRow:
    return {
        f"{name}_min": stats.minimum,
        f"{name}_max": stats.maximum,
        f"{name}_null_counts": list(stats.null_counts),
    }
