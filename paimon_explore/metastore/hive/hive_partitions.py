"""The partitions of a table in a Hive metastore: the partitions of its rows, or its tags."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from paimon_explore.errors import NotFoundError
from paimon_explore.metadata.partition_path import escape_name
from paimon_explore.metastore.hive import metastore_methods as methods
from paimon_explore.metastore.hive.hive_table import LOCATION_PROPERTY
from paimon_explore.metastore.hive.hive_tables import HiveTables
from paimon_explore.metastore.hive.metastore_structs import (
    AddPartitionsRequest,
    EnvironmentContext,
    NoSuchObjectException,
    Partition,
    StorageDescriptor,
    Table,
    UnknownPartitionException,
    UnknownTableException,
)
from paimon_explore.metastore.identifier import Identifier
from paimon_explore.metastore.view_values import PartitionInfo
from paimon_explore.store.version_management import PartitionStatistics

_DATA_DIRECTORY = "data-file.path-directory"
_FIGURES = ("numRows", "totalSize", "numFiles", "lastUpdateTime", "totalBuckets")
_ALL = -1


def add_partitions(
    tables: HiveTables, wanted: Identifier, partitions: Sequence[Mapping[str, str]]
) -> None:
    """Add partitions to the metastore; existing ones remain as they are.

    Args:
        tables: the tables of the metastore.
        wanted: the table.
        partitions: the text of each partition column, in the order of the columns.
    """
    if not partitions:
        return
    table = tables.load(wanted)
    folder = tables.mapping.location(table) or ""
    directory = (table.parameters or {}).get(_DATA_DIRECTORY)
    folder = f"{folder}/{directory}" if directory else folder
    request = AddPartitionsRequest(
        db_name=wanted.database,
        table_name=wanted.table,
        partitions=[_partition(tables, wanted, table, folder, spec) for spec in partitions],
        if_not_exists=True,
        need_result=False,
    )
    tables.client.call(methods.ADD_PARTITIONS, request)


def _partition(
    tables: HiveTables, wanted: Identifier, table: Table, folder: str, spec: Mapping[str, str]
) -> Partition:
    now = time.time_ns() // 10**9
    place = "/".join(f"{escape_name(key)}={escape_name(text)}" for key, text in spec.items())
    location = f"{folder}/{place}"
    storage = replace(table.storage or StorageDescriptor())
    parameters: dict[str, str] = {}
    if tables.mapping.location_in_properties:
        parameters[LOCATION_PROPERTY] = location
    else:
        storage.location = location
    return Partition(
        values=list(spec.values()),
        db_name=wanted.database,
        table_name=wanted.table,
        create_time=now,
        last_access_time=now,
        storage=storage,
        parameters=parameters,
    )


def drop_partitions(
    tables: HiveTables, wanted: Identifier, partitions: Sequence[Mapping[str, str]]
) -> None:
    """Remove partitions from the metastore, if they are there; files remain."""
    for spec in partitions:
        try:
            tables.client.call(
                methods.DROP_PARTITION,
                wanted.database,
                wanted.table,
                list(spec.values()),
                False,  # noqa: FBT003 - a Thrift argument: whether files are deleted
                EnvironmentContext(properties={}),
            )
        except NoSuchObjectException:
            continue


def list_partitions(
    tables: HiveTables, wanted: Identifier, *, keys: Sequence[str], shows_done: bool
) -> Iterator[PartitionInfo]:
    """Yield the partitions that the metastore has of a table.

    Args:
        tables: the tables of the metastore.
        wanted: the table.
        keys: the partition columns.
        shows_done: whether to ask of each partition whether it is complete.
    """
    try:
        found = tables.client.call(methods.GET_PARTITIONS, wanted.database, wanted.table, _ALL)
    except NoSuchObjectException as error:
        raise NotFoundError("table", wanted.table, wanted.database) from error
    for partition in found:
        spec = dict(zip(keys, partition.values or (), strict=False))
        yield PartitionInfo(
            statistics=_statistics(spec, partition.parameters or {}),
            done=shows_done and is_done(tables, wanted, spec),
        )


def _statistics(spec: Mapping[str, str], parameters: Mapping[str, str]) -> PartitionStatistics:
    figures = [parameters.get(name, "") for name in _FIGURES]
    rows, size, files, seconds, buckets = [int(x) if x.isdecimal() else 0 for x in figures]
    return PartitionStatistics(
        spec=spec,
        record_count=rows,
        file_size_in_bytes=size,
        file_count=files,
        last_file_creation_time=seconds * 1000,
        total_buckets=buckets,
    )


def mark_done(
    tables: HiveTables, wanted: Identifier, partitions: Sequence[Mapping[str, str]]
) -> None:
    """Mark partitions as complete, for consumers that wait for it."""
    for spec in partitions:
        try:
            tables.client.call(
                methods.MARK_PARTITION, wanted.database, wanted.table, dict(spec), methods.LOAD_DONE
            )
        except UnknownTableException as error:
            raise NotFoundError("table", wanted.table, wanted.database) from error
        except (NoSuchObjectException, UnknownPartitionException):
            continue


def is_done(tables: HiveTables, wanted: Identifier, spec: Mapping[str, str]) -> bool:
    """Return whether a partition is marked as complete."""
    try:
        return tables.client.call(
            methods.IS_PARTITION_MARKED,
            wanted.database,
            wanted.table,
            dict(spec),
            methods.LOAD_DONE,
        )
    except (NoSuchObjectException, UnknownPartitionException, UnknownTableException):
        return False
