"""Reads the stored records of files, with what a read does with each of them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from paimon_explore.inspection.rows.record_status import (
    KINDS,
    SYSTEM,
    RecordStatus,
    RecordStatuses,
    stored_schema,
)
from paimon_explore.inspection.rows.row_units import RowUnit
from paimon_explore.inspection.rows.unit_reader import (
    RowPage,
    RowStream,
    UnitReader,
    Window,
    file_of,
)
from paimon_explore.merge.merge_spec import merge_spec, needed_columns
from paimon_explore.read.data_file import ReadRequest, read_data_file
from paimon_explore.read.rows_at_positions import read_rows_at
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.predicate.expression import TRUE
from paimon_explore.scan.splits.data_split import DataSplit


class RecordReader:
    """Reads stored records, a unit per file.

    Args:
        units: reads the units.
        live: all live files of the snapshot.
    """

    def __init__(self, units: UnitReader, live: DataSplit) -> None:
        self._units = units
        self._target = units.target
        self._statuses = RecordStatuses(self._target, units.split_reader(()), live)
        self._stream: tuple[tuple[int, tuple[str, ...]], RowStream] | None = None

    def page(self, at: int, offset: int, count: int, names: tuple[str, ...]) -> RowPage:
        """Read records of a file.

        Raises:
            PaimonError: a file of the bucket cannot be read.
        """
        unit = self._units.units[at]
        deciding = tuple(name for name in self._deciding() if name not in names)
        reader = self._units.split_reader((*names, *deciding))
        fields = self._target.schema.project(reader.columns).fields
        request = ReadRequest(fields=fields, system_columns=SYSTEM)
        if self._units.rest == TRUE:
            window = _by_position(unit, reader, request, range(offset, offset + count))
        else:
            window = self._matching(at, reader, request).window(offset, count)
        file = 0 if unit.files is None else unit.files[0]
        statuses = self._statuses.of(file, window.rows)
        return RowPage(
            unit=at,
            offset=offset,
            rows=window.rows.select(list(names)),
            records=tuple(self._described(unit, window.rows, statuses)),
            end=window.end,
            is_partial=window.is_partial,
        )

    def _deciding(self) -> tuple[str, ...]:
        """The columns that decide about the merge of records."""
        if self._target.keys is None:
            return ()
        schema = self._units.split_reader(()).effective_schema
        return needed_columns(merge_spec(schema, schema.trimmed_primary_keys))

    def _matching(self, at: int, reader: SplitReader, request: ReadRequest) -> RowStream:
        """The records that match the condition."""
        key = (at, reader.columns)
        if self._stream is None or self._stream[0] != key:
            read = {one.name for one in request.fields}
            hidden = tuple(one for one in reader.fields if one.name not in read)
            matching = replace(request, predicate=self._units.rest, filter_fields=hidden)
            source = file_of(self._units.units[at], reader).source()
            schema = stored_schema(self._target.schema.project(reader.columns))
            self._stream = key, RowStream(schema, lambda: read_data_file(source, matching))
        return self._stream[1]

    def _described(
        self, unit: RowUnit, rows: pa.Table, statuses: Sequence[RecordStatus]
    ) -> Iterator[tuple[object, ...]]:
        file = file_of(unit, self._units.split_reader(()))
        name, level = file.value("file_name"), file.value("level")
        is_keyed = self._target.keys is not None
        sequences, kinds, positions = (rows.column(one).to_pylist() for one in SYSTEM)
        for at, status in enumerate(statuses):
            kind = KINDS[int(kinds[at] or 0)]
            number = sequences[at] if is_keyed else None
            yield status.fate.value, status.text, number, kind, level, name, positions[at]


def _by_position(unit: RowUnit, reader: SplitReader, request: ReadRequest, wanted: range) -> Window:
    rows = np.arange(wanted.start, max(min(wanted.stop, unit.most), wanted.start), dtype=np.int64)
    found = read_rows_at(file_of(unit, reader).source(), request, rows)
    end = wanted.start + found.num_rows
    is_last = found.num_rows < len(rows) or end >= unit.most
    return Window(rows=found, end=min(end, unit.most) if is_last else None)
