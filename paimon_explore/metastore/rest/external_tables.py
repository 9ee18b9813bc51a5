"""External tables: tables in a folder that the user chose with the option `path`.

If the folder is a table already, the new table has its schema, which the given one must match; else
the schema file is written after the server has accepted the table.

Spec: Paimon's `RESTCatalog`, which infers the schema of external tables.
"""

from collections.abc import Mapping
from dataclasses import replace

from paimon_explore.data_types.definitions import DataType, RowType
from paimon_explore.errors import InvalidInputError
from paimon_explore.fileio.resolve import resolve
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.metadata.table_paths import TablePaths
from paimon_explore.store.table_store import TableStore

PATH = "path"
_IGNORED = frozenset({PATH, "owner"})


def external_store(schema: TableSchema, storage: Mapping[str, object]) -> TableStore | None:
    """Return the store of a new external table; None for a table that the server places."""
    path = schema.options.get(PATH, "").strip()
    kind = schema.options.get("type", "table")
    if not path or kind != "table":
        return None
    file_io, root = resolve(path, storage)
    return TableStore(file_io, TablePaths(root))


def existing_schema(store: TableStore, given: TableSchema) -> TableSchema | None:
    """Return the schema of the table in the folder, with the options `path` and `owner` as given.

    Raises:
        InvalidInputError: the given schema differs from it.
    """
    found = store.schemas.latest()
    if found is None:
        return None
    same = (
        _columns(given.row_type) == _columns(found.row_type)
        and given.partition_keys in ((), found.partition_keys)
        and given.primary_keys in ((), found.primary_keys)
    )
    if not same:
        raise InvalidInputError(
            f"The table in {store.paths.root} has other columns or keys than the new table.",
            hint="Create the table with the columns and keys of the existing one.",
        )
    own = {key: text for key, text in given.options.items() if key in _IGNORED}
    for key, text in given.options.items():
        if key not in _IGNORED and found.options.get(key) != text:
            raise InvalidInputError(
                f"Option {key!r} of the new table differs from that of the table in "
                f"{store.paths.root}.",
                hint="Omit the option, and change it after the table is created.",
            )
    return replace(found, options={**found.options, **own})


def _columns(row_type: RowType) -> list[tuple[str, DataType]]:
    return [(field.name, field.type) for field in row_type.fields]


def write_schema(store: TableStore, schema: TableSchema) -> None:
    """Write the first schema file, unless the server did."""
    if not store.schemas.ids():
        own = {key: text for key, text in schema.options.items() if key != PATH}
        store.schemas.create(replace(schema, options=own))
