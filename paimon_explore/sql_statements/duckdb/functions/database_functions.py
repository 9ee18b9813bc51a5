"""The functions of this library in a DuckDB database, which are defined when a query calls them."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pkgutil import get_data
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.sql_statements.duckdb.functions.variant_functions import (
    FUNCTIONS,
    TYPED,
    Kernel,
    typed_functions_after,
)
from paimon_explore.sql_statements.duckdb.type_names import duckdb_type
from paimon_explore.sql_statements.scalar_functions import BUCKET_FUNCTIONS

if TYPE_CHECKING:
    import duckdb

_CALL = re.compile(r'(spark\.)?"?\b(\w+)"?\s*\(')
_MACRO = re.compile(r'^CREATE MACRO (?:(spark)\.)?"?(\w+)"?\(.*?;$', re.MULTILINE | re.DOTALL)
_SOURCE = (get_data(__package__, "spark_functions.sql") or b"").decode()
_FOUND = tuple(_MACRO.finditer(_SOURCE))
_MACROS = {one[2]: one[0] for one in _FOUND}
SPARK_MACROS = frozenset(one[2] for one in _FOUND if one[1] is not None)
"""Functions of Spark that DuckDB lacks or computes in another way, in the schema `spark`."""
_FUNCTIONS = {
    **FUNCTIONS,
    **{name: (None, "INTEGER", one) for name, one in BUCKET_FUNCTIONS.items()},
}
FUNCTION_NAMES = frozenset({*_MACROS, *_FUNCTIONS})


class DatabaseFunctions:
    """The functions of one database.

    Args:
        database: the database.
    """

    def __init__(self, database: "duckdb.DuckDBPyConnection") -> None:
        self._database = database
        self._typed = 0
        self._defined: set[str] = set()
        database.execute("CREATE SCHEMA spark")

    def define(self, texts: Iterable[str]) -> None:
        """Define the functions that queries call, and those that these call."""
        for name, (kind, target) in typed_functions_after(self._typed):
            parameters, kernel = TYPED[kind]
            self._create(name, partial(kernel, target), parameters, duckdb_type(target))
            self._typed += 1
        for text in texts:
            self._define_called(text)

    def _define_called(self, text: str) -> None:
        for schema, name in set(_CALL.findall(text.lower())):
            is_known = name in FUNCTION_NAMES and (name in SPARK_MACROS) is bool(schema)
            if name in self._defined or not is_known:
                continue
            self._defined.add(name)
            if name in _FUNCTIONS:
                parameters, result, kernel = _FUNCTIONS[name]
                self._create(name, kernel, parameters, result)
            else:
                self._define_called(_MACROS[name])
                self._database.execute(_MACROS[name])

    def _create(
        self, name: str, kernel: Kernel, parameters: Sequence[str] | None, result: str
    ) -> None:
        import duckdb  # noqa: PLC0415 - a scan answers many queries without it

        kinds = None if parameters is None else [duckdb.type(kind) for kind in parameters]

        def call(*columns: "Column | pa.ChunkedArray[Any]") -> Column:
            return kernel([_whole(column) for column in columns])

        self._database.create_function(  # type: ignore[call-overload]  # stubs have enums only
            name,
            _WITH_PARAMETERS[len(parameters or ())](call),
            kinds,
            duckdb.type(result),
            type="arrow",
            null_handling="special",
        )


_WITH_PARAMETERS: dict[int, Callable[[Kernel], Kernel]] = {
    0: lambda call: lambda *columns: call(*columns),  # noqa: PLW0108 - see below
    1: lambda call: lambda a: call(a),  # noqa: PLW0108
    2: lambda call: lambda a, b: call(a, b),  # noqa: PLW0108
    3: lambda call: lambda a, b, c: call(a, b, c),  # noqa: PLW0108
    4: lambda call: lambda a, b, c, d: call(a, b, c, d),  # noqa: PLW0108
    5: lambda call: lambda a, b, c, d, e: call(a, b, c, d, e),  # noqa: PLW0108
}
"""Functions without annotations and with named parameters, which DuckDB requires; 0 is any."""


def _whole(column: "Column | pa.ChunkedArray[Any]") -> Column:
    if not isinstance(column, pa.ChunkedArray):
        return column
    found: Column = column.combine_chunks()
    return found
