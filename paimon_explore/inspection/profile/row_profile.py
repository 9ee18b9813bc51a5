"""Profiles the rows of a scan in steps, which can be stopped at any time.

Each step processes record batches for a limited time, so that a kernel answers other requests in
between. The rules of the catalog about reading the table apply.
"""

from collections.abc import Callable, Iterator
from time import perf_counter

import pyarrow as pa

from paimon_explore.data_types.definitions import RowType
from paimon_explore.encoding.positional_batches import first_rows
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.profile.column_collectors import (
    collectors_of,
    is_read,
    unprofiled,
)
from paimon_explore.inspection.profile.column_profile import ColumnProfile
from paimon_explore.read.row_rules import AuthorizedQuery, rules_of
from paimon_explore.read.skip_unreadable_files import readable_splits
from paimon_explore.read.small_files import groups, read_group
from paimon_explore.read.split_reader import BATCH_ROWS, SplitReader
from paimon_explore.scan.branch_scan import plan_table
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.predicate.expression import TRUE, Expression
from paimon_explore.store.expired import explain_missing_files

STEP_SECONDS = 0.15
"""Time after which a step ends."""
_VALUES_AT_ONCE = 1_000_000
_MIN_BATCH = 8_192
_SMALL_BATCH = 32_768
"""Batches with fewer rows are joined, because each batch has a fixed cost per column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfiledRows:
    """The rows to profile.

    Attributes:
        target: the table and the snapshot.
        row_type: the columns, or parts of them.
        where: the filter, bound to the table's columns; TRUE for all rows.
        limit: maximum number of rows; None for all.
    """

    target: ScanTarget
    row_type: RowType
    where: Expression = TRUE
    limit: int | None = None


class RowProfile:
    """Profiles rows step by step.

    Args:
        rows: the rows.
        clock: returns seconds.

    Attributes:
        rows: number of profiled rows.
        stored: number of stored rows that were read; with a filter or merges more than `rows`.
        total: number of stored rows to read; an upper bound, since pruning may skip rows.
        is_complete: whether all rows were read.
    """

    def __init__(self, rows: ProfiledRows, clock: Callable[[], float] = perf_counter) -> None:
        self.rows = self.stored = self.total = 0
        self.is_complete = self._stopped = False
        self._source = rows
        self._clock = clock
        self._collectors = collectors_of(rows.row_type)
        self._pending: list[pa.RecordBatch] = []
        self._pending_rows = 0
        self._batches = first_rows(self._authorized(), self._source.limit)

    def step(self, seconds: float = STEP_SECONDS) -> bool:
        """Process batches for so many seconds, at least one; returns whether no rows are left.

        Raises:
            PaimonError: a file cannot be read, or the snapshot expired meanwhile.
        """
        end = self._clock() + seconds
        for batch in self._batches:
            self._pending.append(batch)
            self._pending_rows += batch.num_rows
            if self._pending_rows >= _SMALL_BATCH:
                self._flush()
            if self._clock() >= end:
                return False
        self._flush()
        self.is_complete = not self._stopped
        if self.is_complete and self._source.limit is None:
            self.stored = self.total
        return True

    def run(self) -> None:
        """Process all rows."""
        while not self.step():
            pass

    def stop(self) -> None:
        """Close the files that are being read; what was profiled is kept."""
        self._stopped = True
        self._batches.close()

    def columns(self) -> tuple[ColumnProfile, ...]:
        """The profiles of the columns, from the rows so far; fields follow their ROW column."""
        self._flush()
        known = {collector.path[0]: collector for collector in self._collectors}
        found: list[ColumnProfile] = []
        for one in self._source.row_type:
            collector = known.get(one.name)
            if collector is None:
                reason = unprofiled(one.type)
                found.append(ColumnProfile(path=(one.name,), type=one.type, reason=reason))
            else:
                found.extend(collector.profiles())
        return tuple(found)

    def _flush(self) -> None:
        """Add the pending batches to the collectors."""
        if not self._pending:
            return
        self.rows += self._pending_rows
        for collector in self._collectors:
            parts = [batch.column(collector.path[0]) for batch in self._pending]
            collector.add(parts[0] if len(parts) == 1 else pa.concat_arrays(parts))
        self._pending, self._pending_rows = [], 0

    def _authorized(self) -> Iterator[pa.RecordBatch]:
        """The rows that the rules of the catalog allow."""
        source = self._source
        names = tuple(one.name for one in source.row_type if is_read(one.type))
        rules = None
        if source.target.store.environment is not None:
            rules = rules_of(source.target, names, source.where)
        if rules is None:
            yield from self._stored(names, source.where)
            return
        query = AuthorizedQuery(
            row_type=source.target.schema.row_type, columns=names, where=source.where, rules=rules
        )
        yield from query.batches(self._stored)

    def _stored(self, names: tuple[str, ...], where: Expression) -> Iterator[pa.RecordBatch]:
        """The stored rows that fulfil a condition."""
        target = self._source.target.for_read()
        with explain_missing_files(target.store, target.snapshot):
            plan = plan_table(target, where)
            reader = SplitReader(
                target=target,
                columns=names,
                predicate=plan.rest,
                batch_rows=_batch_rows(len(names)),
                unrestricted=True,  # the rules were applied
            )
            splits = readable_splits(plan.splits, reader)
            self.total = sum(split.row_count for split in splits)
            done = 0
            for group in groups(reader, splits):
                size = sum(split.row_count for split in group)
                for batch in read_group(reader, group):
                    self.stored = min(self.stored + batch.num_rows, done + size)
                    yield batch
                done += size
                self.stored = done


def _batch_rows(columns: int) -> int:
    """Rows of a batch, fewer for more columns, so that a batch does not take long."""
    return min(max(_VALUES_AT_ONCE // max(columns, 1), _MIN_BATCH), BATCH_ROWS)


def profile_rows(rows: ProfiledRows) -> RowProfile:
    """Profile all rows at once."""
    found = RowProfile(rows)
    found.run()
    return found
