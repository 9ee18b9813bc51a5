"""SHOW, DESCRIBE, USE and ANALYZE.

Syntax:

    SHOW {DATABASES | SCHEMAS | NAMESPACES} [[LIKE] 'pattern']
    SHOW {TABLES | VIEWS} [{IN | FROM} database] [[LIKE] 'pattern']
    SHOW TABLE EXTENDED [{IN | FROM} database] LIKE 'pattern'
    SHOW CURRENT {NAMESPACE | DATABASE | CATALOG}
    SHOW CREATE TABLE table [AS SERDE]
    SHOW PARTITIONS table [PARTITION (name = constant, ...)]
    SHOW TBLPROPERTIES table [('key')]
    SHOW COLUMNS {IN | FROM} table [{IN | FROM} database]
    SHOW {TAGS | BRANCHES | SNAPSHOTS} table
    SHOW PROCEDURES [{IN | FROM} catalog] [[LIKE] 'pattern']
    {DESCRIBE | DESC} [TABLE] [EXTENDED | FORMATTED] table [name]
    {DESCRIBE | DESC} {DATABASE | SCHEMA | NAMESPACE} [EXTENDED] name
    USE [DATABASE | SCHEMA | NAMESPACE | CATALOG] name
    ANALYZE TABLE table COMPUTE STATISTICS [NOSCAN] [FOR {ALL COLUMNS | COLUMNS name, ...}]
"""

import fnmatch
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from paimon_explore.data_types.arrow import from_arrow
from paimon_explore.data_types.definitions import DataField
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import InvalidInputError, NotFoundError, choices
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.sanitize import encodable, masked, masked_options
from paimon_explore.sql_statements.clauses import partition_spec
from paimon_explore.sql_statements.data_type_names import type_name
from paimon_explore.sql_statements.outcome import Answer, Outcome, answer, committed, done
from paimon_explore.sql_statements.procedures.call_statement import PROCEDURES, signature
from paimon_explore.sql_statements.quoted_names import CATALOG, quoted
from paimon_explore.sql_statements.table_resolution import Name, Warehouse
from paimon_explore.sql_statements.tokenizer import Kind, Reader
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.row_reader import RowSource
from paimon_explore.table.table import Table
from paimon_explore.table.table_base import store_of

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*", re.IGNORECASE)


def show(warehouse: Warehouse, reader: Reader) -> Answer | None:
    """Run the rest of a SHOW; return None if the engine has to run it."""
    if reader.takes("CREATE", "TABLE"):
        return _of_table(warehouse, reader, _create_table)
    known: Mapping[str, Callable[[Warehouse, Reader], Answer | None]] = {
        "DATABASES": _databases,
        "SCHEMAS": _databases,
        "NAMESPACES": _databases,
        "TABLE": _extended,
        "TABLES": _tables,
        "CURRENT": _current,
        "VIEWS": _views,
        "PARTITIONS": lambda w, r: _of_table(w, r, partial(_partitions, w)),
        "TBLPROPERTIES": lambda w, r: _of_table(w, r, _properties),
        "COLUMNS": _columns,
        "TAGS": lambda w, r: _of_table(w, r, _tags),
        "BRANCHES": lambda w, r: _of_table(w, r, _branches),
        "SNAPSHOTS": lambda w, r: _of_table(w, r, _snapshots),
        "PROCEDURES": lambda _, r: _procedures(r),
    }
    word = reader.here.word
    if word not in known or (warehouse.catalog is None and not warehouse.given):
        return None
    reader.next()
    return known[word](warehouse, reader)


def _of_table(
    warehouse: Warehouse,
    reader: Reader,
    act: Callable[[Reader, Table], Answer],
) -> Answer | None:
    parts = reader.path("the table")
    name = warehouse.find(parts)
    if name is None:
        warehouse.refuse_missing(parts)
        return None
    return act(reader, warehouse.base(name))


def _like(reader: Reader) -> Callable[[str], bool]:
    """Read a pattern: `*` or `%` matches anything, `|` separates alternatives; ignores case."""
    given = reader.takes("LIKE")
    if not given and reader.here.kind is not Kind.TEXT:
        reader.end()
        return lambda _: True
    patterns = reader.text("the pattern").lower().replace("%", "*").split("|")
    reader.end()
    return lambda name: any(fnmatch.fnmatchcase(name.lower(), one.strip()) for one in patterns)


def _databases(warehouse: Warehouse, reader: Reader) -> Answer | None:
    if reader.takes_one("IN", "FROM") and reader.identifier("the catalog").lower() != CATALOG:
        return None
    wanted = _like(reader)
    names = warehouse.warehouse().databases()
    rows = [(name,) for name in names if wanted(name)]
    return answer("namespace string", rows)


def _current(warehouse: Warehouse, reader: Reader) -> Answer:
    reader.expect_one("NAMESPACE", "DATABASE", "CATALOG", part="SHOW CURRENT")
    reader.end()
    return answer("catalog string, namespace string", [(CATALOG, warehouse.database)])


def _extended(warehouse: Warehouse, reader: Reader) -> Answer | None:
    reader.expect("EXTENDED", part="SHOW TABLE")
    found = _tables(warehouse, reader)
    if found is None:
        return None
    rows = []
    for database, name, temporary in found.rows:
        table = None if temporary else warehouse.base(Name(table=f"{database}.{name}"))
        facts = {} if table is None else _details(table, latest_schema(store_of(table)))
        text = "".join(f"{key}: {value}\n" for key, value in facts.items())
        rows.append((database, name, temporary, text))
    return answer(f"{found.columns}, information string", rows)


def _tables(warehouse: Warehouse, reader: Reader) -> Answer | None:
    database = warehouse.database
    if reader.takes_one("IN", "FROM"):
        parts = reader.path("the database")
        database = parts[-1]
        if (
            warehouse.find_database(database) is None
            and len(parts) == 1
            and (warehouse.engine.has_database(database))
        ):
            return None
    wanted = _like(reader)
    rows = [("", name, True) for name in warehouse.given if wanted(name)]
    if warehouse.catalog is not None:
        known = warehouse.known_database(database)
        rows += [(known, name, False) for name in warehouse.catalog.tables(known) if wanted(name)]
    views = [("", view, True) for view in warehouse.engine.temporary_views() if wanted(view)]
    columns = "namespace string, tableName string, isTemporary boolean"
    return answer(columns, [*rows, *views])


def _views(warehouse: Warehouse, reader: Reader) -> Answer | None:
    """SHOW VIEWS: those of a database of the catalog, and the temporary ones of the session."""
    database = warehouse.database
    if reader.takes_one("IN", "FROM"):
        database = reader.path("the database")[-1]
    found = warehouse.find_database(database)
    if found is None and warehouse.catalog is not None:
        return None
    wanted = _like(reader)
    known = [] if found is None else warehouse.warehouse().views(found)
    rows = [(found or "", name, False) for name in known if wanted(name)]
    views = [("", view, True) for view in warehouse.engine.temporary_views() if wanted(view)]
    columns = "namespace string, viewName string, isTemporary boolean"
    return answer(columns, [*rows, *views])


def _create_table(reader: Reader, table: Table) -> Answer:
    reader.takes("AS", "SERDE")
    reader.end()
    name = ".".join(map(_name, table.name.split(".", 1)))
    text = create_text(name, latest_schema(store_of(table)))
    return answer("createtab_stmt string", [(text,)])


def create_text(name: str, schema: TableSchema) -> str:
    """Return the CREATE TABLE statement of a table; secrets in its options are masked."""
    columns = ",\n".join(f"  {_column_text(field)}" for field in schema.fields)
    lines = [f"CREATE TABLE {name} (\n{columns})", "USING paimon"]
    if schema.partition_keys:
        lines.append(f"PARTITIONED BY ({', '.join(map(_name, schema.partition_keys))})")
    if schema.comment is not None:
        lines.append(f"COMMENT {_text(schema.comment)}")
    options = masked_options(schema.options)
    if schema.primary_keys:
        options["primary-key"] = ",".join(schema.primary_keys)
    if options:
        pairs = ",\n".join(f"  {_text(k)} = {_text(v)}" for k, v in sorted(options.items()))
        lines.append(f"TBLPROPERTIES (\n{pairs})")
    return masked("\n".join(lines) + "\n")


def _column_text(field: DataField) -> str:
    parts = [_name(field.name), type_name(field.type).upper()]
    if "<" in parts[1]:
        parts[1] = type_name(field.type)
    if not field.type.nullable:
        parts.append("NOT NULL")
    if field.description is not None:
        parts.append(f"COMMENT {_text(field.description)}")
    if field.default_value is not None:
        parts.append(f"DEFAULT {_text(field.default_value)}")
    return " ".join(parts)


def _name(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else quoted(name)


def _text(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _partitions(warehouse: Warehouse, reader: Reader, table: Table) -> Answer:
    schema = latest_schema(store_of(table))
    spec = {}
    if reader.takes("PARTITION"):
        spec = partition_spec(warehouse, reader, schema)
    reader.end()
    if not schema.partition_keys:
        raise InvalidInputError(f"Table {table.name} is not partitioned.")
    return answer("partition string", [(text,) for text in partitions_of(table, spec)])


def partitions_of(table: Table, spec: Mapping[str, object]) -> list[str]:
    """Return the partitions with given values of partition columns, as `dt=2026-01-01/hour=7`."""
    texts = table.inspect.system_table("partitions").to_arrow()["partition"].to_pylist()
    wanted = {f"{key}={value}" for key, value in spec.items()}
    return sorted(text for text in map(str, texts) if wanted <= set(text.split("/")))


def _properties(reader: Reader, table: Table) -> Answer:
    schema = latest_schema(store_of(table))
    options = masked_options(schema.options)
    if schema.primary_keys:
        options["primary-key"] = ",".join(schema.primary_keys)
    options["path"] = masked(table.path)
    if reader.here.sign == "(":
        wanted = reader.group("the option").strip("'\"` ")
        if wanted not in options:
            hint = f"Options of the table: {choices(sorted(options))}."
            raise NotFoundError("option", wanted, table.name, hint=hint)
        options = {wanted: options[wanted]}
    reader.end()
    return answer("key string, value string", sorted(options.items()))


def _columns(warehouse: Warehouse, reader: Reader) -> Answer | None:
    reader.expect_one("IN", "FROM", part="SHOW COLUMNS")
    parts = reader.path("the table")
    if reader.takes_one("IN", "FROM"):
        parts = (reader.identifier("the database"), *parts)
    name = warehouse.find(parts)
    if name is None:
        warehouse.refuse_missing(parts)
        return None
    reader.end()
    found = warehouse.open(name)
    names = found.schema.row_type.names if isinstance(found, Table) else found.schema.names
    return answer("column string", [(one,) for one in names])


def _tags(reader: Reader, table: Table) -> Answer:
    reader.end()
    return answer("tag string", _sorted(store_of(table).tags.names()))


def _branches(reader: Reader, table: Table) -> Answer:
    reader.end()
    return answer("branch string", _sorted(store_of(table).branches.names()))


def _sorted(names: Iterable[str]) -> list[tuple[str]]:
    return [(encodable(name),) for name in sorted(names)]


def _snapshots(reader: Reader, table: Table) -> Answer:
    reader.end()
    rows = [(s.id, s.commit_kind.value, s.total_record_count) for s in table.snapshots]
    columns = "snapshot_id bigint, commit_kind string, total_record_count bigint"
    return answer(columns, rows)


def _procedures(reader: Reader) -> Answer:
    if reader.takes_one("IN", "FROM"):
        reader.path("the catalog")
    wanted = _like(reader)
    rows = [(name, signature(name)) for name in sorted(PROCEDURES) if wanted(name)]
    return answer("procedure string, arguments string", rows)


def use(warehouse: Warehouse, reader: Reader) -> Answer | None:
    """Set the current Paimon database; return None if USE names a database of the engine."""
    is_catalog = reader.takes_one("DATABASE", "SCHEMA", "NAMESPACE", "CATALOG") == "CATALOG"
    parts = reader.path("the database")
    reader.end()
    if len(parts) == 1 and parts[0].lower() == CATALOG:
        return done()
    if is_catalog:
        raise NotFoundError("catalog", parts[0], hint=f"The session's catalog is {CATALOG}.")
    database = warehouse.find_database(parts[-1])
    is_named = len(parts) > 1 and parts[0].lower() == CATALOG
    if database is None and (is_named or not warehouse.engine.has_database(parts[-1])):
        warehouse.known_database(parts[-1])
    if database is None:
        return None
    warehouse.engine.use(database)
    return done()


def describe(warehouse: Warehouse, reader: Reader) -> Outcome | None:
    """Run the rest of a DESCRIBE; return None if the engine has to run it."""
    if reader.takes_one("DATABASE", "SCHEMA", "NAMESPACE"):
        return _describe_database(warehouse, reader)
    if reader.here.word in {"FUNCTION", "QUERY", "SELECT", "WITH", "VALUES", "FROM"}:
        engine = warehouse.engine
        return None if engine.has_own_tables else engine.query(reader.source)
    reader.takes("TABLE")
    extended = bool(reader.takes_one("EXTENDED", "FORMATTED"))
    parts = reader.path("the table")
    name = warehouse.find(parts)
    if name is None:
        return None
    found = warehouse.open(name)
    column = "" if reader.is_done else ".".join(reader.path("a column"))
    reader.end()
    if column:
        return _describe_column(found, column)
    return _describe_table(found, extended=extended)


def _describe_database(warehouse: Warehouse, reader: Reader) -> Answer | None:
    extended = reader.takes("EXTENDED")
    parts = reader.path("the database")
    found = warehouse.find_database(parts[-1])
    if found is None and warehouse.engine.has_database(parts[-1]):
        return None
    database = warehouse.known_database(parts[-1])
    info = warehouse.warehouse().database(database)
    rows = [("Catalog Name", CATALOG), ("Namespace Name", database)]
    if info.comment is not None:
        rows.append(("Comment", masked(info.comment)))
    if info.location is not None:
        rows.append(("Location", masked(info.location)))
    if extended and info.properties:
        shown = ", ".join(f"({k},{v})" for k, v in sorted(masked_options(info.properties).items()))
        rows.append(("Properties", f"({shown})"))
    return answer("info_name string, info_value string", rows)


def _rows_of(found: Table | RowSource) -> list[tuple[str, str, str | None]]:
    if isinstance(found, Table):
        return [(f.name, type_name(f.type), _shown(f.description)) for f in found.schema.fields]
    return [(f.name, type_name(from_arrow(f.type)), None) for f in found.schema]


def _shown(text: str | None) -> str | None:
    return None if text is None else masked(text)


def _describe_column(found: Table | RowSource, column: str) -> Answer:
    rows = {name: (name, kind, comment) for name, kind, comment in _rows_of(found)}
    if column not in rows:
        raise NotFoundError("column", column, found.name, hint=f"Columns: {choices(rows)}.")
    name, kind, comment = rows[column]
    facts = [("col_name", name), ("data_type", kind), ("comment", comment or "NULL")]
    return answer("info_name string, info_value string", facts)


def _describe_table(found: Table | RowSource, *, extended: bool) -> Answer:
    rows: list[tuple[str, str | None, str | None]] = list(_rows_of(found))
    if isinstance(found, Table):
        schema = latest_schema(store_of(found))
        by_name = {row[0]: row for row in rows}
        if schema.partition_keys:
            rows += [("# Partition Information", "", ""), ("# col_name", "data_type", "comment")]
            rows += [by_name[key] for key in schema.partition_keys if key in by_name]
        if extended:
            rows += [("", "", ""), ("# Detailed Table Information", "", "")]
            rows += [(key, value, "") for key, value in _details(found, schema).items()]
    columns = "col_name string, data_type string, comment string"
    return answer(columns, rows)


def _details(table: Table, schema: TableSchema) -> dict[str, str]:
    options = ",".join(
        f"{key}={value}" for key, value in sorted(masked_options(schema.options).items())
    )
    types = ", ".join(f"{f.name} {type_text(f.type)}" for f in schema.fields)
    facts = {
        "Name": table.name,
        "Comment": _shown(schema.comment),
        "Location": masked(table.path),
        "Provider": CATALOG,
        "Primary Key": ",".join(schema.primary_keys) or None,
        "Schema Id": str(schema.id),
        "Paimon Types": types,
        "Table Properties": f"[{options}]",
    }
    return {key: value for key, value in facts.items() if value is not None}


def analyze(warehouse: Warehouse, reader: Reader) -> Answer | None:
    """Run ANALYZE TABLE; return None if the table belongs to the engine."""
    if not reader.takes("TABLE"):
        return None
    name = warehouse.find(reader.path("the table"))
    if name is None:
        return None
    table = warehouse.base(name)
    reader.expect("COMPUTE", "STATISTICS", part="ANALYZE TABLE")
    reader.takes("NOSCAN")
    if reader.takes("FOR") and not reader.takes("ALL", "COLUMNS"):
        reader.expect("COLUMNS", part="ANALYZE TABLE … FOR")
        known = latest_schema(store_of(table)).row_type.names
        while not reader.is_done:
            column = reader.identifier("a column")
            if column not in known:
                raise NotFoundError(
                    "column", column, table.name, hint=f"Columns: {choices(known)}."
                )
            reader.takes(",")
    reader.end()
    return committed(table.maintenance.analyze())
