"""Column definitions and types in CREATE TABLE and ALTER TABLE.

Syntax:

    column = name type [NOT NULL | NULL] [COMMENT 'text'] [DEFAULT constant] [PRIMARY KEY]
             [FIRST | AFTER name]
"""

from paimon_explore.data_types.definitions import DataType, with_nullable
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.sql_statements.data_type_names import column_type
from paimon_explore.sql_statements.tokenizer import Reader

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
