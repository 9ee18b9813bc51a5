"""SHOW, DESCRIBE, USE and ANALYZE.

Syntax:

    SHOW {DATABASES | SCHEMAS | NAMESPACES} [[LIKE] 'pattern']
    SHOW {TABLES | VIEWS} [{IN | FROM} database] [[LIKE] 'pattern']
    SHOW TABLE EXTENDED [{IN | FROM} database] LIKE 'pattern' [PARTITION (name = constant, ...)]
    SHOW CATALOGS [[LIKE] 'pattern']
    SHOW CURRENT {NAMESPACE | DATABASE | CATALOG}
    SHOW CREATE TABLE table [AS SERDE]
    SHOW PARTITIONS table [PARTITION (name = constant, ...)]
    SHOW TBLPROPERTIES table [('key')]
    SHOW COLUMNS {IN | FROM} table [{IN | FROM} database]
    SHOW {TAGS | BRANCHES | SNAPSHOTS} table
    SHOW PROCEDURES [{IN | FROM} catalog] [[LIKE] 'pattern']
    SHOW [USER | SYSTEM | ALL] FUNCTIONS [{IN | FROM} database] [[LIKE] 'pattern']
    {DESCRIBE | DESC} [TABLE] [EXTENDED | FORMATTED] table [name | PARTITION (name = constant, ...)]
    {DESCRIBE | DESC} {DATABASE | SCHEMA | NAMESPACE} [EXTENDED] name
    USE [DATABASE | SCHEMA | NAMESPACE | CATALOG] name
    ANALYZE TABLE table COMPUTE STATISTICS [FOR {ALL COLUMNS | COLUMNS name, ...}]
"""

import fnmatch
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import pyarrow as pa

from paimon_explore.data_types.arrow import from_arrow, to_arrow
from paimon_explore.data_types.definitions import (
    NUMBERS,
    ArrayType,
    DataField,
    DataType,
    MapType,
    RowType,
    TypeRoot,
    with_nullable,
)
from paimon_explore.data_types.formatter import type_text
from paimon_explore.data_types.traversal import is_root
from paimon_explore.errors import InvalidInputError, NotFoundError, choices
from paimon_explore.metadata.options.table_options import PARTITION_DEFAULT_NAME
from paimon_explore.metadata.partition_path import partition_name, partition_texts
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metastore.view_values import ViewInfo
from paimon_explore.sanitize import encodable, masked, masked_options
from paimon_explore.scan.predicate.builder import col
from paimon_explore.sql_statements.clauses import option_keys, partition_spec
from paimon_explore.sql_statements.data_type_names import is_spark_type, type_name
from paimon_explore.sql_statements.outcome import Answer, Outcome, answer, committed, done
from paimon_explore.sql_statements.procedures.call_statement import PROCEDURES, signature
from paimon_explore.sql_statements.quoted_names import CATALOG, quoted, text_constant
from paimon_explore.sql_statements.scalar_functions import SYS_FUNCTIONS
from paimon_explore.sql_statements.table_resolution import Name, Warehouse
from paimon_explore.sql_statements.tokenizer import Kind, Reader
from paimon_explore.sql_statements.views import query_of, table_or_view
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.row_reader import RowSource
from paimon_explore.table.table import Table
from paimon_explore.table.table_base import store_of

_SYS = "sys"
_PLAIN = re.compile(r"[a-z_][a-z0-9_]*", re.IGNORECASE)
_CONSTANT = re.compile(r"X?'.*'|(array|map|named_struct|struct)\(.*\)", re.IGNORECASE | re.DOTALL)
"""Default values that are stored as Paimon's Spark connector does: as a constant of SQL."""


def show(warehouse: Warehouse, reader: Reader) -> Answer | None:
    """Run the rest of a SHOW; return None if the engine has to run it."""
    if reader.takes("CREATE", "TABLE"):
        return _create(warehouse, reader)
    if reader.ahead(1).word == "FUNCTIONS":
        reader.expect_one("USER", "SYSTEM", "ALL", part="SHOW")
    known: Mapping[str, Callable[[Warehouse, Reader], Answer | None]] = {
        "DATABASES": _databases,
        "SCHEMAS": _databases,
        "NAMESPACES": _databases,
        "TABLE": _extended,
        "TABLES": _tables,
        "CATALOGS": lambda _, r: _catalogs(r),
        "CURRENT": _current,
        "VIEWS": _views,
        "PARTITIONS": lambda w, r: _of_table(w, r, partial(_partitions, w)),
        "TBLPROPERTIES": lambda w, r: _of_table(w, r, _properties),
        "COLUMNS": _columns,
        "TAGS": lambda w, r: _of_table(w, r, _tags),
        "BRANCHES": lambda w, r: _of_table(w, r, _branches),
        "SNAPSHOTS": lambda w, r: _of_table(w, r, _snapshots),
        "PROCEDURES": lambda _, r: _procedures(r),
        "FUNCTIONS": _functions,
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
    name = warehouse.find_or_refuse(reader.path("the table"))
    return None if name is None else act(reader, warehouse.base(name))


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


def _catalogs(reader: Reader) -> Answer:
    return answer("catalog string", [(CATALOG,)] if _like(reader)(CATALOG) else [])


def _current(warehouse: Warehouse, reader: Reader) -> Answer:
    reader.expect_one("NAMESPACE", "DATABASE", "CATALOG", part="SHOW CURRENT")
    reader.end()
    return answer("catalog string, namespace string", [(CATALOG, warehouse.database)])


def _extended(warehouse: Warehouse, reader: Reader) -> Answer | None:
    reader.expect("EXTENDED", part="SHOW TABLE")
    found = _tables(warehouse, Reader("" if reader.is_done else reader.until("PARTITION")))
    if found is None:
        return None
    spec = reader.rest() if reader.takes("PARTITION") else ""
    rows = []
    for database, name, temporary in found.rows:
        facts: Mapping[str, str] = {}
        if not temporary:
            table = warehouse.base(Name(table=f"{database}.{name}"))
            schema = latest_schema(store_of(table))
            given = partition_spec(warehouse, Reader(spec), schema) if spec else None
            facts = _details(table, schema) if given is None else _partition(table, given)
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


def _create(warehouse: Warehouse, reader: Reader) -> Answer | None:
    """SHOW CREATE TABLE of a table or view."""
    found = warehouse.find_or_refuse(reader.path("the table"))
    if found is None:
        return None
    reader.takes("AS", "SERDE")
    reader.end()
    name = ".".join(map(_name, found.table.split(".", 1)))
    opened = table_or_view(warehouse, found)
    if isinstance(opened, ViewInfo):
        text = _create_view_text(name, opened)
    else:
        text = create_text(name, latest_schema(store_of(warehouse.base(found))))
    return answer("createtab_stmt string", [(text,)])


def _create_view_text(name: str, view: ViewInfo) -> str:
    columns = ",\n".join(f"  {_name(field.name)}" for field in view.fields)
    comment = "" if view.comment is None else f"COMMENT {text_constant(view.comment)}\n"
    return masked(f"CREATE VIEW {name} (\n{columns})\n{comment}AS {query_of(view)}\n")


def create_text(name: str, schema: TableSchema) -> str:
    """Return the CREATE TABLE statement of a table; secrets in its options are masked."""
    columns = ",\n".join(f"  {_column_text(field)}" for field in schema.fields)
    lines = [f"CREATE TABLE {name} (\n{columns})", "USING paimon"]
    if schema.partition_keys:
        lines.append(f"PARTITIONED BY ({', '.join(map(_name, schema.partition_keys))})")
    if schema.comment is not None:
        lines.append(f"COMMENT {text_constant(schema.comment)}")
    options = masked_options(schema.options)
    if schema.primary_keys:
        options["primary-key"] = ",".join(schema.primary_keys)
    if options:
        texts = {text_constant(k): text_constant(v) for k, v in sorted(options.items())}
        pairs = ",\n".join(f"  {key} = {value}" for key, value in texts.items())
        lines.append(f"TBLPROPERTIES (\n{pairs})")
    return masked("\n".join(lines) + "\n")


def _column_text(field: DataField) -> str:
    parts = [f"{_name(field.name)} {_type_text(field.type)}{_rules(field)}"]
    if field.default_value is not None:
        is_plain = is_root(field.type, *NUMBERS, TypeRoot.BOOLEAN)
        is_constant = is_plain or _CONSTANT.fullmatch(field.default_value)
        text = field.default_value if is_constant else text_constant(field.default_value)
        parts.append(f"DEFAULT {text}")
    return " ".join(parts)


def _rules(field: DataField) -> str:
    required = "" if field.type.nullable else " NOT NULL"
    if field.description is None:
        return required
    return f"{required} COMMENT {text_constant(field.description)}"


def _type_text(kind: DataType) -> str:
    """Return a type with all that CREATE TABLE reads: members that are required, and comments."""
    if not is_spark_type(kind):
        return type_text(with_nullable(kind, nullable=True))
    match kind:
        case ArrayType(element=element):
            return f"ARRAY<{_type_text(element)}>"
        case MapType(key=key, value=value):
            return f"MAP<{_type_text(key)}, {_type_text(value)}>"
        case RowType(fields=fields):
            members = (f"{_name(f.name)}: {_type_text(f.type)}{_rules(f)}" for f in fields)
            return f"STRUCT<{', '.join(members)}>"
        case _:
            return type_name(kind).upper()


def _name(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else quoted(name)


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
    rows = table.inspect.system_table("partitions").scan("partition").to_arrow()
    parts = {key: re.escape(text) for key, text in partition_texts_of(table, spec).items()}
    keys = table.schema.partition_keys
    pattern = re.compile(
        "/".join(f"{re.escape(key)}={parts.get(key, '.*')}" for key in keys), re.DOTALL
    )
    return sorted(text for text in map(str, rows[0].to_pylist()) if pattern.fullmatch(text))


def partition_texts_of(table: Table, spec: Mapping[str, object]) -> dict[str, str]:
    """Return values of partition columns as folders name them."""
    fields = table.schema.project(spec).fields
    columns = [pa.array([spec[field.name]], to_arrow(field.type)) for field in fields]
    texts = partition_texts(columns, [field.type for field in fields], legacy_names=False)
    default = table.options.value(PARTITION_DEFAULT_NAME)
    return {
        field.name: partition_name(text, default)
        for field, (text,) in zip(fields, texts, strict=True)
    }


def _partition(table: Table, spec: Mapping[str, object]) -> dict[str, str]:
    wanted = partitions_of(table, spec)
    if len(wanted) != 1:
        text = ", ".join(f"{key}={value}" for key, value in spec.items())
        hint = "SHOW PARTITIONS lists them; write a value for each partition column."
        raise NotFoundError("partition", text, table.name, hint=hint)
    rows = table.inspect.system_table("partitions").scan(where=col("partition") == wanted[0])
    row = rows.to_arrow().to_pylist()[0]
    return {
        "Partition Values": f"[{', '.join(wanted[0].split('/'))}]",
        "Partition Statistics": f"{row['record_count']} rows, {row['file_size_in_bytes']} bytes",
    }


def _properties(reader: Reader, table: Table) -> Answer:
    schema = latest_schema(store_of(table))
    options = masked_options(schema.options)
    if schema.primary_keys:
        options["primary-key"] = ",".join(schema.primary_keys)
    options["path"] = masked(table.path)
    if reader.here.sign == "(":
        wanted = option_keys(reader)
        for key in wanted:
            if key not in options:
                hint = f"Options of the table: {choices(sorted(options))}."
                raise NotFoundError("option", key, table.name, hint=hint)
        options = {key: options[key] for key in wanted}
    reader.end()
    return answer("key string, value string", sorted(options.items()))


def _columns(warehouse: Warehouse, reader: Reader) -> Answer | None:
    reader.expect_one("IN", "FROM", part="SHOW COLUMNS")
    parts = reader.path("the table")
    if reader.takes_one("IN", "FROM"):
        parts = (reader.identifier("the database"), *parts)
    name = warehouse.find_or_refuse(parts)
    if name is None:
        return None
    reader.end()
    return answer("column string", [(row[0],) for row in _rows_of(table_or_view(warehouse, name))])


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


def _functions(warehouse: Warehouse, reader: Reader) -> Answer | None:
    """SHOW FUNCTIONS: those of a database of the catalog, and of `sys`; without Spark's own."""
    database = ""
    if reader.takes_one("IN", "FROM"):
        database = reader.path("the database")[-1]
    elif warehouse.engine.has_own_tables:
        return None
    wanted = _like(reader)
    found = []
    if database.lower() in {"", _SYS}:
        found += [(_SYS, name) for name in SYS_FUNCTIONS]
    if database.lower() != _SYS and warehouse.catalog is not None:
        known = warehouse.known_database(database or warehouse.database)
        found += [(known, name) for name in warehouse.catalog.functions(known)]
    rows = [(f"{CATALOG}.{parent}.{name}",) for parent, name in sorted(found) if wanted(name)]
    return answer("function string", rows)


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
    found = table_or_view(warehouse, name)
    if isinstance(found, Table) and reader.comes("PARTITION", "("):
        reader.next()
        partition_spec(warehouse, reader, found.schema)  # whose columns are those of the table
    column = "" if reader.is_done else ".".join(reader.path("a column"))
    reader.end()
    if column:
        return _describe_column(name.table, _rows_of(found), column)
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


def _rows_of(found: Table | RowSource | ViewInfo) -> list[tuple[str, str, str | None]]:
    if isinstance(found, Table | ViewInfo):
        fields = found.schema.fields if isinstance(found, Table) else found.fields
        return [(f.name, type_name(f.type), _shown(f.description)) for f in fields]
    return [(f.name, type_name(from_arrow(f.type)), None) for f in found.schema]


def _shown(text: str | None) -> str | None:
    return None if text is None else masked(text)


def _describe_column(
    table: str, columns: Sequence[tuple[str, str, str | None]], column: str
) -> Answer:
    rows = {row[0]: row for row in columns}
    if column not in rows:
        raise NotFoundError("column", column, table, hint=f"Columns: {choices(rows)}.")
    name, kind, comment = rows[column]
    facts = [("col_name", name), ("data_type", kind), ("comment", comment or "NULL")]
    return answer("info_name string, info_value string", facts)


def _describe_table(found: Table | RowSource | ViewInfo, *, extended: bool) -> Answer:
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
    elif isinstance(found, ViewInfo) and extended:
        rows += [("", "", ""), ("# Detailed View Information", "", "")]
        rows += [("Comment", _shown(found.comment), ""), ("View Text", masked(query_of(found)), "")]
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
    columns: list[str] | None = None
    if reader.takes("FOR") and not reader.takes("ALL", "COLUMNS"):
        reader.expect("COLUMNS", part="ANALYZE TABLE … FOR")
        known = {name.lower(): name for name in latest_schema(store_of(table)).row_type.names}
        given = [reader.identifier("a column")]
        while reader.takes(","):
            given.append(reader.identifier("a column"))
        columns = [known.get(name.lower(), name) for name in given]
    reader.end()
    has_rows = store_of(table).snapshots.latest() is not None
    return committed(table.maintenance.analyze(columns) if has_rows else None)
