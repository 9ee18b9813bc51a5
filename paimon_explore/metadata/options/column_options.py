"""Table options of columns: `fields.<column>.<setting>`, also `fields.<a,b>.<setting>`.

Spec: primary-key-table/merge-engine.
"""

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.option_definition import (
    Option,
    choice_parser,
    parse_flag,
    parse_integer,
    parse_names,
    read_value,
)
from paimon_explore.metadata.options.option_enums import MapPlacementPolicy, NestedKeyNullStrategy
from paimon_explore.metadata.options.table_options import MAX_INT32

T = TypeVar("T")

_PREFIX = "fields."
_DEFAULT_AGGREGATE = "fields.default-aggregate-function"


@dataclass(frozen=True, slots=True, kw_only=True)
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
        for key, text in options.items():
            if key.startswith(_PREFIX) and key.endswith(end) and key != _DEFAULT_AGGREGATE:
                yield parse_names(key[len(_PREFIX) : -len(end)]), text


AGGREGATE_FUNCTION: ColumnOption[str | None] = ColumnOption(
    option=Option(
        key="aggregate-function",
        parse=str,
        default=None,
        description="Aggregate function of the column.",
    )
)
IGNORE_RETRACT: ColumnOption[bool] = ColumnOption(
    option=Option(
        key="ignore-retract", parse=parse_flag, default=False, description="Ignore -U and -D rows."
    )
)
DISTINCT: ColumnOption[bool] = ColumnOption(
    option=Option(
        key="distinct",
        parse=parse_flag,
        default=False,
        description="Aggregate only distinct values.",
    )
)
LIST_AGG_DELIMITER: ColumnOption[str] = ColumnOption(
    option=Option(
        key="list-agg-delimiter", parse=str, default=",", description="Delimiter of listagg."
    )
)
NESTED_KEY: ColumnOption[tuple[str, ...]] = ColumnOption(
    option=Option(
        key="nested-key", parse=parse_names, default=(), description="Key of nested rows."
    )
)
NESTED_KEY_NULL_STRATEGY: ColumnOption[NestedKeyNullStrategy] = ColumnOption(
    option=Option(
        key="nested-key-null-strategy",
        parse=choice_parser(NestedKeyNullStrategy),
        default=NestedKeyNullStrategy.MERGE,
        description="How to handle null in nested keys.",
    )
)
NESTED_SEQUENCE_FIELD: ColumnOption[tuple[str, ...]] = ColumnOption(
    option=Option(
        key="nested-sequence-field",
        parse=parse_names,
        default=(),
        description="Order of nested rows with the same key.",
    )
)
COUNT_LIMIT: ColumnOption[int] = ColumnOption(
    option=Option(
        key="count-limit",
        parse=parse_integer,
        default=MAX_INT32,
        description="Maximum number of nested rows.",
    )
)
TS_FIELD: ColumnOption[str | None] = ColumnOption(
    option=Option(
        key="ts-field", parse=str, default=None, description="Time field in the values of a map."
    )
)
SEQUENCE_GROUP: ColumnOption[tuple[str, ...]] = ColumnOption(
    option=Option(
        key="sequence-group",
        parse=parse_names,
        default=(),
        description="Columns ordered by this column.",
    )
)
STATS_MODE: ColumnOption[str | None] = ColumnOption(
    option=Option(
        key="stats-mode", parse=str, default=None, description="Mode of the column's statistics."
    )
)
DEFAULT_VALUE: ColumnOption[str | None] = ColumnOption(
    option=Option(
        key="default-value",
        parse=str,
        default=None,
        description="Value read instead of null, up to 1.2.",
    )
)
MAP_STORAGE_LAYOUT: ColumnOption[str] = ColumnOption(
    option=Option(
        key="map.storage-layout",
        parse=str,
        default="default",
        description="Storage layout of maps.",
    )
)
MAP_STORAGE_LAYOUTS = ("default", "shared-shredding")
"""Supported layouts; both are read. Parquet files are written in both, ORC files in the default."""
MAP_MAX_COLUMNS: ColumnOption[int] = ColumnOption(
    option=Option(
        key="map.shared-shredding.max-columns",
        parse=parse_integer,
        default=256,
        description="Maximum number of physical columns of a map in the layout shared-shredding.",
    )
)
MAP_PLACEMENT_POLICY: ColumnOption[MapPlacementPolicy] = ColumnOption(
    option=Option(
        key="map.shared-shredding.column-placement-policy",
        parse=choice_parser(MapPlacementPolicy),
        default=MapPlacementPolicy.LRU,
        description="How Java places keys in physical columns; ignored by this library.",
    )
)
