"""Tables with some commits, for what changes or removes parts of them."""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from paimon_explore import Catalog, Table
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.store.table_store import TableStore
from support.written import columns

KEYED = columns({"k": pa.int32(), "v": pa.string()})


def keyed_table(folder: Path, options: Mapping[str, str] | None = None) -> Table:
    """An empty table with the key `k`, of one bucket."""
    catalog = Catalog(folder)
    catalog.create_database("db", if_not_exists=True)
    given = {"bucket": "1", **(options or {})}
    return catalog.create_table("db.t", KEYED, primary_key=["k"], options=given)


def plain_table(
    folder: Path,
    options: Mapping[str, str] | None = None,
    schema: pa.Schema = KEYED,
    partition_by: tuple[str, ...] = (),
) -> Table:
    """An empty table without a key."""
    catalog = Catalog(folder)
    catalog.create_database("db", if_not_exists=True)
    return catalog.create_table(
        "db.t", schema, partition_by=list(partition_by), options=dict(options or {})
    )


def replaced_rows(table: Table, commits: int) -> Table:
    """Snapshots 1 to `commits`: each replaces the only row by its own number."""
    for number in range(1, commits + 1):
        table.overwrite([{"k": number, "v": f"v{number}"}])
    return table


def states(table: Table) -> dict[int, list[object]]:
    """The keys that each snapshot holds."""
    return {found.id: keys(table.at(snapshot=found.id)) for found in table.snapshots}


def keys(table: Table) -> list[object]:
    """The keys of a table, sorted."""
    found: list[object] = table.to_arrow().column("k").to_pylist()
    return sorted(found, key=str)


def files_of(table: Table) -> set[str]:
    """All files of a local table, relative to its folder."""
    root = Path(table.path)
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def data_files(table: Table) -> list[str]:
    """The names of the files in bucket folders."""
    return sorted(path.rpartition("/")[2] for path in files_of(table) if "bucket-" in path)


def options_of(store: TableStore) -> TableOptions:
    """The stored options of a table."""
    schema = store.schemas.latest()
    assert schema is not None
    return TableOptions(schema.options)
