"""CREATE, REPLACE and DROP of tables and databases.

Syntax:

    CREATE TABLE [IF NOT EXISTS] table (column, ... [, key]) [clause ...]
    CREATE TABLE [IF NOT EXISTS] table LIKE table [clause ...]
    CREATE TABLE [IF NOT EXISTS] table [clause ...] [AS] query
    [CREATE OR] REPLACE TABLE table ...
    DROP TABLE [IF EXISTS] table [PURGE]
    CREATE {DATABASE | SCHEMA | NAMESPACE} [IF NOT EXISTS] name [COMMENT 'text'] [LOCATION 'folder']
        [WITH {DBPROPERTIES | PROPERTIES} ('key' = 'value', ...)]
    ALTER {DATABASE | SCHEMA | NAMESPACE} name
        {SET {{DBPROPERTIES | PROPERTIES} ('key' = 'value', ...) | LOCATION 'folder'}
        | UNSET {DBPROPERTIES | PROPERTIES} [IF EXISTS] ('key', ...)}
    DROP {DATABASE | SCHEMA | NAMESPACE} [IF EXISTS] name [RESTRICT | CASCADE]
    key    = [CONSTRAINT name] PRIMARY KEY (name, ...) [NOT ENFORCED]
    clause = USING paimon | PARTITIONED BY (name [type], ...) | COMMENT 'text'
           | {TBLPROPERTIES | OPTIONS | WITH} ('key' = 'value', ...)

Column definitions and types in CREATE TABLE and ALTER TABLE.

Syntax:

    column = name type [NOT NULL | NULL] [COMMENT 'text'] [DEFAULT constant]
             [PRIMARY KEY [NOT ENFORCED]] [FIRST | AFTER name]
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TypedDict

from paimon_explore.commit.planned_again import repeated
from paimon_explore.data_types.definitions import (
    TEXTS,
    DataField,
    DataType,
    RowType,
    with_nullable,
)
from paimon_explore.data_types.traversal import is_root
from paimon_explore.errors import (
    AlreadyExistsError,
    InvalidInputError,
    NotFoundError,
    UnsupportedFeatureError,
)
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.schema_replacement import (
    commit_replacement,
    replace_in_steps,
    replaces_at_once,
    replacing_schema,
)
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metastore.catalog_values import check_empty
from paimon_explore.sql_statements.clauses import check_options, option_keys, options_of
from paimon_explore.sql_statements.data_type_names import column_type
from paimon_explore.sql_statements.outcome import Answer, QueryRows, committed, done, row_type_of
from paimon_explore.sql_statements.queries import run_query
from paimon_explore.sql_statements.table_resolution import Name, Warehouse
from paimon_explore.sql_statements.tokenizer import Reader
from paimon_explore.table.catalog.catalog_objects import new_table_schema
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.table_base import store_of, write_target

_STOPS = ("NOT", "NULL", "COMMENT", "DEFAULT", "GENERATED", "FIRST", "AFTER", "PRIMARY", ",")


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenColumn:
    """A column definition in a statement.

    Attributes:
        path: its name, followed by the names of nested fields.
        type: its type.
        comment: its comment.
        default: its default value, as the schema stores it.
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
    if reader.here.word in {"AS", "FOR", "METADATA"}:
        what = "a watermark" if reader.comes("FOR") else f"the computed column {name!r}"
        raise UnsupportedFeatureError(what, hint="Compute it in queries, or in a view.")
    kind = column_type(reader.until(*_STOPS, angles=True), name)
    said: dict[str, object] = {}
    while not reader.is_done and not reader.comes(","):
        said.update(_said(reader, name, kind))
    data_type = with_nullable(kind, nullable=False) if said.pop("required", False) else kind
    return WrittenColumn(path=path, type=data_type, **said)  # type: ignore[arg-type]  # by their names


def _said(reader: Reader, name: str, kind: DataType) -> dict[str, object]:
    if reader.takes("NOT", "NULL"):
        return {"required": True}
    word = reader.takes_one("NULL", "COMMENT", "DEFAULT", "FIRST", "AFTER")
    if word == "NULL":
        return {}
    if word == "COMMENT":
        return {"comment": reader.text("the comment")}
    if word == "DEFAULT":
        text = "" if reader.takes("NULL") else reader.until(*_STOPS)
        return {"default": plain_default(text, kind)} if text else {}
    if word:
        return {"first": True} if word == "FIRST" else {"after": reader.path("a column")[-1]}
    if reader.takes("PRIMARY", "KEY"):
        reader.takes("NOT", "ENFORCED")
        return {"is_key": True}
    if reader.comes("GENERATED"):
        raise UnsupportedFeatureError(f"the generated column {name!r}")
    what = "expected NOT NULL, COMMENT, DEFAULT or the next column"
    raise reader.problem(what, part=f"Column {name!r}")


_TYPED_TEXT = re.compile(r"^(?:DATE|TIMESTAMP(?:_[A-Z]+)?)\s*(?=['\"])", re.IGNORECASE)
_NUMBER = re.compile(r"[-+]?[0-9.][\w.+-]*|true|false", re.IGNORECASE)
FORMATS = ("PAIMON", "PAIMON_EXPLORE")
_DEPTH = 2


@dataclass(slots=True, kw_only=True)
class _Create:
    """The parsed clauses of a CREATE TABLE statement."""

    name: Name
    ignore: bool
    replaces: bool = False
    creates: bool = True
    columns: list[WrittenColumn] = field(default_factory=list)
    keys: tuple[str, ...] = ()
    partition_by: list[str] = field(default_factory=list)
    options: dict[str, str] = field(default_factory=dict)
    comment: str | None = None


def create_table(
    warehouse: Warehouse, reader: Reader, *, replaces: bool = False, creates: bool = True
) -> Answer | None:
    """Run the rest of a CREATE TABLE; return None if the table belongs to the engine.

    Args:
        warehouse: resolves table names.
        reader: positioned after TABLE.
        replaces: whether an existing table is replaced.
        creates: whether a table that does not exist is created.
    """
    ignore = not replaces and reader.takes("IF", "NOT", "EXISTS")
    parts = reader.path("the new table")
    if _is_foreign(warehouse, reader, parts):
        if warehouse.catalog is not None and not warehouse.engine.has_own_tables:
            warehouse.refuse_missing(parts)
        return None
    made = _Create(name=warehouse.named(parts), ignore=ignore, replaces=replaces, creates=creates)
    if made.name.is_folder:
        raise UnsupportedFeatureError(
            "CREATE TABLE with a folder path", hint="Use a table name: database.table."
        )
    if reader.takes("LIKE"):
        _take_like(warehouse, reader, made)
    elif reader.here.sign == "(":
        _take_columns(reader, made)
    while not reader.is_done and not reader.comes("AS") and not _comes_query(reader):
        _take_clause(reader, made)
    reader.takes("AS")
    return _create(warehouse, made, None if reader.is_done else reader.rest())


def _comes_query(reader: Reader) -> bool:
    if reader.comes("WITH", "("):
        return False
    return reader.here.word in {"SELECT", "WITH", "VALUES", "FROM"} or reader.here.sign == "("


def _is_foreign(warehouse: Warehouse, reader: Reader, parts: tuple[str, ...]) -> bool:
    """Return whether the format or database makes the new table one of the engine."""
    using = _using(reader)
    is_foreign = using is not None and using not in FORMATS
    if len(parts) == 1:
        is_ours = warehouse.find_database(warehouse.database) is not None
        if not is_ours or warehouse.engine.has_own_tables:
            return not is_ours or is_foreign
    else:
        is_ours = warehouse.find(parts) is not None
    if is_ours and is_foreign and using is not None:
        raise UnsupportedFeatureError(
            f"a {using.lower()} table in a Paimon warehouse",
            ".".join(parts),
            hint="Omit USING, or create the table in a database of the engine.",
        )
    if is_ours or len(parts) > _DEPTH:
        return not is_ours
    if using in FORMATS or (using is None and warehouse.catalog is not None):
        return warehouse.engine.has_database(parts[0]) and using is None
    return True


def _using(reader: Reader) -> str | None:
    words = [reader.ahead(at).word for at in range(2000)]
    depth = 0
    for at in range(len(words)):
        sign = reader.ahead(at).sign
        depth += (sign == "(") - (sign == ")")
        if depth == 0 and words[at] == "AS":
            return None
        if depth == 0 and words[at] == "USING":
            return words[at + 1] if at + 1 < len(words) else None
    return None


def _take_columns(reader: Reader, made: _Create) -> None:
    inner = Reader(reader.group("the columns"))
    while not inner.is_done:
        if inner.takes("CONSTRAINT"):
            inner.identifier("the constraint")
        if inner.takes("PRIMARY", "KEY"):
            made.keys = inner.names("the primary key")
            inner.takes("NOT", "ENFORCED")
        else:
            made.columns.append(written_column(inner))
        if not inner.is_done:
            inner.expect(",", part="CREATE TABLE")


def _take_like(warehouse: Warehouse, reader: Reader, made: _Create) -> None:
    schema = latest_schema(store_of(warehouse.base(warehouse.named(reader.path("the table")))))
    made.columns = [
        WrittenColumn(
            path=(one.name,), type=one.type, comment=one.description, default=one.default_value
        )
        for one in schema.fields
    ]
    made.keys, made.partition_by = schema.primary_keys, list(schema.partition_keys)
    made.options, made.comment = dict(schema.options), schema.comment
    if reader.comes("("):
        raise UnsupportedFeatureError(
            "CREATE TABLE … LIKE with a column list",
            hint="Leave the list out: LIKE copies columns, keys and options. ALTER TABLE changes "
            "columns afterwards.",
        )


def _take_clause(reader: Reader, made: _Create) -> None:
    if reader.takes("USING"):
        reader.identifier("the format")
    elif reader.takes("PARTITIONED", "BY"):
        _take_partitions(reader, made)
    elif reader.takes_one("TBLPROPERTIES", "OPTIONS", "WITH"):
        made.options |= options_of(reader, "TBLPROPERTIES")
    elif reader.takes("COMMENT"):
        made.comment = reader.text("the comment")
    elif reader.here.word in {"LOCATION", "CLUSTERED", "CLUSTER", "ROW", "STORED"}:
        word = reader.here.word
        hint = ""
        if word == "LOCATION":
            hint = "Omit the location: a table is stored in the folder of its database."
        elif word == "CLUSTERED":
            hint = "Set the options 'bucket' and 'bucket-key' in TBLPROPERTIES."
        raise UnsupportedFeatureError(f"CREATE TABLE … {word}", made.name.table, hint=hint)
    else:
        known = ["USING", "PARTITIONED BY", "TBLPROPERTIES", "COMMENT", "AS"]
        raise reader.problem(
            "unknown clause", part="CREATE TABLE", hint=f"Clauses: {', '.join(known)}."
        )


def _take_partitions(reader: Reader, made: _Create) -> None:
    for text in reader.parts("the partition columns"):
        one = Reader(text)
        if one.ahead(1).sign == "(":
            raise UnsupportedFeatureError(
                f"PARTITIONED BY {text}",
                made.name.table,
                hint="Paimon partitions by columns only: add a column that contains the value.",
            )
        made.partition_by.append(one.ahead(0).text)
        if one.ahead(1).text:
            made.columns.append(written_column(one))


def _create(warehouse: Warehouse, made: _Create, query: str | None) -> Answer:
    catalog = warehouse.warehouse()
    check_options(list(made.options), "TBLPROPERTIES")
    database, _, table = made.name.table.partition(".")
    there = table in catalog.tables(database)
    if there and made.ignore:
        return done()
    if there and not made.replaces:
        raise AlreadyExistsError("table", table, database)
    if not there and not made.creates:
        warehouse.base(made.name)
    rows = None if query is None else run_query(warehouse, query)
    if there:
        return repeated(TableOptions({}), lambda _: _replace_once(warehouse, made, rows))
    name = made.name.table
    catalog.create_table(name, _row_type(made.columns, rows), **_definition(made))
    if rows is None:
        return done()
    try:
        opened = warehouse.base(made.name)
        fields = latest_schema(store_of(opened)).fields
        return committed(rows.assigned(fields).insert_into(opened))
    except BaseException:
        catalog.drop_table(name)
        raise


class _Definition(TypedDict):
    """The keys, options and comment of a table."""

    primary_key: Sequence[str]
    partition_by: Sequence[str]
    options: Mapping[str, str]
    comment: str | None


def _definition(made: _Create) -> _Definition:
    keys = (*made.keys, *(".".join(c.path) for c in made.columns if c.is_key))
    return {
        "primary_key": keys,
        "partition_by": made.partition_by,
        "options": made.options,
        "comment": made.comment,
    }


def _replace_once(warehouse: Warehouse, made: _Create, rows: QueryRows | None) -> Answer:
    """Give an existing table another schema, and the rows of a query."""
    table = warehouse.base(made.name)
    columns = _row_type(made.columns, rows)
    wanted = new_table_schema(warehouse.warehouse(), columns, **_definition(made))
    schema = replacing_schema(latest_schema(store_of(table)), wanted, table.name)
    options = TableOptions(schema.options)
    target = replace(write_target(table, replaces=True), schema=schema, options=options)
    if not replaces_at_once(target, table.name):
        replace_in_steps(target, table.truncate)
        snapshot = None if rows is None else rows.assigned(schema.fields).insert_into(table)
    elif rows is None:
        snapshot = commit_replacement(target, [])
    else:
        snapshot = rows.assigned(schema.fields).replace_table(target)
    return done() if rows is None else committed(snapshot)


def _row_type(columns: Sequence[WrittenColumn], rows: QueryRows | None) -> RowType:
    if columns and rows is not None:
        raise InvalidInputError(
            "CREATE TABLE … AS cannot define columns, because the query defines them.",
            hint="Omit the list of columns, or run CREATE TABLE and INSERT separately.",
        )
    if rows is not None:
        lost = [field for field in rows.fields if field.type is None]
        if lost:
            raise InvalidInputError(
                f"Column {lost[0].name!r} of the query has type {lost[0].shown}, "
                "which Paimon does not support.",
                hint="Cast the column to another type in the query.",
            )
        return row_type_of(rows.fields, "a table")
    if not columns:
        raise InvalidInputError(
            "CREATE TABLE requires at least one column.",
            hint="Write the columns after the name of the table, such as (id BIGINT).",
        )
    names = [one.path[0].lower() for one in columns]
    twice = [one.path[0] for one in columns if names.count(one.path[0].lower()) > 1]
    if twice:
        raise InvalidInputError(
            f"The table cannot be created: column {twice[-1]!r} is defined twice.",
            hint="Names of columns ignore case in SQL.",
        )
    return RowType(
        fields=tuple(
            DataField(
                id=at,
                name=one.path[0],
                type=one.type,
                description=one.comment,
                default_value=one.default,
            )
            for at, one in enumerate(columns)
        )
    )


def plain_default(text: str, kind: DataType) -> str:
    """Return a default value as the schema stores it: text without its type and quotes.

    Raises:
        InvalidInputError: an expression that begins with a text, or for a column of texts.
    """
    written = _TYPED_TEXT.sub("", text.strip())
    is_quoted = written.startswith(("'", '"'))
    if not is_quoted and (_NUMBER.fullmatch(written) or not is_root(kind, *TEXTS)):
        return written  # which the schema checks
    reader = Reader(written)
    value = reader.text("a constant") if is_quoted else ""
    if not is_quoted or not reader.is_done:
        raise InvalidInputError(
            f"The default value {text} is not a constant.",
            hint="Write the text that it stands for, or compute the value in INSERT.",
        )
    return value


def drop_table(warehouse: Warehouse, reader: Reader) -> Answer | None:
    """Run the rest of a DROP TABLE; return None if the table belongs to the engine."""
    ignore = reader.takes("IF", "EXISTS")
    parts = reader.path("the table")
    name = warehouse.find(parts)
    if name is None:
        return done() if ignore and warehouse.is_missing(parts) else None
    reader.takes("PURGE")
    reader.end()
    base, system = warehouse.split(name)
    if system is not None:
        raise InvalidInputError(f"{name.table!r} is a system table and cannot be dropped.")
    if "$" in base.table:
        raise InvalidInputError(
            f"{name.table!r} is a branch, and DROP TABLE only deletes tables.",
            hint="Use ALTER TABLE … DROP BRANCH to delete a branch.",
        )
    try:
        opened = warehouse.base(base)
    except NotFoundError:
        if ignore:
            return done()
        raise
    catalog = warehouse.warehouse()
    catalog.drop_table(opened.name)
    return done()


def create_database(warehouse: Warehouse, reader: Reader) -> Answer | None:
    """Run the rest of a CREATE DATABASE; return None for databases of `spark_catalog`."""
    ignore = reader.takes("IF", "NOT", "EXISTS")
    parts = reader.path("the database")
    if len(parts) > 1 and parts[0].lower() != "paimon":
        return None
    comment = None
    properties: dict[str, str] = {}
    while not reader.is_done:
        if reader.takes("COMMENT"):
            comment = reader.text("the comment")
        elif reader.takes("LOCATION"):
            properties["location"] = reader.text("the location")
        elif reader.takes("WITH"):
            clause = reader.expect_one("DBPROPERTIES", "PROPERTIES", part="CREATE DATABASE … WITH")
            properties |= options_of(reader, clause)
        else:
            raise reader.problem("unknown clause", part="CREATE DATABASE")
    warehouse.warehouse().create_database(
        parts[-1], comment=comment, properties=properties, if_not_exists=ignore
    )
    return done()


def alter_database(warehouse: Warehouse, reader: Reader) -> Answer | None:
    """Run the rest of an ALTER DATABASE; return None if the database belongs to the engine."""
    parts = reader.path("the database")
    if is_database_of_engine(warehouse, parts):
        return None
    word = reader.expect_one("SET", "UNSET", part="ALTER DATABASE")
    known = ("DBPROPERTIES", "PROPERTIES", *(["LOCATION"] if word == "SET" else []))
    clause = reader.expect_one(*known, part=f"ALTER DATABASE … {word}")
    properties: dict[str, str] = {}
    removed: list[str] = []
    if clause == "LOCATION":
        properties = {"location": reader.text("the location")}
    elif word == "SET":
        properties = options_of(reader, clause)
    else:
        reader.takes("IF", "EXISTS")
        removed = option_keys(reader)
    reader.end()
    database = warehouse.known_database(parts[-1])
    warehouse.warehouse().alter_database(database, properties, remove=removed)
    return done()


def is_database_of_engine(warehouse: Warehouse, parts: tuple[str, ...]) -> bool:
    """Return whether a database is one of the engine, and none of the catalog."""
    name = parts[-1]
    return warehouse.find_database(name) is None and warehouse.engine.has_database(name)


def drop_database(warehouse: Warehouse, reader: Reader) -> Answer | None:
    """Run the rest of a DROP DATABASE; return None if the database belongs to the engine."""
    ignore = reader.takes("IF", "EXISTS")
    parts = reader.path("the database")
    found = warehouse.find_database(parts[-1])
    if found is None and len(parts) == 1 and warehouse.engine.has_database(parts[0]):
        return None
    cascade = reader.takes_one("CASCADE", "RESTRICT") == "CASCADE"
    reader.end()
    if found is None and ignore:
        return done()
    database = warehouse.known_database(parts[-1])
    if not cascade:
        check_empty(
            database, warehouse.warehouse().tables(database), "write DROP DATABASE … CASCADE"
        )
    warehouse.warehouse().drop_database(database, cascade=cascade)
    return done()
