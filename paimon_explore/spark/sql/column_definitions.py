"""Column definitions and types in CREATE TABLE and ALTER TABLE."""

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped] # ships no types
from pyspark.errors import PySparkException
from pyspark.sql import types as st

from paimon_explore.data_types.definitions import DataType, with_nullable
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.type_parser import parse_type_text
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.spark.quoted_names import quoted
from paimon_explore.spark.spark_types import paimon_type, spark_type
from paimon_explore.spark.sql.tokenizer import Reader

_STOPS = ("NOT", "NULL", "COMMENT", "DEFAULT", "GENERATED", "FIRST", "AFTER", "PRIMARY", ",")


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenColumn:
    """A column definition in a statement.

    Attributes:
        path: its name, followed by the names of nested fields.
        type: its type.
        comment: its comment.
        default: its default value, as SQL.
        first: FIRST was given.
        after: the column named by AFTER.
        is_key: PRIMARY KEY was given.
    """

    path: tuple[str, ...]
    type: DataType
    comment: str | None = None
    default: str | None = None
    first: bool = False
    after: str | None = None
    is_key: bool = False


def column_type(text: str, column: str) -> DataType:
    """Parse a type: Spark's types, and Paimon's types where Spark has no equivalent.

    As in Spark, `TIMESTAMP` has a local time zone and `TIMESTAMP_NTZ` has none. With a precision
    the names are Paimon's: `TIMESTAMP(3)`, `TIMESTAMP(3) WITH LOCAL TIME ZONE`.

    Raises:
        InvalidInputError: the text is not a type.
    """
    said = ""
    try:
        parsed = st.StructType.fromDDL(f"{quoted('c')} {text}")
    except (PySparkException, Py4JJavaError) as error:
        said = f" Spark says: {str(error).strip().partition(chr(10))[0]}"
    else:
        spark = parsed.fields[0].dataType if isinstance(parsed, st.StructType) else parsed
        found = paimon_type(spark)
        if found is not None:
            return found
    try:
        return parse_type_text(text)
    except InvalidInputError as problem:
        msg = f"Column {column!r}: {text!r} is not a Paimon data type."
        raise InvalidInputError(msg, hint=f"{problem}{said}") from problem


def written_column(reader: Reader, *, nested: bool = False) -> WrittenColumn:
    """Read a column definition: name, type, and clauses in any order.

    Raises:
        InvalidInputError: it cannot be parsed.
        UnsupportedFeatureError: a generated column.
    """
    path = reader.path("a column") if nested else (reader.identifier("a column"),)
    name = ".".join(path)
    kind = column_type(reader.until(*_STOPS, angles=True), name)
    said: dict[str, object] = {}
    while not reader.is_done and not reader.comes(","):
        said.update(_said(reader, name))
    data_type = with_nullable(kind, nullable=False) if said.pop("required", False) else kind
    return WrittenColumn(path=path, type=data_type, **said)  # type: ignore[arg-type]  # by their names


def _said(reader: Reader, name: str) -> dict[str, object]:
    if reader.takes("NOT", "NULL"):
        return {"required": True}
    word = reader.takes_one("NULL", "COMMENT", "DEFAULT", "FIRST", "AFTER")
    if word == "NULL":
        return {}
    if word == "COMMENT":
        return {"comment": reader.text("the comment")}
    if word == "DEFAULT":
        return {"default": reader.until(*_STOPS)}
    if word:
        return {"first": True} if word == "FIRST" else {"after": reader.path("a column")[-1]}
    if reader.takes("PRIMARY", "KEY"):
        return {"is_key": True}
    if reader.comes("GENERATED"):
        raise UnsupportedFeatureError(f"the generated column {name!r}")
    what = "expected NOT NULL, COMMENT, DEFAULT or the next column"
    raise reader.problem(what, part=f"Column {name!r}")


def type_name(data_type: DataType) -> str:
    """Return a type in Spark's SQL syntax; in Paimon's where Spark has no equivalent.

    >>> type_name(parse_type_text("TIMESTAMP(6)")), type_name(parse_type_text("TIMESTAMP(3)"))
    ('timestamp_ntz', 'timestamp(3)')
    """
    plain = with_nullable(data_type, nullable=True)
    spark = spark_type(plain)
    back = paimon_type(spark)
    is_same = back is not None and type_text(back) == type_text(plain)
    return spark.simpleString() if is_same else type_text(plain).lower()
