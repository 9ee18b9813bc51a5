"""Cache of values that are computed from a table's schema and options.

Consecutive writes to a table use the same schema and options. A process parses each schema once, so
schemas are compared by identity; options are compared by value.
"""

from collections.abc import Callable, Hashable, Mapping
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema

P = ParamSpec("P")
T = TypeVar("T")
_MAX_ENTRIES = 64


def cached_by_schema_and_options(
    make: Callable[Concatenate[TableSchema, TableOptions, P], T],
) -> Callable[Concatenate[TableSchema, TableOptions, P], T]:
    """Cache the results of a function of a schema, options and further hashable arguments.

    The results must be immutable.
    """
    results: dict[Hashable, tuple[TableSchema, Mapping[str, str], T]] = {}

    def found(
        schema: TableSchema, options: TableOptions, /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        key = (id(schema), args, *kwargs.items())
        known = results.get(key)
        if known is not None and known[0] is schema and known[1] == options.texts:
            return known[2]
        made = make(schema, options, *args, **kwargs)
        if len(results) >= _MAX_ENTRIES:
            results.clear()
        results[key] = (schema, dict(options.texts), made)
        return made

    return wraps(make)(found)
