"""What the data files of one kind have in common: columns, format, compression, statistics.

Spec: concepts/spec/datafile; maintenance/configurations.
"""

from collections.abc import Mapping
from dataclasses import field

from paimon_explore.data_types.definitions import DataField
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.manifest_entry import FileSource
from paimon_explore.metadata.options.table_options import FILE_BLOCK_SIZE, MAX_INT64, TableOptions
from paimon_explore.write.column_statistics import StatsMode
from paimon_explore.write.file_indexes import IndexPlan

TEXT_FORMATS = frozenset({"csv", "json"})
"""Compressed as a whole, which their file names tell."""
_GROUPED = frozenset({"parquet", "orc"})
_COMPRESSION_SUFFIXES: Mapping[str, str] = {
    "zstd": "zst",
    "gzip": "gz",
    "bzip2": "bz2",
    "none": "",
    "uncompressed": "",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLayout:
    """What the data files of one kind have in common.

    Attributes:
        format: `parquet`, `orc`, `avro`, `csv`, `json`, `row` or `blob`.
        compression: a codec name of the option `file.compression`.
        zstd_level: of the codec zstd.
        options: the options in force, for what only one format knows.
        prefix: of file names, such as `data-`.
        suffix_compression: whether file names hold the compression.
        schema_id: of the rows.
        fields: the physical columns in file order.
        key_columns: positions of the columns that hold the trimmed primary key, in key order.
        value_columns: positions of the table's columns.
        value_modes: statistics mode of each value column.
        dense_stats: whether columns without statistics are left out.
        sequence_column: position of `_SEQUENCE_NUMBER`, None in append files.
        kind_column: position of `_VALUE_KIND`, None in append files.
        level: of the LSM tree; 0 in append files.
        source: who made the files.
        target_bytes: size at which a new file is begun.
        target_rows: number of rows at which a new file is begun.
        indexes: file indexes to make.
        embedded_index_bytes: an index container of at most this size goes into the manifest entry.
        numbered: append rows are counted in `_MIN/_MAX_SEQUENCE_NUMBER`; False: both are 0 (row
            tracking: the commit fills them in).
        write_columns: what `_WRITE_COLS` names: the columns of the table that the files hold, if
            these are not all; None else.
    """

    format: str
    compression: str
    zstd_level: int = 1
    options: TableOptions = field(default_factory=lambda: TableOptions({}))
    prefix: str = "data-"
    suffix_compression: bool = False
    schema_id: int
    fields: tuple[DataField, ...]
    key_columns: tuple[int, ...] = ()
    value_columns: tuple[int, ...]
    value_modes: tuple[StatsMode, ...]
    dense_stats: bool = True
    sequence_column: int | None = None
    kind_column: int | None = None
    level: int = 0
    source: FileSource = FileSource.APPEND
    target_bytes: int
    target_rows: int = MAX_INT64
    indexes: tuple[IndexPlan, ...] = ()
    embedded_index_bytes: int = 500
    numbered: bool = True
    write_columns: tuple[str, ...] | None = None

    @property
    def group_bytes(self) -> int | None:
        """The size of a row group or stripe that the options ask for; None: as it pays."""
        return self.options.value(FILE_BLOCK_SIZE) if self.format in _GROUPED else None

    @property
    def extension(self) -> str:
        """What file names end in, without the first dot."""
        codec = self.compression.lower()
        suffix = _COMPRESSION_SUFFIXES.get(codec, codec)
        if self.format in TEXT_FORMATS:
            return f"{self.format}.{suffix}" if suffix else self.format
        return f"{suffix}.{self.format}" if suffix and self.suffix_compression else self.format
