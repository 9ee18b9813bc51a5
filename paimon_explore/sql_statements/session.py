"""`catalog.sql` and `pe.sql`: statements that DuckDB runs in this process."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from weakref import WeakKeyDictionary

from paimon_explore.arguments import instance, string
from paimon_explore.data_types.definitions import RowType
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError, choices
from paimon_explore.metastore.identifier import parse_identifier
from paimon_explore.sql_statements.duckdb.dialect import DUCKDB, SPARK
from paimon_explore.sql_statements.duckdb.engine import DuckDBEngine, SessionState, readable
from paimon_explore.sql_statements.duckdb.query_rows import DuckRows
from paimon_explore.sql_statements.engine import Args
from paimon_explore.sql_statements.outcome import Answer, Outcome
from paimon_explore.sql_statements.over_time.query_over_time import QueryOverTime
from paimon_explore.sql_statements.queries import run_query
from paimon_explore.sql_statements.statement import run_statement
from paimon_explore.sql_statements.table_resolution import DEFAULT, Travel, Warehouse
from paimon_explore.sql_statements.tokenizer import statements_of, tokens_of
from paimon_explore.sql_statements.views import NewView, columns_of
from paimon_explore.table.catalog.catalog import Catalog
from paimon_explore.table.sql_results.sql_result import SqlResult
from paimon_explore.table.table import Table

_DIALECTS = (SPARK, DUCKDB)
_NOTHING: Mapping[str, object] = MappingProxyType({})
_STATES: WeakKeyDictionary[Catalog, SessionState] = WeakKeyDictionary()


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
            Arrow, pandas or Polars data, a dictionary of columns, a list of dictionaries.

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
    if catalog is not None:
        hint = "Pass values of parameter markers as parameters=."
        instance("catalog", catalog, Catalog, "a Catalog", hint=hint)
    if dialect not in _DIALECTS:
        raise InvalidInputError(
            f"dialect {dialect!r} is unknown.", hint=f"Dialects: {choices(_DIALECTS)}."
        )
    return Session(catalog, tables, dialect=dialect).run_all(text, lambda _: parameters)


class Session:
    """Runs statements one after the other.

    USE and temporary views last as long as the catalog; with tables, as long as the session.

    Args:
        catalog: the catalog of other tables.
        tables: by the name that the statements use, as for `sql`.
        variables: the same, for names that are neither tables nor views; other values are ignored.
        dialect: of queries.
    """

    def __init__(
        self,
        catalog: Catalog | None = None,
        tables: Mapping[str, object] = _NOTHING,
        *,
        variables: Mapping[str, object] = _NOTHING,
        dialect: str = SPARK,
    ) -> None:
        self._variables = variables
        self._catalog = catalog
        self._dialect = dialect
        state = SessionState(DEFAULT)
        if catalog is not None:
            state = _STATES.setdefault(catalog, state)
        self._state = state
        if tables:
            self._state = SessionState(state.database)
            self._state.views, self._state.names = dict(state.views), dict(state.names)
            self._state.settings = dict(state.settings)
        self._given = {name: rows for name, rows in tables.items() if isinstance(rows, Table)}
        for name, rows in tables.items():
            if not isinstance(rows, Table):
                self._state.add(name, readable(name, rows))

    def run_all(self, text: str, parameters: Callable[[str], Args]) -> SqlResult:
        """Run statements that are separated by semicolons; return the last result.

        Args:
            text: the statements.
            parameters: gives the values of the markers of a statement.

        Raises:
            PaimonError: as for `sql`.
        """
        statements = statements_of(text)
        if not statements:
            raise InvalidInputError(
                "The statement is empty.", hint="Write a statement such as SELECT …"
            )
        return [self.run(one, parameters(one)) for one in statements][-1]

    def run(self, statement: str, parameters: Args = None) -> SqlResult:
        """Run one statement.

        Raises:
            PaimonError: as for `sql`.
        """
        run = partial(self._run, statement, parameters)
        outcome, _ = run()
        if isinstance(outcome, Answer):
            return SqlResult(outcome.to_arrow(), outcome.snapshot)
        if isinstance(outcome, DuckRows):
            return SqlResult(outcome, over_time=QueryOverTime(run))
        raise UnsupportedFeatureError("this statement")

    def _run(
        self, statement: str, parameters: Args, travel: Travel | None = None
    ) -> tuple[Outcome, DuckDBEngine]:
        variables = self._named(statement)
        storage_options = None if self._catalog is None else self._catalog.storage_options
        engine = DuckDBEngine(self._state, self._dialect, variables, storage_options)
        warehouse = Warehouse(
            engine=engine,
            catalog=self._catalog,
            database=self._state.database,
            given=self._given,
            travel=travel,
        )
        tables = {
            name: table
            for name, table in variables.items()
            if isinstance(table, Table) and warehouse.find((name,)) is None
        }
        warehouse = replace(warehouse, given={**tables, **self._given})
        return run_statement(warehouse, statement, parameters), engine

    def _named(self, statement: str) -> dict[str, object]:
        """Return the variables with rows that a statement names."""
        if not self._variables:
            return {}
        words = {one.text for one in tokens_of(statement) if one.is_name}
        found = {word: self._variables[word] for word in words if word in self._variables}
        return {
            name: value
            for name, value in found.items()
            if hasattr(value, "__arrow_c_stream__")
            and not isinstance(value, type)
            and name.lower() not in self._state.views
        }


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
