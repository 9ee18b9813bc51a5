"""Data types in SQL: Spark's names, and Paimon's where Spark has no equivalent.

As in Spark, `TIMESTAMP` has a local time zone and `TIMESTAMP_NTZ` has none. With a precision the
names are Paimon's: `TIMESTAMP(3)`, `TIMESTAMP(3) WITH LOCAL TIME ZONE`.
"""

from collections.abc import Mapping

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from paimon_explore.data_types.definitions import (
    FLOATS,
    INTEGERS,
    MAX_LENGTH,
    ArrayType,
    AtomicType,
    DataField,
    DataType,
    MapType,
    RowType,
    TypeRoot,
    with_nullable,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.type_parser import parse_type_text
from paimon_explore.errors import InvalidInputError

_DIGITS = 6
_PLAIN = INTEGERS | FLOATS | {TypeRoot.BOOLEAN, TypeRoot.DATE, TypeRoot.VARIANT}
_STRING = AtomicType(root=TypeRoot.VARCHAR, length=MAX_LENGTH)
_BINARY = AtomicType(root=TypeRoot.VARBINARY, length=MAX_LENGTH)
_LOCAL = AtomicType(root=TypeRoot.TIMESTAMP_LTZ, precision=_DIGITS)
_WITHOUT_ZONE = AtomicType(root=TypeRoot.TIMESTAMP, precision=_DIGITS)
_NAMED: Mapping[str, tuple[AtomicType, str]] = {
    **{root.value: (AtomicType(root=root), root.value.lower()) for root in _PLAIN},
    "TEXT": (_STRING, "string"),
    "BINARY": (_BINARY, "binary"),
    "TIMESTAMPTZ": (_LOCAL, "timestamp"),
    "TIMESTAMPLTZ": (_LOCAL, "timestamp"),
    "TIMESTAMPNTZ": (_WITHOUT_ZONE, "timestamp_ntz"),
}
_NAMES = dict(_NAMED.values())
_SIZED = {"VARCHAR": TypeRoot.VARCHAR, "CHAR": TypeRoot.CHAR}
_MAX_PRECISION = 38


def column_type(text: str, column: str) -> DataType:
    """Parse the type of a column.

    Raises:
        InvalidInputError: the text is not a type.
    """
    try:  # as a column: `DataType.build` ignores what follows a type
        schema = sqlglot.parse_one(f"CREATE TABLE t (c {text})", read="spark").this
    except (SqlglotError, ValueError):
        schema = None
    columns = schema.expressions if isinstance(schema, exp.Schema) else []
    found = _field(0, columns[0]) if len(columns) == 1 else None
    if found is not None and not columns[0].args.get("constraints"):
        return found.type
    try:
        return parse_type_text(text)
    except InvalidInputError as problem:
        msg = f"Column {column!r}: {text!r} is not a Paimon data type."
        raise InvalidInputError(msg, hint=str(problem)) from problem


def _type(node: exp.Expr, *, nullable: bool = True) -> DataType | None:
    """Return the type of a node of sqlglot; None if it is not one of Spark's."""
    if not isinstance(node, exp.DataType):
        return None
    name = str(getattr(node.this, "value", node.this))
    found = _NAMED.get(name)
    if found is not None and not node.expressions:
        return with_nullable(found[0], nullable=nullable)
    made = _sized(name, node) if name in {*_SIZED, "DECIMAL", "TIME"} else _nested(name, node)
    return None if made is None else with_nullable(made, nullable=nullable)


def _sized(name: str, node: exp.DataType) -> DataType | None:
    sizes = [int(part.name) for part in node.expressions if part.name.isdigit()]
    if name in _SIZED:
        return AtomicType(root=_SIZED[name], length=sizes[0]) if len(sizes) == 1 else None
    if name == "TIME":
        return AtomicType(root=TypeRoot.TIME, precision=(sizes or [_DIGITS])[0])
    precision, scale = (*sizes, *(10, 0)[len(sizes) :])
    if not 0 <= scale <= precision <= _MAX_PRECISION:
        return None
    return AtomicType(root=TypeRoot.DECIMAL, precision=precision, scale=scale)


def _nested(name: str, node: exp.DataType) -> DataType | None:
    if name == "STRUCT":
        fields = [_field(at, one) for at, one in enumerate(node.expressions)]
        known = tuple(field for field in fields if field is not None)
        return RowType(fields=known) if known and len(known) == len(fields) else None
    parts = [
        _type(one, nullable=not (name == "MAP" and at == 0))
        for at, one in enumerate(node.expressions)
    ]
    known_parts = [part for part in parts if part is not None]
    if name == "ARRAY" and len(parts) == len(known_parts) == 1:
        return ArrayType(element=known_parts[0])
    if name == "MAP" and len(parts) == len(known_parts) == 2:  # noqa: PLR2004 - key and value
        return MapType(key=known_parts[0], value=known_parts[1])
    return None


def _field(at: int, node: exp.Expr) -> DataField | None:
    if not isinstance(node, exp.ColumnDef) or node.args.get("kind") is None:
        return None
    rules = [one.args.get("kind") for one in node.args.get("constraints") or []]
    comments = [one.this.name for one in rules if isinstance(one, exp.CommentColumnConstraint)]
    required = any(isinstance(one, exp.NotNullColumnConstraint) for one in rules)
    kind = _type(node.args["kind"], nullable=not required)
    if kind is None:
        return None
    return DataField(id=at, name=node.name, type=kind, description=(comments or [None])[0])


def type_name(data_type: DataType) -> str:
    """Return a type in Spark's SQL syntax; in Paimon's where Spark has no equivalent.

    >>> type_name(parse_type_text("TIMESTAMP(6)")), type_name(parse_type_text("TIMESTAMP(3)"))
    ('timestamp_ntz', 'timestamp(3)')
    """
    plain = with_nullable(data_type, nullable=True)
    return _spark_name(plain) or type_text(plain).lower()


def is_spark_type(data_type: DataType) -> bool:
    """Return whether Spark has a name of a type."""
    return _spark_name(data_type) is not None


def _spark_name(data_type: DataType) -> str | None:  # noqa: PLR0911 - one for each kind of type
    plain = with_nullable(data_type, nullable=True)
    match plain:
        case AtomicType(root=TypeRoot.DECIMAL):
            return f"decimal({plain.precision},{plain.scale})"
        case AtomicType(root=TypeRoot.TIME):
            return f"time({plain.precision})" if (plain.precision or 0) <= _DIGITS else None
        case AtomicType(root=TypeRoot.CHAR | TypeRoot.VARCHAR) if plain not in _NAMES:
            return f"{plain.root.value.lower()}({plain.length})"
        case AtomicType():
            return _NAMES.get(plain)
        case ArrayType(element=element):
            inner = _spark_name(element)
            return None if inner is None else f"array<{inner}>"
        case MapType(key=key, value=value):
            sides = (_spark_name(key), _spark_name(value))
            return None if None in sides else f"map<{sides[0]},{sides[1]}>"
        case RowType(fields=fields):
            names = [_spark_name(field.type) for field in fields]
            members = ",".join(f"{f.name}:{n}" for f, n in zip(fields, names, strict=True))
            return None if None in names else f"struct<{members}>"
        case _:
            return None
