"""Preview of partition expiry: the time of each partition, and which ones would be dropped.

Nothing is dropped; the preview is a dry run of the expiry code.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow import schema_from_text
from paimon_explore.data_types.local_time import local_now
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.history.file_history import partition_type
from paimon_explore.inspection.rendering.chart import Tone
from paimon_explore.inspection.rendering.code_snippet import Code, call_code
from paimon_explore.inspection.rendering.number_format import bytes_text, count_text, plural
from paimon_explore.inspection.rendering.report import Cell, Entry, Report, Section, facts, grid
from paimon_explore.inspection.rendering.result import TableResult
from paimon_explore.inspection.rendering.value_text import partition_texts
from paimon_explore.inspection.table_view import TableView
from paimon_explore.inspection.what_if.option_effects import duration_text
from paimon_explore.maintenance.expiry.partition_expiry import (
    PartitionExpiry,
    PartitionTimes,
    expire_partitions,
    expiry_of,
    partition_times,
)
from paimon_explore.metadata.schema.schema_validation import check_dynamic_options
from paimon_explore.scan.manifest_arrays import byte_rows, column, distinct, numbers

PARTITION_TIMES = schema_from_text(
    "partition string, time timestamp[us], expires bool, files int64, rows int64, bytes int64"
)
"""One row per partition; `time` is local, null if the partition has no readable time."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PartitionExpiryPreview(TableResult):
    """The effect that expiring partitions would have now.

    Attributes:
        name: the table.
        expiry: the rules.
        before: partitions with an earlier local time are older than the age.
        table: the partitions as `PARTITION_TIMES`, those that expire first.
    """

    name: str
    expiry: PartitionExpiry
    before: datetime
    kind = "what_if"

    @property
    def expiring(self) -> tuple[str, ...]:
        """The partitions that would be dropped, as text."""
        return tuple(str(row["partition"]) for row in self.table.to_pylist() if row["expires"])

    def figures(self) -> dict[str, object]:
        """Counts before and after, and the rules."""
        return {
            "expiring": list(self.expiring),
            "age_seconds": self.expiry.age.total_seconds(),
            "strategy": self.expiry.strategy.value,
            **{name: list(pair) for name, pair in self._totals().items()},
        }

    def _totals(self) -> dict[str, tuple[int, int]]:
        rows = self.table.to_pylist()
        kept = [row for row in rows if not row["expires"]]
        found = {"partitions": (len(rows), len(kept))}
        for name in ("files", "rows", "bytes"):
            found[name] = (sum(r[name] for r in rows), sum(r[name] for r in kept))
        return found

    def to_report(self) -> Report:
        """The table before and after, the rules, and all partitions."""
        count = plural(len(self.expiring), "partition")
        title = f"{self.name}: {count} would be dropped"
        return Report(title=title, sections=tuple(self._sections()))

    def _sections(self) -> Iterator[Section]:
        rows: list[list[Entry]] = []
        for name, (before, after) in self._totals().items():
            text = bytes_text if name == "bytes" else count_text
            rows.append([name, text(before), text(after), text(after - before)])
        yield grid("Before and after", ("figure", "before#", "after#", "difference#"), rows)
        without = sum(row["time"] is None for row in self.table.to_pylist())
        kept = f"{plural(without, 'partition')} never expire"
        why = "the value cannot be read as a time"
        yield facts(
            ("expire if older than", f"{self.before:%Y-%m-%d %H:%M:%S} (local time)"),
            ("partition.expiration-strategy", self.expiry.strategy.value),
            ("partition.timestamp-pattern", self.expiry.pattern),
            ("partition.timestamp-formatter", self.expiry.formatter),
            ("partition.expiration-max-num", self.expiry.max_num),
            ("partitions without a time", f"{kept}: {why}" if without else None),
        )
        listed: list[list[Entry]] = [
            [
                row["partition"],
                "none" if row["time"] is None else f"{row['time']:%Y-%m-%d %H:%M:%S}",
                Cell(text="drop", tone=Tone.REMOVE) if row["expires"] else "keep",
                row["files"],
                row["rows"],
                bytes_text(row["bytes"]),
            ]
            for row in self.table.to_pylist()
        ]
        heads = ("partition", "time", "action", "files#", "rows#", "size#")
        yield grid("Partitions", heads, listed)


def partition_expiry_preview(
    view: TableView,
    age: timedelta | None,
    options: Mapping[str, str],
    *,
    now: Callable[[], datetime] = local_now,
) -> PartitionExpiryPreview:
    """Preview a partition expiry.

    Args:
        view: the table.
        age: the age from which partitions expire; None for the option of the table.
        options: options that override those of the table.
        now: local wall clock.

    Raises:
        InvalidInputError: no age is given, or the table is not partitioned.
        UnsupportedFeatureError: the formatter or strategy is not supported.
        PaimonError: a manifest cannot be read.
    """
    check_dynamic_options(view.target(None, travelled=False).schema, options)
    effective = view.options.changed(options)
    expiry = expiry_of(effective, age)
    moment = now()
    gone = expire_partitions(view.store, effective, expiry, now=lambda: moment, dry_run=True)
    found = partition_times(view.store, effective, expiry)
    given = [] if age is None else [duration_text(age // timedelta(milliseconds=1))]
    name = f"{view.expression}.what_if.expire_partitions"
    python = call_code(name, *given, options=dict(options) or None)
    return PartitionExpiryPreview(
        name=view.name,
        expiry=expiry,
        before=moment - expiry.age,
        table=_table(view, found, gone),
        code=Code(python=python),
    )


def _table(view: TableView, found: PartitionTimes, gone: list[dict[str, object]]) -> pa.Table:
    files = found.files.table
    partitions, codes = distinct(column(files, "partition"))
    keys = byte_rows(partitions)
    names = dict(zip(codes.tolist(), partition_texts(files, partition_type(view)), strict=True))
    columns = (numbers(files, name) for name in ("row_count", "file_size"))
    sums = [np.bincount(codes, weights, len(keys)).tolist() for weights in (None, *columns)]
    listed = [
        {
            "partition": names[code],
            "time": found.times[key],
            "expires": found.specs[key] in gone,
            "files": number,
            "rows": int(rows),
            "bytes": int(size),
        }
        for code, (key, number, rows, size) in enumerate(zip(keys, *sums, strict=True))
    ]
    listed.sort(key=lambda row: (not row["expires"], str(row["time"]), str(row["partition"])))
    return pa.Table.from_pylist(listed, schema=PARTITION_TIMES)
