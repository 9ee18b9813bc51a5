"""A scan as a datasource of Ray Data: each of its tasks reads some parts of the scan."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from inspect import signature

import pyarrow as pa
import ray.data
from ray.data.block import BlockMetadata
from ray.data.datasource import Datasource, ReadTask

from paimon_explore.table.engine_scans.scan_part import ScanPart, shares


class ScanDatasource(Datasource):  # type: ignore[misc]  # Ray may not be installed
    """The parts of a scan, which Ray reads in its tasks.

    Args:
        parts: the parts, at least one.
        schema: their columns.
    """

    def __init__(self, parts: Sequence[ScanPart], schema: pa.Schema) -> None:
        super().__init__()
        self._parts = tuple(parts)
        self._schema = schema

    def get_name(self) -> str:
        """Return the name in Ray's progress bars."""
        return "Paimon"

    def estimate_inmemory_data_size(self) -> int | None:
        """Return the size of the data files; None if it is not known."""
        return sum(part.file_bytes for part in self._parts) or None

    def get_read_tasks(
        self, parallelism: int, per_task_row_limit: int | None = None, **_context: object
    ) -> list[ReadTask]:
        """Return at most so many tasks, of about the same size.

        Args:
            parallelism: the number of tasks that Ray wants.
            per_task_row_limit: the rows that Ray needs of a task.
        """
        divided = [parts for parts in shares(self._parts, max(parallelism, 1)) if parts]
        known = signature(ReadTask).parameters
        further = {"schema": self._schema, "per_task_row_limit": per_task_row_limit}
        given = {name: value for name, value in further.items() if name in known}
        return [
            ReadTask(partial(_tables, parts, self._schema), _metadata(parts, self._schema), **given)
            for parts in divided
        ]


def ray_dataset(
    parts: Sequence[ScanPart], schema: pa.Schema, arguments: Mapping[str, object]
) -> "ray.data.Dataset":
    """Return a Ray Dataset of the rows of some parts.

    Args:
        parts: the parts.
        schema: their columns.
        arguments: those of `ray.data.read_datasource`.
    """
    if not parts or not all(part.is_shared for part in parts):
        tables = [table for part in parts for table in _tables([part], schema)]
        return ray.data.from_arrow(tables or schema.empty_table())
    return ray.data.read_datasource(ScanDatasource(parts, schema), **arguments)


def _tables(parts: Sequence[ScanPart], schema: pa.Schema) -> Iterator[pa.Table]:
    """Read parts as blocks; one without rows if there is none, since Ray needs the columns."""
    is_empty = True
    for part in parts:
        for batch in part.to_batches():
            is_empty = False
            yield pa.Table.from_batches([batch], schema)
    if is_empty:
        yield schema.empty_table()


def _metadata(parts: Sequence[ScanPart], schema: pa.Schema) -> BlockMetadata:
    counts = [part.row_count for part in parts]
    known = [count for count in counts if count is not None]
    facts: dict[str, object] = {
        "num_rows": sum(known) if len(known) == len(counts) else None,
        "size_bytes": sum(part.file_bytes for part in parts) or None,
        "input_files": [path for part in parts for path in part.paths] or None,
        "exec_stats": None,
        "schema": schema,  # of Ray before 2.48
    }
    names = signature(BlockMetadata).parameters
    return BlockMetadata(**{name: value for name, value in facts.items() if name in names})
