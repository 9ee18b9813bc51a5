"""Marks partitions as done, for jobs that wait until a partition is complete.

| `partition.mark-done-action` | effect |
| --- | --- |
| `success-file` (default) | a file `_SUCCESS` in the folder of the partition, with two times |
| `done-partition` | a partition `….done` in the catalog, of tables with partitions in it |
| `mark-event` | the catalog is told, of tables with partitions in it |

The actions `http-report` and `custom` are not supported.

Spec: flink/procedures, mark_partition_done; `partition.mark-done-action`.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import pyarrow as pa

from paimon_explore.commit.overwrite import PartitionSpec, check_partition, partition_scalar
from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.data_types.local_time import system_clock
from paimon_explore.errors import (
    InvalidInputError,
    MissingFileError,
    UnsupportedFeatureError,
    choices,
)
from paimon_explore.fileio.file_io import FileIO
from paimon_explore.metadata.options.option_definition import parse_names
from paimon_explore.metadata.options.table_options import (
    METASTORE_PARTITIONED_TABLE,
    PARTITION_DEFAULT_NAME,
    PARTITION_LEGACY_NAME,
    TableOptions,
)
from paimon_explore.metadata.partition_path import partition_name, partition_paths, partition_texts
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.store.catalog_environment import PartitionDoneEnvironment, PartitionEnvironment
from paimon_explore.store.table_store import TableStore

_ACTIONS = "partition.mark-done-action"
_SUCCESS_FILE = "success-file"
_DONE_PARTITION = "done-partition"
_MARK_EVENT = "mark-event"
_SUPPORTED = (_SUCCESS_FILE, _DONE_PARTITION, _MARK_EVENT)
_OTHERS = ("http-report", "custom")
_FILE_NAME = "_SUCCESS"
_DONE = ".done"


def mark_partitions_done(
    store: TableStore,
    schema: TableSchema,
    options: TableOptions,
    partitions: Sequence[PartitionSpec],
    *,
    clock: Callable[[], int] = system_clock,
) -> list[str]:
    """Mark partitions as done by the actions of the table's options.

    Args:
        store: the table.
        schema: the latest schema.
        options: effective options.
        partitions: the values of all partition columns of each.
        clock: epoch milliseconds.

    Returns:
        The paths of the partitions, relative to the table's folder.

    Raises:
        InvalidInputError: a column is missing or unknown, a value does not fit, or an action is
            unknown.
        UnsupportedFeatureError: the catalog of the table does not support an action.
    """
    actions = _actions(store, options)
    specs = [_complete(schema, spec) for spec in partitions]
    columns = _columns(schema, specs)
    types = [field.type for field in schema.partition_type]
    default = options.value(PARTITION_DEFAULT_NAME) or ""
    legacy = options.value(PARTITION_LEGACY_NAME)
    paths = partition_paths(
        schema.partition_keys, columns, types, legacy_names=legacy, default_name=default
    )
    texts = partition_texts(columns, types, legacy_names=legacy)
    named = [
        {
            key: partition_name(text, default)
            for key, text in zip(schema.partition_keys, row, strict=True)
        }
        for row in zip(*texts, strict=True)
    ]
    for action in actions:
        if action == _SUCCESS_FILE:
            for path in paths:
                success = f"{store.paths.root}/{path}/{_FILE_NAME}"
                write_success_file(store.file_io, success, clock())
        else:
            _tell_catalog(store, action, named)
    return paths


def _actions(store: TableStore, options: TableOptions) -> list[str]:
    """Return the actions, after checking that all of them can be done."""
    found = list(parse_names(options.get(_ACTIONS, _SUCCESS_FILE)))
    for action in found:
        if action in _OTHERS:
            raise UnsupportedFeatureError(
                f"option {_ACTIONS!r} = {action!r}", hint=f"Supported: {choices(_SUPPORTED)}."
            )
        if action not in _SUPPORTED:
            raise InvalidInputError(
                f"Option {_ACTIONS!r} contains {action!r}, which is not an action.",
                hint=f"Actions: {choices(_SUPPORTED)}.",
            )
        if action == _SUCCESS_FILE:
            continue
        needed = PartitionEnvironment if action == _DONE_PARTITION else PartitionDoneEnvironment
        if not isinstance(store.environment, needed):
            raise UnsupportedFeatureError(
                f"option {_ACTIONS!r} = {action!r} for a table whose catalog keeps no partitions"
            )
        if not options.value(METASTORE_PARTITIONED_TABLE):
            raise InvalidInputError(
                f"Option {_ACTIONS!r} = {action!r} requires partitions in the catalog.",
                hint="Set the option 'metastore.partitioned-table' to true.",
            )
    return found


def _complete(schema: TableSchema, spec: PartitionSpec) -> PartitionSpec:
    if not schema.partition_keys:
        raise InvalidInputError("mark_partition_done() requires a partitioned table.")
    check_partition(schema.partition_type, spec)
    missing = [key for key in schema.partition_keys if key not in spec]
    if missing:
        raise InvalidInputError(
            f"Partition {dict(spec)} has no value of partition column {missing[0]!r}.",
            hint=f"Pass a value for each of {choices(schema.partition_keys)}.",
        )
    return spec


def _columns(schema: TableSchema, specs: Sequence[PartitionSpec]) -> list[Column]:
    return [
        pa.array(
            [
                None if spec[field.name] is None else partition_scalar(spec[field.name], field)
                for spec in specs
            ],
            to_arrow(field.type),
        )
        for field in schema.partition_type
    ]


def write_success_file(file_io: FileIO, path: str, now_ms: int) -> None:
    """Write the success file of a partition or tag; an existing one keeps its creation time."""
    created_ms = now_ms
    with suppress(MissingFileError, ValueError, KeyError, TypeError):
        created_ms = int(json.loads(file_io.read(path))["creationTime"])
    text = f'{{\n  "creationTime" : {created_ms},\n  "modificationTime" : {now_ms}\n}}'
    file_io.replace(path, text.encode())


def _tell_catalog(store: TableStore, action: str, specs: Sequence[Mapping[str, str]]) -> None:
    environment = store.environment
    if action == _MARK_EVENT and isinstance(environment, PartitionDoneEnvironment):
        environment.mark_partitions_done(specs)
    elif isinstance(environment, PartitionEnvironment):
        environment.add_partitions([_marked(spec) for spec in specs])


def _marked(spec: Mapping[str, str]) -> dict[str, str]:
    """Return the partition whose last value ends in `.done`."""
    *_, last = spec
    return {**spec, last: f"{spec[last]}{_DONE}"}
