"""`catalog.sql` and `pe.sql`: statements that DuckDB runs in this process."""

from collections.abc import Mapping
from weakref import WeakKeyDictionary

import pyarrow as pa

from paimon_explore.arguments import string
from paimon_explore.data_types.definitions import RowType
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError, choices
from paimon_explore.metastore.identifier import parse_identifier
from paimon_explore.sql_statements.duckdb.dialect import DUCKDB, SPARK
from paimon_explore.sql_statements.duckdb.engine import DuckDBEngine, SessionState
from paimon_explore.sql_statements.duckdb.query_rows import AssignedRows, DuckRows
from paimon_explore.sql_statements.engine import Args
from paimon_explore.sql_statements.outcome import Answer, Outcome
from paimon_explore.sql_statements.queries import run_query
from paimon_explore.sql_statements.statement import run_statement
from paimon_explore.sql_statements.table_resolution import DEFAULT, Warehouse
from paimon_explore.sql_statements.tokenizer import statements_of
from paimon_explore.sql_statements.views import NewView, columns_of
from paimon_explore.table.catalog.catalog import Catalog
from paimon_explore.table.scan import Scan
from paimon_explore.table.sql_results.sql_result import SqlResult
from paimon_explore.table.table import Table

_DIALECTS = (SPARK, DUCKDB)
_STATES: WeakKeyDictionary[Catalog, SessionState] = WeakKeyDictionary()
_TYPES: Mapping[str, pa.DataType] = {
    "string": pa.string(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "boolean": pa.bool_(),
}


class _AnswerRows:
    """The rows of an answer."""

    def __init__(self, answer: Answer) -> None:
        pairs = [column.split() for column in answer.columns.split(", ") if column]
        schema = pa.schema([(name, _TYPES[kind]) for name, kind in pairs])
        arrays = [
            pa.array([row[at] for row in answer.rows], field.type)
            for at, field in enumerate(schema)
        ]
        self._table = pa.Table.from_arrays(arrays, schema=schema)

    @property
    def schema(self) -> pa.Schema:
        """The columns."""
        return self._table.schema

    def to_batches(self) -> pa.RecordBatchReader:
        """Return the rows in batches."""
        return self._table.to_reader()


def sql(
    text: str,
    catalog: Catalog | None = None,
    parameters: Args = None,
    *,
    dialect: str = SPARK,
    **tables: object,
) -> SqlResult:
    """Run SQL statements on tables that are given by name; DuckDB runs the queries.

    Args:
        text: one statement, or several separated by semicolons; the last result is returned.
        catalog: the catalog of other tables.
        parameters: values of parameter markers: a dict for `:name`, a list for `?`.
        dialect: of queries: `spark`, or `duckdb`.
        tables: by the name that the statements use: a table, or a view such as `t.at(3)`; a scan;
            Arrow, pandas or Polars data.

    Raises:
        InvalidInputError: a statement that cannot be parsed, an unknown column or function.
        NotFoundError: a table that does not exist.
        UnsupportedFeatureError: a valid statement that is not implemented.

    >>> import paimon_explore as pe
    >>> t = pe.demo().table("demo.orders")
    >>> text = "SELECT count(*) AS n FROM t WHERE id > :least"
    >>> found = pe.sql(text, t=t, parameters={"least": 400})
    >>> found.to_arrow().to_pylist()
    [{'n': 5}]
    """
    string("text", text)
    if dialect not in _DIALECTS:
        raise InvalidInputError(
            f"dialect {dialect!r} is unknown.", hint=f"Dialects: {choices(_DIALECTS)}."
        )
    statements = statements_of(text)
    if not statements:
        raise InvalidInputError(
            "The statement is empty.", hint="Write a statement such as SELECT …"
        )
    state = _state_of(catalog)
    given = {name: rows for name, rows in tables.items() if isinstance(rows, Table)}
    local = SessionState(state.database)
    local.views, local.names = dict(state.views), dict(state.names)
    for name, rows in tables.items():
        if not isinstance(rows, Table):
            local.add(name, _readable(name, rows))
    outcome: Outcome | None = None
    for statement in statements:
        warehouse = Warehouse(
            engine=DuckDBEngine(local if tables else state, dialect),
            catalog=catalog,
            database=state.database,
            given=given,
        )
        outcome = run_statement(warehouse, statement, parameters)
    assert outcome is not None  # noqa: S101 - there is a statement
    return _result(outcome)


def view_columns(catalog: Catalog, name: str, query: str) -> RowType:
    """Return the columns of a view, from the analysis of its query; no rows are read.

    Args:
        catalog: the catalog of the view.
        name: `database.view`; the tables of the query are resolved in this database.
        query: the query in Spark's dialect.

    Raises:
        InvalidInputError: not a query, or an unknown column or function.
        NotFoundError: a table that does not exist.
        UnsupportedFeatureError: a column has a type that Paimon lacks.
    """
    database = parse_identifier(name).database
    engine = DuckDBEngine(SessionState(database))
    rows = run_query(Warehouse(engine=engine, catalog=catalog, database=database), query)
    return columns_of(NewView(name=name, query=query), rows)


def _state_of(catalog: Catalog | None) -> SessionState:
    if catalog is None:
        return SessionState(DEFAULT)
    return _STATES.setdefault(catalog, SessionState(DEFAULT))


def _readable(name: str, rows: object) -> object:
    """Return rows in a form that DuckDB can read several times."""
    if isinstance(rows, Scan):
        return rows.to_dataset()
    if isinstance(rows, pa.Table | pa.RecordBatch):
        return rows if isinstance(rows, pa.Table) else pa.Table.from_batches([rows])
    if hasattr(rows, "__arrow_c_stream__"):
        return pa.RecordBatchReader.from_stream(rows).read_all()
    raise InvalidInputError(
        f"The rows {name!r} have type {type(rows).__name__}.",
        hint="Pass a Table, a Scan, or Arrow, pandas or Polars data.",
    )


def _result(outcome: Outcome) -> SqlResult:
    if isinstance(outcome, Answer):
        return SqlResult(_AnswerRows(outcome), outcome.snapshot)
    if isinstance(outcome, DuckRows | AssignedRows):
        return SqlResult(outcome)
    raise UnsupportedFeatureError("this statement")
