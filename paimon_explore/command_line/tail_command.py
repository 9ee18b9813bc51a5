"""The command `tail`."""

import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import click

from paimon_explore.command_line.command import command, main_group
from paimon_explore.command_line.command_names import OK
from paimon_explore.command_line.options import column_names, opened_table, output_options
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.sanitize import sanitized

if TYPE_CHECKING:
    import pyarrow as pa

    from paimon_explore.command_line.rendering.output import Output
    from paimon_explore.table.streams.change_stream import ChangeStream
    from paimon_explore.table.table import Table

SNAPSHOT_COLUMN = "_snapshot"
"""The column of the output with the id of the snapshot."""


@command(main_group, "tail")
@opened_table
@click.option(
    "--from",
    "start",
    default="latest",
    show_default=True,
    metavar="ID|earliest|latest|full|TAG|TIME",
    help="The first snapshot. latest: only commits from now on; earliest: all known changes; "
    "full: the rows of the table, then changes; a time: the first commit at or after it.",
)
@click.option("--until", metavar="ID|TAG|now", help="The last snapshot.")
@click.option(
    "--consumer",
    metavar="NAME",
    help="Go on after the last commit that this consumer has printed.",
)
@click.option(
    "--poll",
    type=click.FloatRange(min=0.05),
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait between looks at the table.",
)
@click.option(
    "-n",
    "--count",
    type=click.IntRange(min=1),
    help="End after so many rows; with --consumer after the commit of the last of them.",
)
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
    until: str | None,
    consumer: str | None,
    poll: float,
    count: int | None,
    timeout: float | None,
    columns: str | None,
    where: str | None,
    output: "Output",
) -> int:
    """Follow the changes of a table: prints the rows of each commit with their row kinds.

    +I is an inserted row, -U and +U are a row before and after an update, -D is a deleted row.
    The command ends after --count rows, after --timeout, with the snapshot --until, or with Ctrl+C.

    Examples:
        tail wh/demo.db/events --from 2 --count 2
        tail demo.orders -w wh --from earliest --where 'id < 2' --timeout 0 --json
        tail demo.orders -w wh --poll 0.1 --timeout 0.2 --columns id,city
    """
    follow = Follow(
        table=table,
        columns=column_names(columns),
        where=where,
        until=until,
        consumer=consumer,
        poll_s=poll,
        timeout_s=timeout,
    )
    if output.is_text and sys.stderr.isatty():
        sys.stderr.write(f"Following {sanitized(table.name)}; Ctrl+C ends.\n")
    try:
        output.rows(follow.reader(start, count), noun="change", is_live=True)
    except KeyboardInterrupt:
        if timeout is None and count is None and until is None:  # the usual end
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
        until: the last snapshot: an id, the name of a tag, or `now`; None for no end.
        consumer: the name under which the progress is stored; None for none.
        poll_s: seconds between looks at the table.
        timeout_s: seconds after which it ends; None for no end. 0 reads what is there.
        clock: monotonic seconds.
        sleep: waits for some seconds.
    """

    table: "Table"
    columns: list[str] | None = None
    where: str | None = None
    until: str | None = None
    consumer: str | None = None
    poll_s: float = 1.0
    timeout_s: float | None = None
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    def reader(self, start: str, count: int | None) -> "pa.RecordBatchReader":
        """Return the changes as they are committed: `_snapshot`, `rowkind`, then the columns.

        Args:
            start: as `from_` of `Table.follow`, as text.
            count: maximum number of rows, which the last commit of a consumer may exceed; None for
                no limit.
        """
        import pyarrow as pa

        stream = self._stream(start)
        schema = pa.schema([(SNAPSHOT_COLUMN, pa.int64()), *stream.schema])
        return pa.RecordBatchReader.from_batches(schema, self._limited(stream, schema, count))

    def _stream(self, start: str) -> "ChangeStream":
        from paimon_explore.table.streams.change_stream import Pace
        from paimon_explore.table.streams.follow import Following, follow
        from paimon_explore.table.table_read import stream_request

        following = Following(
            name=self.table.name,
            from_=_number_or_text(start),
            until=None if self.until is None else _number_or_text(self.until),
            consumer=self.consumer,
            poll_s=self.poll_s,
        )
        pace = Pace(total_s=self.timeout_s, clock=self.clock, sleep=self.sleep)
        return follow(stream_request(self.table, self.columns, self.where), following, pace)

    def _limited(
        self, stream: "ChangeStream", schema: "pa.Schema", count: int | None
    ) -> "Iterator[pa.RecordBatch]":
        import pyarrow as pa

        left = count
        for change in stream:
            rows = change.rows
            if left is not None:
                # a consumer stores whole commits: part of one would be printed again and again
                rows = rows if self.consumer else rows.slice(0, left)
                left -= rows.num_rows
            for batch in rows.to_batches():
                ids = pa.repeat(pa.scalar(change.snapshot_id, pa.int64()), batch.num_rows)
                yield pa.RecordBatch.from_arrays([ids, *batch.columns], schema=schema)
            if left is not None and left <= 0:
                change.ack()  # no further batch is asked for
                return


def _number_or_text(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdigit() else text
