"""The table schema and its JSON file `schema/schema-<id>`, which is immutable.

Spec: concepts/spec/schema. Without the options, files of version 1 (up to 0.7) have one bucket, and
files up to version 2 (0.8) have the format ORC.

Cache of values that are computed from a table's schema and options.

Consecutive writes to a table use the same schema and options. A process parses each schema once, so
schemas are compared by identity; options are compared by value.
"""

import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import field
from functools import wraps
from typing import Concatenate, NewType, ParamSpec, TypeVar

from paimon_explore.data_types.definitions import (
    DataField,
    DataType,
    RowType,
)
from paimon_explore.data_types.formatter import field_to_json, type_text
from paimon_explore.data_types.json_parser import parse_fields
from paimon_explore.data_types.traversal import children
from paimon_explore.data_types.type_parser import excerpt
from paimon_explore.errors import CorruptFileError, InvalidInputError, UnsupportedVersionError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.json_object import JsonObject, parse_object
from paimon_explore.metadata.options.option_definition import parse_names
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.sanitize import masked_options, sanitized

SchemaId = NewType("SchemaId", int)

CURRENT_VERSION = 3
MAX_SCHEMA_BYTES = 64 * 1024 * 1024
"""Maximum size of a schema file."""

_VERSIONS = (1, 2, 3)
_ONE_BUCKET_VERSION = 1
_ORC_VERSION = 2
_BUCKET_KEY = "bucket-key"
_MAX_COLUMNS = 18
_MAX_LINE_LENGTH = 160


class _Options(dict[str, str]):
    """Options with their real values; `repr` masks secrets."""

    def __repr__(self) -> str:
        return repr(masked_options(self))


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSchema:
    """One version of a table's schema.

    Attributes:
        id: N of the file `schema-N`, from 0.
        fields: the columns in order.
        highest_field_id: the highest field id ever used; ids of dropped columns are not reused.
        partition_keys: names of the partition columns, in the order of the directories.
        primary_keys: names of the primary key columns, including partition columns.
        options: the stored table options.
        comment: the table's comment, if any.
        time_millis: creation time of the file, epoch milliseconds; 0 if unknown.
        version: format version of the file.
    """

    id: int
    fields: tuple[DataField, ...]
    highest_field_id: int
    partition_keys: tuple[str, ...] = ()
    primary_keys: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None
    time_millis: int = 0
    version: int = CURRENT_VERSION

    def __post_init__(self) -> None:
        """Convert the options to a mapping whose `repr` masks secrets."""
        if type(self.options) is not _Options:
            object.__setattr__(self, "options", _Options(self.options))

    def __repr__(self) -> str:
        """Return columns with types, keys and options, a line each; long lines are truncated."""
        columns = [f"{f.name} {type_text(f.type)}" for f in self.fields[:_MAX_COLUMNS]]
        lines = [f"schema {self.id}, {len(self.fields)} columns"]
        lines += [f"columns {_display_line(', '.join(columns))}"] if columns else []
        for what, names in (("primary key", self.primary_keys), ("partition", self.partition_keys)):
            if names:
                lines.append(f"{what} {_display_line(', '.join(names))}")
        if self.options:
            given = [f"{key}={text}" for key, text in sorted(masked_options(self.options).items())]
            lines.append(f"options {_display_line(', '.join(given))}")
        return "\n".join(lines)

    def __hash__(self) -> int:
        """Of the columns and keys; the options are a mapping, which cannot be hashed."""
        return hash((self.id, self.fields, self.partition_keys, self.primary_keys))

    @property
    def row_type(self) -> RowType:
        """The row type of the table."""
        return RowType(fields=self.fields, nullable=False)

    @property
    def trimmed_primary_keys(self) -> tuple[str, ...]:
        """The primary key without partition columns, which is unique within a partition."""
        return tuple(name for name in self.primary_keys if name not in self.partition_keys)

    @property
    def bucket_keys(self) -> tuple[str, ...]:
        """The bucket key columns; empty for append tables without the option `bucket-key`."""
        return parse_names(self.options.get(_BUCKET_KEY, "")) or self.trimmed_primary_keys

    @property
    def is_cross_partition(self) -> bool:
        """Whether the table has a primary key that does not contain all partition columns."""
        return bool(self.primary_keys) and not set(self.partition_keys) <= set(self.primary_keys)

    def field(self, name: str) -> DataField | None:
        """Return the column of that name, if it exists."""
        return next((column for column in self.fields if column.name == name), None)

    def project(self, names: Iterable[str]) -> RowType:
        """Return the row type of existing columns, in the order of the names.

        The same names give the same object, so that readers of many files can recognise it.
        """
        key = (id(self), tuple(names))
        known = _projections.get(key)
        if known is None:
            by_name = {column.name: column for column in self.fields}
            found = RowType(fields=tuple(by_name[name] for name in key[1]), nullable=False)
            if len(_projections) >= _MAX_PROJECTIONS:
                _projections.clear()
            known = _projections[key] = (self, found)
        return known[1]

    @property
    def partition_type(self) -> RowType:
        """The row type of the partition columns."""
        return self.project(self.partition_keys)


_MAX_PROJECTIONS = 64
_projections: dict[tuple[int, tuple[str, ...]], tuple[TableSchema, RowType]] = {}
"""Row types by schema and names; a schema that is kept here keeps its id."""


def _display_line(text: str) -> str:
    """Sanitize a text and truncate it to one line."""
    line = sanitized(text)
    return line if len(line) <= _MAX_LINE_LENGTH else f"{line[: _MAX_LINE_LENGTH - 1]}…"


def parse_schema(data: bytes, path: str) -> TableSchema:
    """Parse a schema file.

    Args:
        data: the content of the file.
        path: the path of the file, for errors.

    Raises:
        CorruptFileError: the file is not a valid schema.
        UnsupportedVersionError: the format version of the file is not supported.
    """
    return schema_from_json(_parse_json(data, path), path)


def _parse_json(data: bytes, path: str) -> Mapping[str, object]:
    if len(data) > MAX_SCHEMA_BYTES:
        raise CorruptFileError(path, "file size", f"must not exceed {MAX_SCHEMA_BYTES} bytes")
    return parse_object(data, path).values


def schema_from_json(members: Mapping[str, object], path: str) -> TableSchema:
    """Create a schema from a JSON object; raises like `parse_schema`. Unknown keys are ignored."""
    source = JsonObject(path=path, values=members)
    version = source.integer("version", default=1, minimum=0)
    if version > CURRENT_VERSION:
        raise UnsupportedVersionError("Schema file", version, _VERSIONS, path)
    fields = parse_fields(members.get("fields"), "fields", path=path, keep_unknown=True)
    _check_level(fields, "fields", path)
    source.require("partitionKeys", "primaryKeys", "options")
    schema = TableSchema(
        version=version,
        id=source.integer("id", minimum=0),
        fields=fields,
        highest_field_id=source.integer("highestFieldId", minimum=-1),
        partition_keys=source.names("partitionKeys"),
        primary_keys=source.names("primaryKeys"),
        options=_options(source, version),
        comment=source.optional_text("comment"),
        time_millis=source.integer("timeMillis", default=0),
    )
    _check_keys(schema, path)
    return schema


def _options(source: JsonObject, version: int) -> Mapping[str, str]:
    options = {}
    if version <= _ONE_BUCKET_VERSION:
        options["bucket"] = "1"
    if version <= _ORC_VERSION:
        options["file.format"] = "orc"
    found = source.optional_object("options")
    for key, value in {} if found is None else found.values.items():
        if isinstance(value, str):
            options[key] = value
        elif isinstance(value, bool | int | float):
            options[key] = json.dumps(value)
        elif value is not None:
            raise source.error(f"options.{key}", f"must be a string, not {excerpt(value)}")
    return options


def _check_level(fields: Iterable[DataField], where: str, path: str) -> None:
    ids: set[int] = set()
    names: set[str] = set()
    for column in fields:
        if column.id in ids:
            raise CorruptFileError(path, where, f"field id {column.id} is used twice")
        if column.name in names:
            raise CorruptFileError(path, where, f"two fields are named {excerpt(column.name)}")
        ids.add(column.id)
        names.add(column.name)
        for row_type in _rows_in(column.type):
            _check_level(row_type.fields, f"{where}({column.name})", path)


def _rows_in(data_type: DataType) -> Iterator[RowType]:
    if isinstance(data_type, RowType):
        yield data_type
        return
    for child in children(data_type):
        yield from _rows_in(child)


def _check_keys(schema: TableSchema, path: str) -> None:
    for key, keys in (
        ("partitionKeys", schema.partition_keys),
        ("primaryKeys", schema.primary_keys),
        (f"options.{_BUCKET_KEY}", schema.bucket_keys),
    ):
        missing = [name for name in keys if schema.field(name) is None]
        if missing:
            raise CorruptFileError(path, key, f"{excerpt(missing[0])} is not a column")
        twice = [name for name in keys if keys.count(name) > 1]
        if twice:
            raise CorruptFileError(path, key, f"column {excerpt(twice[0])} is named twice")


def encode_schema(schema: TableSchema) -> bytes:
    """Encode a schema file in Java's layout.

    A missing comment is omitted, because Java reads a null comment as the text "null".

    Raises:
        InvalidInputError: a name or text contains half of a surrogate pair.
    """
    text = pretty_json(schema_to_json(schema))
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        found = text[max(0, error.start - 20) : error.end].rpartition("\n")[2].strip()
        raise InvalidInputError(
            f"Text in the schema is not Unicode: {found!r} ends with half of a surrogate pair."
        ) from error


def schema_to_json(schema: TableSchema) -> dict[str, object]:
    """Return the JSON object of a schema file, with keys in Java's order."""
    members: dict[str, object] = {
        "version": schema.version,
        "id": schema.id,
        "fields": [field_to_json(column) for column in schema.fields],
        "highestFieldId": schema.highest_field_id,
        "partitionKeys": list(schema.partition_keys),
        "primaryKeys": list(schema.primary_keys),
        "options": dict(schema.options),
    }
    if schema.comment is not None:
        members["comment"] = schema.comment
    members["timeMillis"] = schema.time_millis
    return members


def pretty_json(value: object, indent: str = "") -> str:
    """Format JSON like Jackson's default printer: objects on several lines, lists on one line."""
    inner = indent + "  "
    if isinstance(value, dict):
        members = [
            f"{inner}{_scalar(key)} : {pretty_json(item, inner)}" for key, item in value.items()
        ]
        return "{\n" + ",\n".join(members) + f"\n{indent}}}" if members else "{ }"
    if isinstance(value, list):
        items = [pretty_json(item, indent) for item in value]
        return f"[ {', '.join(items)} ]" if items else "[ ]"
    return _scalar(value)


def _scalar(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


P = ParamSpec("P")
T = TypeVar("T")
_MAX_ENTRIES = 64


def cached_by_schema_and_options(
    make: Callable[Concatenate[TableSchema, TableOptions, P], T],
) -> Callable[Concatenate[TableSchema, TableOptions, P], T]:
    """Cache the results of a function of a schema, options and further hashable arguments.

    The results must be immutable.
    """
    results: dict[Hashable, tuple[TableSchema, Mapping[str, str], T]] = {}

    def found(
        schema: TableSchema, options: TableOptions, /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        key = (id(schema), args, *kwargs.items())
        known = results.get(key)
        if known is not None and known[0] is schema and known[1] == options.texts:
            return known[2]
        made = make(schema, options, *args, **kwargs)
        if len(results) >= _MAX_ENTRIES:
            results.clear()
        results[key] = (schema, dict(options.texts), made)
        return made

    return wraps(make)(found)
