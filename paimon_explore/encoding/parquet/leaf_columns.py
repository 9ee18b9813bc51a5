"""The leaf columns of a Parquet file, and which of them contain the requested columns."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence

import pyarrow as pa

from paimon_explore.data_types.traversal import leaf_prefixes
from paimon_explore.encoding.data_file_reader import StoredColumn
from paimon_explore.encoding.parquet.arrow_reader import ColumnChunkMetaData, FileMetaData
from paimon_explore.frozen_dataclass import cached_property


class LeafColumns:
    """The leaf columns of a file.

    Args:
        metadata: of the file.
        schema: the Arrow schema of the file.

    Attributes:
        by_path: their indexes by dotted path.
    """

    def __init__(self, metadata: FileMetaData, schema: pa.Schema) -> None:
        self._metadata = metadata
        self._schema = schema
        self.by_path = _leaves(metadata, schema)

    def paths(self, columns: Sequence[StoredColumn], groups: Sequence[int]) -> list[str]:
        """Return the dotted paths that select columns of row groups."""
        return [
            path
            for column in columns
            for path in self._variant_parts(column, groups)
            or leaf_prefixes(column.name, column.type)
        ]

    def below(self, paths: Sequence[str]) -> list[int]:
        """Return the leaf columns of dotted paths, and of all that is nested in these."""
        known = self.by_path if all(path in self.by_path for path in paths) else self._by_prefix
        return [leaf for path in paths for leaf in known.get(path, ())]

    @cached_property
    def _by_prefix(self) -> Mapping[str, Sequence[int]]:
        """All leaf columns by the beginnings of their paths."""
        found: defaultdict[str, list[int]] = defaultdict(list)
        for path, leaves in self.by_path.items():
            parts = path.split(".")
            for count in range(1, len(parts) + 1):
                found[".".join(parts[:count])] += leaves
        return found

    def whole(self, names: Collection[str]) -> list[int]:
        """Return all leaf columns of columns."""
        return [
            leaf
            for path, found in self.by_path.items()
            if path in names or path.partition(".")[0] in names
            for leaf in found
        ]

    def leaves(self, columns: Sequence[StoredColumn], groups: Sequence[int]) -> list[int]:
        """Return the leaf columns of columns, all those of a ROW."""
        parts = {column.name: self._variant_parts(column, groups) for column in columns}
        is_part = under([path for found in parts.values() for path in found])
        names = {name for name, found in parts.items() if not found}
        return [
            leaf
            for path, found in self.by_path.items()
            if path.partition(".")[0] in names or path in names or is_part(path)
            for leaf in found
        ]

    def _variant_parts(self, column: StoredColumn, groups: Sequence[int]) -> list[str]:
        """Return the dotted paths of the wanted parts of a VARIANT; none for all of it.

        The metadata is needed only if a `value` is not null.
        """
        if not column.paths:
            return []
        from paimon_explore.encoding.variant.paths import shredded_parts  # noqa: PLC0415 - rare

        found = shredded_parts(self._schema.field(column.name).type, column.paths)
        parts = [f"{column.name}.{part}" for part in found or ()]
        is_wanted = under(parts)
        values = [
            self._metadata.row_group(group).column(leaf)
            for path, leaves in self.by_path.items()
            if is_wanted(path) and path.endswith(".value")
            for leaf in leaves
            for group in groups
        ]
        return parts if all(map(_is_null, values)) else [*parts, f"{column.name}.metadata"]


def _is_null(chunk: ColumnChunkMetaData) -> bool:
    """Whether all values of a column chunk are null by its statistics."""
    found = chunk.statistics if chunk.physical_type == "BYTE_ARRAY" else None
    return found is not None and found.null_count == chunk.num_values


def _leaves(metadata: FileMetaData, arrow: pa.Schema) -> Mapping[str, tuple[int, ...]]:
    """Return the indexes of the leaf columns by dotted path."""
    names: list[str] = arrow.names
    if len(names) == metadata.num_columns and not any(map(has_parts, arrow.types)):
        flat = {name: (at,) for at, name in enumerate(names)}
        if len(flat) == len(names):
            return flat
    schema = metadata.schema
    found: dict[str, tuple[int, ...]] = {}
    for i in range(len(schema)):
        path = schema.column(i).path
        found[path] = (*found.get(path, ()), i)
    return found


def has_parts(data_type: pa.DataType) -> bool:
    """Whether the leaf columns of a column of this type may have other names than the column."""
    return data_type.num_fields > 0 or isinstance(data_type, pa.BaseExtensionType)


def under(prefixes: Sequence[str]) -> Callable[[str], bool]:
    """Return whether a dotted path is one of these or a part of one.

    >>> [under(["a", "b.c"])(path) for path in ("a", "a.x", "ab", "b", "b.c.list")]
    [True, True, False, False, True]
    """
    exact = frozenset(prefixes)
    starts = tuple(f"{prefix}." for prefix in prefixes)
    return lambda path: path in exact or path.startswith(starts)
