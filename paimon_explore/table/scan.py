"""`Scan`: a read being described, planned, explained and run."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_explore.arguments import optional_integer, optional_names, string
from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.definitions import RowType
from paimon_explore.data_types.local_time import local_millis
from paimon_explore.errors import InvalidInputError, choices, suggestion
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.table_options import (
    SCAN_FILE_CREATION_TIME_MILLIS,
    SCAN_IGNORE_CORRUPT_FILES,
    SCAN_IGNORE_LOST_FILES,
)
from paimon_explore.read.parallel import read_splits
from paimon_explore.read.split_reader import BATCH_ROWS, SplitReader
from paimon_explore.scan.branch_scan import plan_table
from paimon_explore.scan.plan import ScanPlan, ScanTarget
from paimon_explore.scan.predicate.expression import TRUE, Expression
from paimon_explore.scan.splits.data_split import Split
from paimon_explore.scan.splits.split_row_count import told_rows
from paimon_explore.store.expired import naming_expiry
from paimon_explore.table.incremental_range import Increment
from paimon_explore.table.progress import progress

_IGNORING = (SCAN_IGNORE_LOST_FILES, SCAN_IGNORE_CORRUPT_FILES)

if TYPE_CHECKING:
    import duckdb
    import pandas as pd
    import polars as pl

    from paimon_explore.inspection.explain.scan_explanation import ScanExplanation
    from paimon_explore.scan.predicate.sql_parser import Where


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """A read of one snapshot: which columns, which rows, how many.

    Made by `Table.scan`. Nothing is read before one of the methods is called; the snapshot is fixed
    when the scan is made, so that plan and rows agree.

    Attributes:
        target: table, schema and snapshot.
        columns: wanted columns in result order.
        where: bound predicate; TRUE keeps all.
        limit: most rows to give; None for all.
        increment: read what changed between two points instead of the snapshot's rows.
    """

    target: ScanTarget
    columns: tuple[str, ...]
    where: Expression
    limit: int | None
    increment: Increment | None = None

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of the result."""
        return arrow_schema(self.target.schema.project(self.columns))

    def plan(self) -> ScanPlan:
        """The splits that have to be read, and how many manifests and files each cut left.

        Raises:
            InvalidInputError: the scan reads an increment, which is no snapshot's.
            SnapshotExpiredError: the snapshot expired meanwhile.
        """
        if self.increment is not None:
            raise InvalidInputError(
                "A scan of an increment reads commit by commit and has no single plan."
            )
        with naming_expiry(self.target.store, self.target.snapshot):
            plan = plan_table(self._read_target, self.where)
        if not any(map(self.target.options.value, _IGNORING)):
            return plan
        from paimon_explore.read.skip_unreadable_files import readable_splits

        return replace(plan, splits=readable_splits(plan.splits, self._reader(plan, self.columns)))

    def explain(self) -> "ScanExplanation":
        """What is read and why: every cut with what went in and what was kept, file by file.

        Raises:
            InvalidInputError: the scan reads an increment, which is no snapshot's.
        """
        from paimon_explore.inspection.explain.scan_explanation import ExplainRequest, explain_scan
        from paimon_explore.table.display import SCREEN

        if self.increment is not None:
            raise InvalidInputError(
                "A scan of an increment reads commit by commit and has no single plan."
            )
        request = ExplainRequest(
            where=self.where, columns=self.columns, limit=self.limit, screen=SCREEN
        )
        name = self.target.store.paths.root.rpartition("/")[2]
        return explain_scan(self._read_target, request, name)

    @property
    def _read_target(self) -> ScanTarget:
        """What is read: what writes plans with the target itself, and so with all files."""
        since = self.target.options.value(SCAN_FILE_CREATION_TIME_MILLIS)
        return (
            self.target
            if since is None
            else replace(self.target, created_since=local_millis(since))
        )

    def to_batches(self) -> pa.RecordBatchReader:
        """The rows as a stream of record batches; memory stays bounded.

        Raises:
            SnapshotExpiredError: the snapshot expired meanwhile; here or while the rows are read.
        """
        return self._stream(self._batches())

    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table; several splits are read at a time.

        `pyarrow.set_cpu_count` says in how many threads, or `pyarrow.set_io_thread_count` where the
        files are not local ones.

        Raises:
            SnapshotExpiredError: the snapshot expired meanwhile.
        """
        at_once = self.limit is None and self.increment is None
        return self._stream(self._at_once() if at_once else self._batches()).read_all()

    def to_pandas(self) -> "pd.DataFrame":
        """The rows as a pandas DataFrame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> "pl.DataFrame":
        """The rows as a polars DataFrame.

        Raises:
            InvalidInputError: polars is not installed.
        """
        try:
            import polars as pl
        except ImportError as error:
            raise InvalidInputError(
                "polars is not installed.", hint="pip install polars"
            ) from error
        frame = pl.from_arrow(self.to_arrow())
        return frame if isinstance(frame, pl.DataFrame) else frame.to_frame()

    def to_duckdb(self, name: str = "t") -> "duckdb.DuckDBPyConnection":
        """A DuckDB connection in which the rows are a view of that name.

        Raises:
            InvalidInputError: duckdb is not installed.
        """
        try:
            import duckdb
        except ImportError as error:
            raise InvalidInputError(
                "duckdb is not installed.", hint="pip install duckdb"
            ) from error
        string("name", name)
        connection = duckdb.connect()
        connection.register(name, self.to_arrow())
        return connection

    def count(self) -> int:
        """The number of rows.

        Files whose rows are the table's rows are counted by their manifest entries; of the others
        only the columns are read that the merge and the predicate need.
        """
        if self.increment is not None:
            return self.to_arrow().num_rows
        plan = self.plan()
        told = {at: told_rows(split) for at, split in enumerate(plan.splits) if plan.rest == TRUE}
        rows = sum(count for count in told.values() if count is not None)
        reader = self._reader(plan, ())
        rest = [split for at, split in enumerate(plan.splits) if told.get(at) is None]
        rows += sum(batch.num_rows for batch in self._read(reader, rest, "counting"))
        return rows if self.limit is None else min(rows, self.limit)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows through Arrow's C stream interface."""
        return self.to_batches().__arrow_c_stream__(requested_schema)  # type: ignore[no-untyped-call]  # in stubs

    def _batches(self) -> Iterator[pa.RecordBatch]:
        if self.increment is not None:
            from paimon_explore.table.row_changes import ChangeReader, without_retracts

            changes = ChangeReader(target=self.target, columns=self.columns, where=self.where)
            rows = without_retracts(changes.between(self.increment))
            return _limited(iter(rows.to_batches()), self.limit)
        plan = self.plan()
        reader = self._reader(plan, self.columns)
        splits = progress(plan.splits, "reading")
        batches = (batch for split in splits for batch in reader.read(split))
        return _limited(self._whole(batches), self.limit)

    def _stream(self, batches: Iterator[pa.RecordBatch]) -> pa.RecordBatchReader:
        schema = self.schema
        return pa.RecordBatchReader.from_batches(schema, (_named(b, schema) for b in batches))

    def _at_once(self) -> Iterator[pa.RecordBatch]:
        plan = self.plan()
        return self._read(self._reader(plan, self.columns), plan.splits, "reading")

    def _read(
        self, reader: SplitReader, splits: Sequence[Split], what: str
    ) -> Iterator[pa.RecordBatch]:
        """All rows of splits, of several at a time."""
        with (
            naming_expiry(self.target.store, self.target.snapshot),
            closing(read_splits(reader, splits)) as found,
        ):
            for _, batches in zip(progress(splits, what), found, strict=True):
                yield from batches

    def _reader(self, plan: ScanPlan, columns: tuple[str, ...]) -> SplitReader:
        return SplitReader(
            store=self.target.store,
            schema=self.target.schema,
            options=self.target.options,
            columns=columns,
            predicate=plan.rest,
            batch_rows=self._batch_rows(plan),
        )

    def _batch_rows(self, plan: ScanPlan) -> int:
        """Rows of a batch at most: no more than are wanted, where none of them is filtered out."""
        if self.limit is None or plan.rest != TRUE:
            return BATCH_ROWS
        return min(BATCH_ROWS, max(self.limit, 1))

    def _whole(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The batches, or an error that tells that the snapshot expired."""
        with naming_expiry(self.target.store, self.target.snapshot):
            yield from batches


def make_scan(
    target: ScanTarget,
    columns: Iterable[str] | None,
    where: "Where | None",
    limit: int | None,
) -> Scan:
    """A scan with its columns checked and its predicate bound.

    Raises:
        InvalidInputError: unknown columns, a predicate that cannot be bound, a negative limit.
    """
    row_type = target.schema.row_type
    wanted = optional_names("columns", columns)
    names = row_type.names if wanted is None else wanted
    unknown = [name for name in names if row_type.field(name) is None]
    if unknown:
        msg = f"The table has no column {choices(unknown)}."
        meant = suggestion(unknown[0], row_type.names)
        raise InvalidInputError(msg, hint=f"{meant}Columns: {choices(row_type.names)}.")
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        msg = f"Column {twice!r} is selected twice."
        raise InvalidInputError(msg, hint="Name each column once.")
    limit = optional_integer("limit", limit, minimum=0)
    bound = TRUE if where is None else _bound(where, row_type)
    return Scan(target=target, columns=names, where=bound, limit=limit)


def _bound(where: "Where", row_type: RowType) -> Expression:
    from paimon_explore.scan.predicate.binder import bind
    from paimon_explore.scan.predicate.sql_parser import predicate

    return bind(predicate(where), row_type)


def _named(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The batch under a schema; one without columns keeps its number of rows as it is."""
    return pa.RecordBatch.from_arrays(batch.columns, schema=schema) if len(schema) else batch


def _limited(batches: Iterator[pa.RecordBatch], limit: int | None) -> Iterator[pa.RecordBatch]:
    left = limit
    for batch in batches:
        if left is None:
            yield batch
        elif left > 0:
            yield batch.slice(0, left)
            left -= min(left, batch.num_rows)
        if left == 0:
            return
