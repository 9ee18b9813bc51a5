"""Mapping between the records of manifest files and the columns of their Arrow tables."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from itertools import groupby

import pyarrow as pa

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest import index_manifest, manifest_entry, manifest_list
from paimon_explore.metadata.manifest.index_manifest import (
    DELETION_RANGE,
    GLOBAL_INDEX,
    INDEX_FIELDS,
    INDEX_SCHEMA,
)
from paimon_explore.metadata.manifest.manifest_entry import ENTRY_FIELDS, ENTRY_SCHEMA
from paimon_explore.metadata.manifest.manifest_list import (
    MANIFEST_LIST_FIELDS,
    MANIFEST_LIST_SCHEMA,
)

VERSION_FIELD = "_VERSION"


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The record layout of one kind of manifest file.

    Attributes:
        what: the kind, for messages.
        version: the supported format version.
        schema: the columns of the Arrow table.
        fields: column -> path of the field in the file's records.
        read_types: types in the file of columns whose children have other names there.
        written_types: types to write, if they differ from `schema`.
        late: columns added after Java 2.0, written only if they have values.
    """

    what: str
    version: int
    schema: pa.Schema
    fields: Mapping[str, tuple[str, ...]]
    read_types: Mapping[str, pa.DataType] = field(default_factory=dict)
    written_types: Mapping[str, pa.DataType] = field(default_factory=dict)
    late: tuple[str, ...] = ()

    def read_fields(self, columns: pa.Schema) -> list["pa.Field[pa.DataType]"]:
        """Return the nested fields of the version and these columns, all nullable."""
        return self._nested(columns, self.read_types, nullable=True)

    def written_fields(self, names: list[str]) -> list["pa.Field[pa.DataType]"]:
        """Return the nested fields of the version and these columns as Java declares them."""
        columns = [self.schema.field(name) for name in names]
        return self._nested(columns, self.written_types, nullable=False)

    def _nested(
        self,
        columns: Iterable["pa.Field[pa.DataType]"],
        types: Mapping[str, pa.DataType],
        *,
        nullable: bool,
    ) -> list["pa.Field[pa.DataType]"]:
        fields: list[pa.Field[pa.DataType]] = [
            pa.field(VERSION_FIELD, pa.int32(), nullable=nullable)
        ]
        paths: list[tuple[str, ...]] = [(VERSION_FIELD,)]
        for column in columns:
            path, kind = self.fields[column.name], types.get(column.name, column.type)
            fields.append(pa.field(path[-1], kind, nullable=nullable or column.nullable))
            paths.append(path)
        return _nested(list(zip(paths, fields, strict=True)), nullable=nullable)

    def written_type(self, name: str) -> pa.DataType:
        """Return the type in which a column is written."""
        return self.written_types.get(name, self.schema.field(name).type)


def _nested(
    leaves: Sequence[tuple[tuple[str, ...], "pa.Field[pa.DataType]"]], *, nullable: bool
) -> list["pa.Field[pa.DataType]"]:
    """Build nested fields from leaves with their paths; leaves of one record are adjacent."""
    fields: list[pa.Field[pa.DataType]] = []
    for name, group in groupby(leaves, key=lambda leaf: leaf[0][0]):
        below = [(path[1:], leaf) for path, leaf in group]
        if below[0][0]:
            kind: pa.DataType = pa.struct(_nested(below, nullable=nullable))
            fields.append(pa.field(name, kind, nullable=nullable))
        else:
            fields.append(below[0][1])
    return fields


_TEXTS = pa.list_(pa.field("element", pa.string(), nullable=False))
_LONGS = pa.list_(pa.field("element", pa.int64(), nullable=False))

LIST_LAYOUT = Layout(
    what="manifest list",
    version=manifest_list.VERSION,
    schema=MANIFEST_LIST_SCHEMA,
    fields=MANIFEST_LIST_FIELDS,
)
ENTRY_LAYOUT = Layout(
    what="manifest",
    version=manifest_entry.VERSION,
    schema=ENTRY_SCHEMA,
    fields=ENTRY_FIELDS,
    written_types={
        "extra_files": _TEXTS,
        "creation_time": pa.timestamp("ms"),
        "value_stats_cols": _TEXTS,
        "write_cols": _TEXTS,
        "write_cols_sequences": _LONGS,
    },
    late=("write_cols_sequences",),
)

_STORED_RANGE = pa.struct(
    tuple(
        DELETION_RANGE.field(index).with_name(name)
        for index, name in enumerate(("f0", "f1", "f2", "_CARDINALITY"))
    )
)
_STORED_GLOBAL_INDEX = pa.struct(
    tuple(
        GLOBAL_INDEX.field(index).with_name(f"_{GLOBAL_INDEX.field(index).name.upper()}")
        for index in range(GLOBAL_INDEX.num_fields)
    )
)
_FIELD_IDS = pa.list_(pa.field("element", pa.int32(), nullable=False))
_WRITTEN_GLOBAL_INDEX = pa.struct(
    tuple(
        inner.with_type(_FIELD_IDS) if inner.name == "_EXTRA_FIELD_IDS" else inner
        for inner in map(_STORED_GLOBAL_INDEX.field, range(_STORED_GLOBAL_INDEX.num_fields))
    )
)
INDEX_LAYOUT = Layout(
    what="index manifest",
    version=index_manifest.VERSION,
    schema=INDEX_SCHEMA,
    fields=INDEX_FIELDS,
    read_types={"dv_ranges": pa.list_(_STORED_RANGE), "global_index": _STORED_GLOBAL_INDEX},
    written_types={"dv_ranges": pa.list_(_STORED_RANGE), "global_index": _WRITTEN_GLOBAL_INDEX},
)
