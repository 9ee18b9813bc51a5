"""Paimon data types as frozen dataclasses.

Ranges and defaults are those of the Java implementation's type parser.

Spec: concepts/spec/schema.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import Enum

from paimon_explore.frozen_dataclass import dataclass

MAX_LENGTH = 2**31 - 1
"""Length of STRING and BYTES, which are VARCHAR and VARBINARY without a limit."""


class TypeRoot(Enum):
    """Kinds of atomic types, by their keyword in schema files."""

    __hash__ = object.__hash__  # members are singletons; Enum.__hash__ is slow

    BOOLEAN = "BOOLEAN"
    TINYINT = "TINYINT"
    SMALLINT = "SMALLINT"
    INT = "INT"
    BIGINT = "BIGINT"
    FLOAT = "FLOAT"
    DOUBLE = "DOUBLE"
    DECIMAL = "DECIMAL"
    CHAR = "CHAR"
    VARCHAR = "VARCHAR"
    BINARY = "BINARY"
    VARBINARY = "VARBINARY"
    DATE = "DATE"
    TIME = "TIME"
    TIMESTAMP = "TIMESTAMP"
    TIMESTAMP_LTZ = "TIMESTAMP WITH LOCAL TIME ZONE"
    VARIANT = "VARIANT"
    BLOB = "BLOB"
    GEOMETRY = "GEOMETRY"
    GEOGRAPHY = "GEOGRAPHY"
    UNKNOWN = "unknown"


TEXTS = frozenset({TypeRoot.CHAR, TypeRoot.VARCHAR})
BYTES = frozenset({TypeRoot.BINARY, TypeRoot.VARBINARY})
INTEGER_BITS = {TypeRoot.TINYINT: 8, TypeRoot.SMALLINT: 16, TypeRoot.INT: 32, TypeRoot.BIGINT: 64}
INTEGERS = frozenset(INTEGER_BITS)
FLOATS = frozenset({TypeRoot.FLOAT, TypeRoot.DOUBLE})
VECTOR_ELEMENTS = INTEGERS | FLOATS | {TypeRoot.BOOLEAN}
"""The types of the elements of vectors."""
NUMBERS = INTEGERS | FLOATS | {TypeRoot.DECIMAL}
TIMESTAMPS = frozenset({TypeRoot.TIMESTAMP, TypeRoot.TIMESTAMP_LTZ})
SPATIAL = frozenset({TypeRoot.GEOMETRY, TypeRoot.GEOGRAPHY})
FIXED_WIDTHS: Mapping[TypeRoot, int] = {
    **dict.fromkeys((TypeRoot.BOOLEAN, TypeRoot.TINYINT), 1),
    TypeRoot.SMALLINT: 2,
    **dict.fromkeys((TypeRoot.INT, TypeRoot.DATE, TypeRoot.TIME, TypeRoot.FLOAT), 4),
    **dict.fromkeys((TypeRoot.BIGINT, TypeRoot.DOUBLE, *TIMESTAMPS), 8),
}
"""Bytes of a value of the kinds that are stored as numbers of a fixed width."""
UNORDERED = SPATIAL | {TypeRoot.VARIANT, TypeRoot.BLOB, TypeRoot.UNKNOWN}
"""The kinds whose values have no order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AtomicType:
    """An atomic type.

    Attributes:
        root: the kind.
        nullable: whether values may be null.
        length: length of CHAR, VARCHAR (code points), BINARY, VARBINARY (bytes); else None.
        precision: digits of DECIMAL, fraction digits of TIME, TIMESTAMP, TIMESTAMP_LTZ; else None.
        scale: scale of DECIMAL; else None.
        parameters: coordinate system and algorithm of GEOMETRY and GEOGRAPHY; of a type that is
            not known, what the schema file has for it: a text, or JSON; else empty.
    """

    root: TypeRoot
    nullable: bool = True
    length: int | None = None
    precision: int | None = None
    scale: int | None = None
    parameters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayType:
    """A list of elements of one type."""

    element: "DataType"
    nullable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorType:
    """A list of exactly `length` elements of one of the types `VECTOR_ELEMENTS`."""

    element: "DataType"
    length: int
    nullable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class MultisetType:
    """A multiset; in Arrow a map from element to its number of occurrences (int32)."""

    element: "DataType"
    nullable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class MapType:
    """A map; keys are never null in files."""

    key: "DataType"
    value: "DataType"
    nullable: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class DataField:
    """A field of a row type.

    Attributes:
        id: unique in the whole schema tree, unchanged by renames, never reused.
        name: its name in this schema.
        type: its type.
        description: its comment, if any.
        default_value: SQL text of the value that writers use for missing columns, if any.
    """

    id: int
    name: str
    type: "DataType"
    description: str | None = None
    default_value: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowType:
    """A row type: the columns of a table, or the fields of a nested ROW."""

    fields: tuple[DataField, ...]
    nullable: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        """The fields' names in order."""
        return tuple(field.name for field in self.fields)

    def field(self, name: str) -> DataField | None:
        """Return the field with that name, if any."""
        return next((field for field in self.fields if field.name == name), None)

    def field_by_id(self, field_id: int) -> DataField | None:
        """Return the field with that id on this level, if any."""
        return next((field for field in self.fields if field.id == field_id), None)

    def __iter__(self) -> Iterator[DataField]:
        """The fields in order."""
        return iter(self.fields)

    def __len__(self) -> int:
        """The number of fields."""
        return len(self.fields)


DataType = AtomicType | ArrayType | VectorType | MultisetType | MapType | RowType


def with_nullable(data_type: DataType, *, nullable: bool) -> DataType:
    """Return the type with another nullability."""
    return data_type if data_type.nullable is nullable else replace(data_type, nullable=nullable)


STRING = AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH)
BOOLEAN = AtomicType(root=TypeRoot.BOOLEAN)
