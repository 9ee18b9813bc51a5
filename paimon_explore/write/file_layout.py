"""Layout of data files: columns, format, compression, statistics, target size.

Spec: concepts/spec/datafile; maintenance/configurations.
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import wraps
from typing import TypeVar

from paimon_explore.data_types.definitions import DataField, DataType
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.manifest_entry import FileSource
from paimon_explore.metadata.options.table_options import (
    CHANGELOG_FILE_COMPRESSION,
    FILE_BLOCK_SIZE,
    FILE_COMPRESSION,
    FILE_COMPRESSION_PER_LEVEL,
    FILE_COMPRESSION_ZSTD_LEVEL,
    MAX_INT64,
    TableOptions,
)
from paimon_explore.write.column_statistics import StatsMode
from paimon_explore.write.file_indexes import IndexPlan

K = TypeVar("K")
T = TypeVar("T")
_MAX_ENTRIES = 64
TEXT_FORMATS = frozenset({"csv", "json", "text"})
"""Formats that are compressed as a whole; the file name includes the codec."""
_GROUPED = frozenset({"parquet", "orc", "mosaic"})
_COMPRESSION_OPTIONS = (
    CHANGELOG_FILE_COMPRESSION,
    FILE_COMPRESSION,
    FILE_COMPRESSION_PER_LEVEL,
    FILE_COMPRESSION_ZSTD_LEVEL,
)
_COMPRESSION_SUFFIXES: Mapping[str, str] = {
    "zstd": "zst",
    "gzip": "gz",
    "bzip2": "bz2",
    "none": "",
    "uncompressed": "",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLayout:
    """The properties shared by all data files of one kind.

    Attributes:
        format: `parquet`, `orc`, `avro`, `csv`, `json`, `row` or `blob`.
        compression: a codec name of the option `file.compression`.
        zstd_level: compression level of zstd.
        options: effective options, for settings of single formats.
        prefix: prefix of file names, such as `data-`.
        suffix_compression: whether file names include the compression.
        schema_id: id of the rows' schema.
        fields: the physical columns in file order.
        key_columns: positions of the columns of the trimmed primary key, in key order.
        value_columns: positions of the table's columns.
        value_modes: statistics mode of each value column.
        dense_stats: whether columns without statistics are omitted.
        sequence_column: position of `_SEQUENCE_NUMBER`, None in append files.
        kind_column: position of `_VALUE_KIND`, None in append files.
        level: level of the LSM tree; 0 in append files.
        source: what created the files: a write or a compaction.
        target_bytes: size at which a new file is started.
        target_rows: number of rows at which a new file is started.
        indexes: file indexes to build.
        embedded_index_bytes: index containers up to this size are embedded in the manifest entry.
        numbered: whether `_MIN/_MAX_SEQUENCE_NUMBER` count the rows of append files; if not, both
            are 0 (row tracking: the commit assigns them).
        write_columns: the value of `_WRITE_COLS`: the table's columns in the files; None if the
            files have all columns.
        shredded_maps: maximum number of physical columns of each map in the storage layout
            `shared-shredding`.
        shredded_variants: the types by which VARIANT columns of Parquet files are shredded.
        managed_blobs: positions of the columns of descriptors of managed files.
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
    shredded_maps: Mapping[str, int] = field(default_factory=dict)
    shredded_variants: Mapping[str, DataType] = field(default_factory=dict)
    managed_blobs: tuple[int, ...] = ()

    @property
    def group_bytes(self) -> int | None:
        """Return the configured size of row groups or stripes; None for the default."""
        return self.options.value(FILE_BLOCK_SIZE) if self.format in _GROUPED else None

    @property
    def has_chosen_compression(self) -> bool:
        """Whether the table's options name a codec or its level: all columns are compressed."""
        return any(map(self.options.has, _COMPRESSION_OPTIONS))

    @property
    def extension(self) -> str:
        """Return the extension of file names, without the first dot."""
        codec = self.compression.lower()
        suffix = _COMPRESSION_SUFFIXES.get(codec, codec)
        if self.format in TEXT_FORMATS:
            return f"{self.format}.{suffix}" if suffix else self.format
        return f"{suffix}.{self.format}" if suffix and self.suffix_compression else self.format


def cached_by_identity(make: Callable[[K], T]) -> Callable[[K], T]:
    """Cache the results of a function of one immutable object; the results must be immutable.

    Objects are compared by identity: hashing the layout of a thousand columns takes longer than
    most of what is computed from it.
    """
    results: dict[int, tuple[K, T]] = {}

    def found(key: K) -> T:
        known = results.get(id(key))
        if known is not None and known[0] is key:
            return known[1]
        made = make(key)
        if len(results) >= _MAX_ENTRIES:
            results.clear()
        results[id(key)] = (key, made)
        return made

    return wraps(make)(found)
