"""Small tables made through the facade, in memory."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from uuid import uuid4

import pyarrow as pa

from paimon_explore import Catalog, Table
from paimon_explore.scan.splits.data_split import DataSplit

KEYED = {"bucket": "1", "write-only": "true"}
"""Options of a primary-key table of one bucket, whose commits stay as they were written."""


def columns(**types: pa.DataType) -> pa.Schema:
    """A schema of nullable columns."""
    return pa.schema(types)


def new_catalog(warehouse: Path | str = "") -> Catalog:
    """An empty warehouse with the database `db`, of its own in memory by default."""
    catalog = Catalog(warehouse or f"memory://{uuid4()}/wh")
    catalog.create_database("db")
    return catalog


def append_table(
    schema: pa.Schema,
    *commits: Sequence[Mapping[str, object]],
    partition_by: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
) -> Table:
    """`db.t` without a primary key, with a commit for each list of rows."""
    table = new_catalog().create_table(
        "db.t", schema, partition_by=partition_by, options=dict(options or {})
    )
    for rows in commits:
        table.append([dict(row) for row in rows])
    return table


def keyed_table(
    schema: pa.Schema,
    *commits: Sequence[Mapping[str, object]],
    primary_key: Sequence[str],
    partition_by: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
) -> Table:
    """`db.t` with a primary key and one bucket, with a commit for each list of rows."""
    table = new_catalog().create_table(
        "db.t",
        schema,
        primary_key=primary_key,
        partition_by=partition_by,
        options={**KEYED, **(options or {})},
    )
    for rows in commits:
        table.upsert([dict(row) for row in rows])
    return table


def rows_of(table: pa.Table) -> list[dict[str, object]]:
    """Rows in a fixed order."""
    return sorted(table.to_pylist(), key=repr)


def data_files(table: Table) -> tuple[str, ...]:
    """Paths of the data files of a table of one bucket, oldest first."""
    split = table.scan().plan().splits[0]
    assert isinstance(split, DataSplit)
    return split.paths
