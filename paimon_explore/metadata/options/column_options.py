"""Table options of columns: `fields.<column>.<setting>`, also `fields.<a,b>.<setting>`.

Spec: primary-key-table/merge-engine.
"""

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.option_definition import (
    Option,
    choice,
    flag,
    integer,
    names,
    one_of,
    parse_names,
    read_value,
    text,
)
from paimon_explore.metadata.options.option_enums import NestedKeyNullStrategy
from paimon_explore.metadata.options.table_options import MAX_INT32

T = TypeVar("T")

_PREFIX = "fields."
_DEFAULT_AGGREGATE = "fields.default-aggregate-function"


@dataclass(frozen=True, slots=True)
class ColumnOption(Generic[T]):
    """An option that can be set per column.

    Attributes:
        option: the option; its key is the part after the column.
    """

    option: Option[T]

    def value_for(self, column: str, options: Mapping[str, str]) -> T:
        """Return the value for one column.

        Raises:
            InvalidInputError: the value is invalid.
        """
        key = f"{_PREFIX}{column}.{self.option.key}"
        if key not in options:
            return self.option.default
        return read_value(key, options[key], self.option.parse)

    def columns_in(self, options: Mapping[str, str]) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yield the columns and the text of each option of this kind, in the order of options."""
        end = "." + self.option.key
        for key, value in options.items():
            if key.startswith(_PREFIX) and key.endswith(end) and key != _DEFAULT_AGGREGATE:
                yield parse_names(key[len(_PREFIX) : -len(end)]), value


AGGREGATE_FUNCTION = ColumnOption(text("aggregate-function"))
"""Aggregate function of the column."""
IGNORE_RETRACT = ColumnOption(flag("ignore-retract"))
"""Ignore -U and -D rows."""
DISTINCT = ColumnOption(flag("distinct"))
"""Aggregate only distinct values."""
LIST_AGG_DELIMITER = ColumnOption(text("list-agg-delimiter", default=","))
"""Delimiter of listagg."""
NESTED_KEY = ColumnOption(names("nested-key"))
"""Key of nested rows."""
NESTED_KEY_NULL_STRATEGY = ColumnOption(
    choice("nested-key-null-strategy", default=NestedKeyNullStrategy.MERGE)
)
"""How to handle null in nested keys."""
NESTED_SEQUENCE_FIELD = ColumnOption(names("nested-sequence-field"))
"""Order of nested rows with the same key."""
COUNT_LIMIT = ColumnOption(integer("count-limit", default=MAX_INT32))
"""Maximum number of nested rows."""
TS_FIELD = ColumnOption(text("ts-field"))
"""Time field in the values of a map."""
SEQUENCE_GROUP = ColumnOption(names("sequence-group"))
"""Columns ordered by this column."""
STATS_MODE = ColumnOption(text("stats-mode"))
"""Mode of the column's statistics."""
DEFAULT_VALUE = ColumnOption(text("default-value"))
"""Value that replaces null on read, up to Paimon 1.2."""
MAP_STORAGE_LAYOUT = ColumnOption(text("map.storage-layout", default="default"))
"""Storage layout of maps."""
MAP_STORAGE_LAYOUTS = ("default", "shared-shredding")
"""Supported layouts; both are read. Parquet files are written in both, ORC files in the default."""
MAP_MAX_COLUMNS = ColumnOption(integer("map.shared-shredding.max-columns", default=256))
"""Maximum number of physical columns of a map in the layout shared-shredding."""
MAP_PLACEMENT_POLICY = ColumnOption(
    one_of(
        "map.shared-shredding.column-placement-policy",
        ("plain", "sequential", "lru"),
        default="lru",
    )
)
"""How Java places keys in physical columns; ignored by this library."""
PK_BTREE_INDEX_OPTIONS = ColumnOption(text("pk-btree.index.options"))
"""Build options of Java as a JSON object."""
PK_BITMAP_INDEX_OPTIONS = ColumnOption(text("pk-bitmap.index.options"))
"""Build options of Java as a JSON object."""
PK_VECTOR_INDEX_TYPE = ColumnOption(text("pk-vector.index.type"))
"""Type of the vector index."""
PK_VECTOR_INDEX_OPTIONS = ColumnOption(text("pk-vector.index.options"))
"""Build options of the vector index as a JSON object."""
PK_FULL_TEXT_INDEX_OPTIONS = ColumnOption(text("pk-full-text.index.options"))
"""Build options of the full-text index, likewise."""
PK_VECTOR_DISTANCE_METRIC = ColumnOption(text("pk-vector.distance.metric", default="inner_product"))
"""Distance of vectors."""
