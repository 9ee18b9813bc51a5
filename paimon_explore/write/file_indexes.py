"""Build the file indexes of a data file as configured by the table's options.

`file-index.<kind>.columns` names columns, or keys of map columns as `column[key]`; further settings
are `file-index.<kind>.<column>.<setting>`. One container holds all indexes of a file; it is
embedded in the manifest entry if it is small, else stored next to the data file.

Spec: concepts/spec/fileindex. Seen in: golden java200/file_index.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.definitions import (
    TEXTS,
    DataField,
    DataType,
    MapType,
)
from paimon_explore.data_types.traversal import is_root
from paimon_explore.encoding.file_index import bitmap, bloom_filter
from paimon_explore.encoding.file_index.container import encode_container, map_column
from paimon_explore.encoding.file_index.index_types import IndexBuilder, IndexSettings
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.option_definition import (
    parse_integer,
    parse_names,
    parse_number,
    parse_size,
    read_value,
)
from paimon_explore.metadata.options.table_options import TableOptions

T = TypeVar("T")

_PREFIX = "file-index."
_COLUMNS = re.compile(r"file-index\.([^.]+)\.columns")
_MAP_KEY = re.compile(r"(.+)\[(.+)\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexPlan:
    """One index to build.

    Attributes:
        kind: `bloom-filter`, `bitmap`, `bsi` or `range-bitmap`.
        column: the column.
        map_key: the key of a map column whose values are indexed; else None.
        data_type: type of the indexed values.
        settings: settings of the index kind.
    """

    kind: str
    column: str
    map_key: str | None = None
    data_type: DataType
    settings: IndexSettings

    @property
    def name(self) -> str:
        """Return the column's name in the container."""
        return self.column if self.map_key is None else map_column(self.column, self.map_key)


def index_plans(fields: Sequence[DataField], options: TableOptions) -> tuple[IndexPlan, ...]:
    """Return the indexes that the options configure.

    Args:
        fields: the table's columns.
        options: effective options.

    Raises:
        InvalidInputError: an option names an unknown column, or its value cannot be parsed.
    """
    found: list[IndexPlan] = []
    for key in options:
        match = _COLUMNS.fullmatch(key)
        if match is not None:
            names = read_value(key, options[key], parse_names)
            found.extend(_plan(match[1], name, fields, options) for name in names)
    return tuple(sorted(found, key=lambda plan: plan.name))


def _plan(kind: str, name: str, fields: Sequence[DataField], options: TableOptions) -> IndexPlan:
    by_name = {field.name: field.type for field in fields}
    column, map_key = name, None
    match = _MAP_KEY.fullmatch(name)
    if name not in by_name and match is not None:
        column, map_key = match[1], match[2]
    data_type = by_name.get(column)
    if data_type is None:
        raise InvalidInputError(
            f"Option '{_PREFIX}{kind}.columns' contains {name!r}, which is not a column.",
            hint=f"Columns: {choices(by_name)}.",
        )
    if map_key is not None:
        data_type = _value_type(data_type, kind, name, column)
    return IndexPlan(
        kind=kind,
        column=column,
        map_key=map_key,
        data_type=data_type,
        settings=_settings(kind, (name, column), options),
    )


def _value_type(data_type: DataType, kind: str, name: str, column: str) -> DataType:
    if isinstance(data_type, MapType):
        key = data_type.key
        if is_root(key, *TEXTS):
            return data_type.value
    raise InvalidInputError(
        f"Option '{_PREFIX}{kind}.columns' contains the map key {name!r}, but column {column!r} is "
        "not a MAP with STRING keys."
    )


def _settings(kind: str, names: Sequence[str], options: TableOptions) -> IndexSettings:
    def value(setting: str, parse: Callable[[str], T], default: T) -> T:
        keys = [f"{_PREFIX}{kind}.{name}.{setting}" for name in names]
        key = next((key for key in keys if key in options), None)
        return default if key is None else read_value(key, options[key], parse)

    return IndexSettings(
        items=value("items", parse_integer, bloom_filter.DEFAULT_ITEMS),
        fpp=value("fpp", parse_number, bloom_filter.DEFAULT_FPP),
        version=value("version", parse_integer, 2),
        block_bytes=value("index-block-size", parse_size, bitmap.DEFAULT_BLOCK_BYTES),
        chunk_bytes=value("chunk-size", parse_size, None),
    )


class FileIndexes:
    """Builds the indexes of one data file.

    Args:
        plans: the indexes.
        columns: position of each column in the argument of `add`.

    Raises:
        UnsupportedFeatureError: the index kind does not support the column's type.
    """

    def __init__(self, plans: Sequence[IndexPlan], columns: Mapping[str, int]) -> None:
        self._plans = tuple(plans)
        self._columns = columns
        self._builders = [IndexBuilder(p.kind, p.data_type, p.settings) for p in plans]

    def add(self, columns: Sequence[Column]) -> None:
        """Add rows of the file."""
        for plan, builder in zip(self._plans, self._builders, strict=True):
            column = columns[self._columns[plan.column]]
            builder.add(column if plan.map_key is None else _of_key(column, plan))

    def encode(self) -> bytes | None:
        """Return the index container; None without indexes."""
        if not self._plans:
            return None
        return encode_container(
            [
                (plan.name, plan.kind, builder.encode())
                for plan, builder in zip(self._plans, self._builders, strict=True)
            ]
        )


def _of_key(column: Column, plan: IndexPlan) -> Column:
    """Return the values of one key of a map column; null where the key is missing."""
    key = pa.scalar(plan.map_key, pa.string())
    found: Column = pc.map_lookup(column, key, "last").cast(to_arrow(plan.data_type))
    return found
