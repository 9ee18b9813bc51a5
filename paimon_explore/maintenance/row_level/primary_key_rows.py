"""Rows updated and deleted in tables with a primary key: new records are written over them.

The rows are read as they are at the snapshot, level 0 included, even where batch readers do not see
it yet: an update must not bring back what a row was before its last version.

Whoever writes to the same keys meanwhile makes the commit fail: the new records would undo that.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.arrow_buffers import (
    Bools,
    Column,
    build_fixed,
    string_array,
    valid_mask,
)
from paimon_explore.errors import InvalidInputError
from paimon_explore.maintenance.row_level.append_table_rows import Inserts
from paimon_explore.maintenance.row_level.candidate_files import refuse_branches
from paimon_explore.maintenance.row_level.primary_key_write import seeing, write_keyed
from paimon_explore.maintenance.row_level.row_change import RowChange, taken
from paimon_explore.merge.keys.key_groups import ranks
from paimon_explore.metadata.commit_message import CommitMessage
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.option_enums import MergeEngine, SortOrder
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.metadata.schema.table_schema import names_in
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.plan import ScanTarget, plan_scan
from paimon_explore.write.input.row_kinds import DELETE, INSERT, KINDS, ROW_KIND, UPDATE_AFTER

_GROUP = ".sequence-group"
_FIELDS = "fields."
_KIND_FIELD = pa.field(ROW_KIND, pa.int8(), nullable=False)
_KIND_TEXTS = {number: text for text, number in KINDS.items()}


class KeyedRows:
    """One operation on a table with a primary key.

    Args:
        scan: the table at the snapshot that the operation builds on.
        change: what happens to the rows.
    """

    def __init__(self, scan: ScanTarget, change: RowChange) -> None:
        refuse_branches(scan)
        seen = {**scan.options, opt.DELETION_VECTORS_MERGE_ON_READ.key: "true"}
        self._scan = replace(scan, options=TableOptions(seen))
        self._options = scan.options
        self._change = change
        self._kept_where_null = _kept_where_null(scan.options, change.updated)

    def run(self, inserts: Inserts | None = None) -> list[CommitMessage]:
        """Write the new records.

        Args:
            inserts: gives rows to be added, asked after all rows have been looked at.

        Returns:
            What a commit makes visible; nothing if no row changes. All files are removed again if
            this raises.

        Raises:
            FormatError: a file breaks the format.
            MissingFileError: a file is gone.
            StorageError: a file cannot be read or written.
            InvalidInputError: a new value does not fit its column or the merge engine.
        """
        schema = arrow_schema(self._scan.schema.row_type)
        records = self._records(inserts)
        messages = write_keyed(
            self._scan.store,
            self._scan.schema,
            pa.RecordBatchReader.from_batches(schema.append(_KIND_FIELD), records),
            options=self._options,
        )
        return seeing(messages, self._scan.snapshot)

    def _records(self, inserts: Inserts | None) -> Iterator[pa.RecordBatch]:
        plan = plan_scan(self._scan, self._change.where)
        reader = SplitReader(
            store=self._scan.store,
            schema=self._scan.schema,
            options=self._scan.options,
            columns=self._scan.schema.row_type.names,
            predicate=plan.rest,
        )
        for split in plan.splits:
            for batch in reader.read(split):
                yield from self._changed(batch)
        if inserts is not None:
            for batch in inserts():
                yield self._of_kind(batch, INSERT)

    def _changed(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        outcome = self._change.outcome(batch)
        gone = outcome.touched.copy()
        gone[outcome.rows] = False
        if gone.any():
            yield self._of_kind(taken(batch, np.flatnonzero(gone)), DELETE)
        if len(outcome.rows):
            before = taken(batch, outcome.rows)
            self._check_order(before, outcome.after)
            self._check_nulls(before, outcome.after)
            yield self._of_kind(outcome.after, UPDATE_AFTER)

    def _of_kind(self, batch: pa.RecordBatch, kind: int) -> pa.RecordBatch:
        """The rows with their kind, also in the column that tells it, if the table has one."""
        name = self._options.value(opt.ROWKIND_FIELD)
        count = batch.num_rows
        if name is not None:
            at = batch.schema.get_field_index(name)
            texts = string_array([_KIND_TEXTS[kind]] * count).cast(batch.schema.field(at).type)
            if kind != DELETE:  # what is there adds the row already
                texts = pc.call_function("coalesce", [batch.column(at), texts])
            batch = batch.set_column(at, batch.schema.field(at), texts)
        kinds = build_fixed(pa.int8(), np.full(count, kind, np.int8), np.ones(count, np.bool_))
        return batch.append_column(_KIND_FIELD, kinds)

    def _check_order(self, before: pa.RecordBatch, after: pa.RecordBatch) -> None:
        """Refuse an update that loses against the row it updates."""
        names = self._options.value(opt.SEQUENCE_FIELD)
        if not set(names) & set(self._change.updated):
            return
        count = before.num_rows
        both: list[Column] = [
            pa.concat_arrays([before.column(name), after.column(name)]) for name in names
        ]
        places = ranks(both, count=2 * count)
        old, new = places[:count], places[count:]
        is_descending = self._options.value(opt.SEQUENCE_FIELD_SORT_ORDER) is SortOrder.DESCENDING
        if bool((new > old if is_descending else new < old).any()):
            raise InvalidInputError(
                f"The update lowers {', '.join(names)} of a row: by "
                f"'{opt.SEQUENCE_FIELD.key}' the row would not change.",
                hint="Delete the rows, then write them again in a later commit.",
            )

    def _check_nulls(self, before: pa.RecordBatch, after: pa.RecordBatch) -> None:
        """Refuse a null that a partial update takes for "no new value"."""
        for name in self._kept_where_null:
            lost: Bools = valid_mask(before.column(name)) & ~valid_mask(after.column(name))
            if lost.any():
                raise InvalidInputError(
                    f"The update sets column {name!r} to null, which 'merge-engine' = "
                    "'partial-update' ignores.",
                    hint="Delete the row, or add the column to a sequence group.",
                )


def _kept_where_null(options: TableOptions, updated: tuple[str, ...]) -> tuple[str, ...]:
    """Updated columns in which a null changes nothing."""
    if options.value(opt.MERGE_ENGINE) is not MergeEngine.PARTIAL_UPDATE:
        return ()
    grouped: set[str] = set()
    for key, value in options.items():
        if key.startswith(_FIELDS) and key.endswith(_GROUP):
            grouped.update(names_in(key.removeprefix(_FIELDS).removesuffix(_GROUP)))
            grouped.update(names_in(value))
    return tuple(name for name in updated if name not in grouped)
