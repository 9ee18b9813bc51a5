"""What follows from a table's schema and options, worked out once.

A table is written to again and again under the same schema and options. Schemas are parsed once in
a process, so a schema is known by being the very same object; options are compared.
"""

from collections.abc import Callable, Hashable, Mapping
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import TableSchema

P = ParamSpec("P")
T = TypeVar("T")
_MOST = 64


def worked_out_once(
    make: Callable[Concatenate[TableSchema, TableOptions, P], T],
) -> Callable[Concatenate[TableSchema, TableOptions, P], T]:
    """Keep the results of a function of a schema, options and further hashable arguments.

    The results must be values that nobody changes.
    """
    kept: dict[Hashable, tuple[TableSchema, Mapping[str, str], T]] = {}

    def found(
        schema: TableSchema, options: TableOptions, /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        key = (id(schema), args, *kwargs.items())
        known = kept.get(key)
        if known is not None and known[0] is schema and known[1] == options.texts:
            return known[2]
        made = make(schema, options, *args, **kwargs)
        if len(kept) >= _MOST:
            kept.clear()
        kept[key] = (schema, dict(options.texts), made)
        return made

    return wraps(make)(found)
