"""The command `tail`."""

import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import click

from paimon_explore.command_line.command import command, main_group
from paimon_explore.command_line.exit_codes import OK
from paimon_explore.command_line.options import column_names, opened_table, output_options
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.sanitize import sanitized

if TYPE_CHECKING:
    import pyarrow as pa

    from paimon_explore.command_line.rendering.output import Output
    from paimon_explore.table.row_changes import Change
    from paimon_explore.table.table import Table

SNAPSHOT_COLUMN = "_snapshot"
"""The column of the output with the id of the snapshot."""


@command(
    main_group,
    "tail",
    "tail wh/demo.db/events --from 2 --count 2",
    "tail demo.orders -w wh --from earliest --where 'id < 2' --timeout 0 --json",
    "tail demo.orders -w wh --poll 0.1 --timeout 0.2 --columns id,city",
)
@opened_table
@click.option(
    "--from",
    "start",
    default="latest",
    show_default=True,
    metavar="ID|earliest|latest",
    help="The first snapshot; latest: only commits from now on.",
)
@click.option(
    "--poll",
    type=click.FloatRange(min=0.05),
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait between looks at the table.",
)
@click.option("-n", "--count", type=click.IntRange(min=1), help="End after so many rows.")
@click.option(
    "--timeout", type=click.FloatRange(min=0), metavar="SECONDS", help="End after this time."
)
@click.option("--columns", metavar="NAMES", help="Comma-separated columns.")
@click.option("--where", metavar="SQL", help="A condition in SQL.")
@output_options
def tail(  # noqa: PLR0913 - the options of the command
    *,
    table: "Table",
    start: str,
    poll: float,
    count: int | None,
    timeout: float | None,
    columns: str | None,
    where: str | None,
    output: "Output",
) -> int:
    """Follow the changes of a table: prints the rows of each commit with their row kinds.

    +I is an inserted row, -U and +U are a row before and after an update, -D is a deleted row.
    The command ends after --count rows, after --timeout, or with Ctrl+C.
    """
    follow = Follow(
        table=table, columns=column_names(columns), where=where, poll_s=poll, timeout_s=timeout
    )
    if output.is_text and sys.stderr.isatty():
        sys.stderr.write(f"Following {sanitized(table.name)}; Ctrl+C ends.\n")
    try:
        output.rows(follow.reader(start, count), noun="change", is_live=True)
    except KeyboardInterrupt:
        if timeout is None and count is None:  # the usual end
            return OK
        raise
    return OK


@dataclass(frozen=True, slots=True, kw_only=True)
class Follow:
    """Follows the commits of a table.

    Attributes:
        table: the table.
        columns: columns; None for all.
        where: a filter.
        poll_s: seconds between looks at the table.
        timeout_s: seconds after which it ends; None for no end. 0 reads what is there.
        clock: monotonic seconds.
        sleep: waits for some seconds.
    """

    table: "Table"
    columns: list[str] | None = None
    where: str | None = None
    poll_s: float = 1.0
    timeout_s: float | None = None
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def reader(self, start: str, count: int | None) -> "pa.RecordBatchReader":
        """Return the changes as they are committed: `_snapshot`, `rowkind`, then the columns.

        Args:
            start: a snapshot id, `earliest` or `latest`.
            count: maximum number of rows; None for no limit.
        """
        import pyarrow as pa

        from paimon_explore.table.audit_log_binlog_tables import ROWKIND

        first = self._first(start)
        scan = self.table.scan(self.columns, self.where)
        schema = pa.schema([(SNAPSHOT_COLUMN, pa.int64()), ROWKIND, *scan.schema])
        return pa.RecordBatchReader.from_batches(schema, self._limited(first, schema, count))

    def changes(self, first: int | None) -> "Iterator[Change]":
        """Yield the changes of each commit, waiting for the next one.

        Args:
            first: the id of the first snapshot; None for the earliest.
        """
        began = self.clock()
        following = first
        while True:
            latest = self._latest()
            if latest and (following is None or following <= latest):
                yield from self.table.changes(
                    following, latest, columns=self.columns, where=self.where
                )
                following = latest + 1
            if self.timeout_s is not None and self.clock() - began >= self.timeout_s:
                return
            self.sleep(self.poll_s)

    def _limited(
        self, first: int | None, schema: "pa.Schema", count: int | None
    ) -> "Iterator[pa.RecordBatch]":
        import pyarrow as pa

        left = count
        for change in self.changes(first):
            for batch in change.rows.to_batches():
                kept = batch if left is None else batch.slice(0, left)
                ids = pa.repeat(pa.scalar(change.snapshot.id, pa.int64()), kept.num_rows)
                yield pa.RecordBatch.from_arrays([ids, *kept.columns], schema=schema)
                if left is not None:
                    left -= kept.num_rows
                    if left == 0:
                        return

    def _first(self, start: str) -> int | None:
        if start == "earliest":
            return None
        if start == "latest":
            return self._latest() + 1
        if not (start.isascii() and start.isdigit()) or int(start) == 0:
            raise InvalidInputError(
                f"--from must be a snapshot id, earliest or latest, not {start!r}."
            )
        return int(start)

    def _latest(self) -> int:
        return self.table.store.snapshots.latest_id() or 0
