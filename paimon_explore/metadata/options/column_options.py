"""Options of single columns: `fields.<column>.<setting>`, also `fields.<a,b>.<setting>`.

Spec: primary-key-table/merge-engine.
"""

from collections.abc import Iterator, Mapping
from typing import Generic, TypeVar

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.option_definition import (
    Option,
    choice_parser,
    parse_flag,
    parse_names,
    parse_whole,
    read_value,
)
from paimon_explore.metadata.options.option_enums import NestedKeyNullStrategy
from paimon_explore.metadata.options.table_options import MAX_INT32

T = TypeVar("T")

_PREFIX = "fields."
_DEFAULT_AGGREGATE = "fields.default-aggregate-function"


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnOption(Generic[T]):
    """A setting that each column may have.

    Attributes:
        option: the setting; its key is the part after the column.
    """

    option: Option[T]

    def value_for(self, column: str, options: Mapping[str, str]) -> T:
        """The setting of one column.

        Raises:
            InvalidInputError: the text is no value of the setting.
        """
        key = f"{_PREFIX}{column}.{self.option.key}"
        if key not in options:
            return self.option.default
        return read_value(key, options[key], self.option.parse)

    def columns_in(self, options: Mapping[str, str]) -> Iterator[tuple[tuple[str, ...], str]]:
        """The columns and the text of each such option, in the order of the options."""
        end = "." + self.option.key
        for key, text in options.items():
            if key.startswith(_PREFIX) and key.endswith(end) and key != _DEFAULT_AGGREGATE:
                yield parse_names(key[len(_PREFIX) : -len(end)]), text


AGGREGATE_FUNCTION: ColumnOption[str | None] = ColumnOption(
    option=Option(key="aggregate-function", parse=str, default=None, description="Its aggregate.")
)
IGNORE_RETRACT: ColumnOption[bool] = ColumnOption(
    option=Option(
        key="ignore-retract", parse=parse_flag, default=False, description="-U, -D leave it."
    )
)
DISTINCT: ColumnOption[bool] = ColumnOption(
    option=Option(key="distinct", parse=parse_flag, default=False, description="No value twice.")
)
LIST_AGG_DELIMITER: ColumnOption[str] = ColumnOption(
    option=Option(
        key="list-agg-delimiter", parse=str, default=",", description="Between texts of listagg."
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
        description="Nested rows whose key holds null.",
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
        key="count-limit", parse=parse_whole, default=MAX_INT32, description="Most nested rows."
    )
)
TS_FIELD: ColumnOption[str | None] = ColumnOption(
    option=Option(key="ts-field", parse=str, default=None, description="Time in values of a map.")
)
SEQUENCE_GROUP: ColumnOption[tuple[str, ...]] = ColumnOption(
    option=Option(
        key="sequence-group", parse=parse_names, default=(), description="Columns it orders."
    )
)
STATS_MODE: ColumnOption[str | None] = ColumnOption(
    option=Option(key="stats-mode", parse=str, default=None, description="Its statistics.")
)
DEFAULT_VALUE: ColumnOption[str | None] = ColumnOption(
    option=Option(
        key="default-value", parse=str, default=None, description="Read for null, up to 1.2."
    )
)
MAP_STORAGE_LAYOUT: ColumnOption[str] = ColumnOption(
    option=Option(
        key="map.storage-layout", parse=str, default="default", description="How maps are stored."
    )
)
MAP_STORAGE_LAYOUTS = ("default", "shared-shredding")
"""Those that are known here; files of both are read, and maps are written in the default one."""
