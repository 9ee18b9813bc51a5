"""The rows of a snapshot, a partition, a bucket or a file: the result of `Table.rows`.

Merged rows are those that reads return. Without merging, each stored record is a row, with its
sequence number, row kind, level, file and position, and what a read does with it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

import pyarrow as pa

from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.arrow_buffers import as_python
from paimon_explore.data_types.definitions import AtomicType
from paimon_explore.errors import InvalidInputError, PaimonError, UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.inspection.problem import problem_of
from paimon_explore.inspection.rendering.cell_texts import table_texts
from paimon_explore.inspection.rendering.chart import Tone
from paimon_explore.inspection.rendering.escape import truncate
from paimon_explore.inspection.rendering.number_format import bytes_text, plural
from paimon_explore.inspection.rendering.report import (
    Cell,
    Entry,
    Failed,
    Note,
    Report,
    Section,
    facts,
    grid,
)
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.inspection.rows.record_status import (
    KINDS,
    RECORD_COLUMNS,
    SYSTEM,
    RecordStatus,
    RecordStatuses,
    stored_schema,
)
from paimon_explore.inspection.rows.row_code import RowScope, RowsRequest, rows_code
from paimon_explore.inspection.rows.row_sort import RowOrder, RowSorter, check_sortable
from paimon_explore.inspection.rows.row_units import RANGED_TYPES, RowUnit
from paimon_explore.inspection.rows.unit_reader import (
    RowPage,
    RowStream,
    UnitReader,
    file_of,
    rows_by_position,
)
from paimon_explore.merge.merge_spec import merge_spec, needed_columns
from paimon_explore.metadata.options.option_enums import MergeEngine
from paimon_explore.metadata.options.table_options import DATA_EVOLUTION_ENABLED, MERGE_ENGINE
from paimon_explore.read.data_file import ReadRequest, read_data_file
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.branch_scan import branches_read
from paimon_explore.scan.live_entries import PartitionFilter, live_files
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.predicate.expression import TRUE, Expression
from paimon_explore.scan.pruning.file_statistics import value_stats
from paimon_explore.scan.requested_columns import project
from paimon_explore.scan.splits.data_split import DataSplit
from paimon_explore.store.expired import explain_missing_files


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
            window = rows_by_position(unit, reader, request, range(offset, offset + count))
        else:
            window = self._matching(at, reader, request).window(offset, count)
        file = 0 if unit.files is None else unit.files[0]
        statuses = self._statuses.of(file, window.rows)
        records = tuple(self._described(unit, window.rows, statuses))
        rows = window.rows.select(list(names))
        return replace(window, unit=at, offset=offset, rows=rows, records=records)

    def _deciding(self) -> tuple[str, ...]:
        """The columns that decide about the merge of records."""
        if self._target.keys is None:
            return ()
        schema = self._units.split_reader(()).effective_schema
        return needed_columns(merge_spec(schema, schema.trimmed_primary_keys))

    def _matching(self, at: int, reader: SplitReader, request: ReadRequest) -> RowStream:
        """The records that match the condition."""
        read = {one.name for one in request.fields}
        hidden = tuple(one for one in reader.fields if one.name not in read)
        matching = replace(request, predicate=self._units.rest, filter_fields=hidden)
        file = file_of(self._units.units[at], reader)
        schema = stored_schema(self._target.schema.project(reader.columns))
        key = (at, reader.columns)

        def records() -> Iterator[pa.RecordBatch]:
            return reader.with_contents(read_data_file(file.source(), matching))

        return self._units.stream(key, schema, records)

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


_SHOWN_ROWS = 20
_SHOWN_COLUMNS = 12
_CHUNK = 8_192
_SELECTING = (MergeEngine.DEDUPLICATE, MergeEngine.FIRST_ROW)


@dataclass(slots=True)
class _Opened:
    """What a view keeps between pages."""

    units: UnitReader | None = None
    records: RecordReader | None = None
    sorter: RowSorter | None = None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RowsView(Result):
    """Rows of a table, read a window at a time.

    Attributes:
        name: the table.
        target: the table at the snapshot.
        scope: which files.
        columns: names of the columns in result order.
        where: the condition on rows, bound to the columns of the table.
        rest: the part of it that the units do not decide.
        is_merged: whether rows are those that reads return; else stored records.
        units: where the rows are, in order.
        request: what the view shows, to make code of it.
        live: all live files, for the status of records; None for merged rows.
        partitions: the existing partitions.
        order: the order of the rows; None for the order of the files.
    """

    name: str
    target: ScanTarget
    scope: RowScope
    columns: tuple[str, ...]
    where: Expression
    rest: Expression
    is_merged: bool
    units: tuple[RowUnit, ...]
    request: RowsRequest
    live: DataSplit | None = None
    partitions: tuple[str, ...] = ()
    order: RowOrder | None = None
    _opened: _Opened = field(default_factory=_Opened, compare=False)
    kind = "rows"

    @property
    def max_rows(self) -> int:
        """The number of rows, or an upper bound of it; see `is_exact`."""
        return sum(unit.most for unit in self.units)

    @property
    def is_exact(self) -> bool:
        """Whether the number of rows is known without reading them."""
        return all(unit.is_exact for unit in self.units)

    @property
    def bytes(self) -> int:
        """Size of the files."""
        return sum(unit.bytes for unit in self.units)

    def sort(self, column: str, *, descending: bool = False) -> "RowsView":
        """The first rows by the value of a column; nulls are last.

        Finding them may read all rows; `explain_sort` tells how much.

        Args:
            column: name of a column.
            descending: greatest values first.

        Raises:
            InvalidInputError: the column does not exist.
            UnsupportedFeatureError: its values have no order.
        """
        (found,) = project([column], self.target.schema.row_type)
        check_sortable(found)
        order = RowOrder(column=found.name, descending=descending)
        if not self.is_merged:
            raise UnsupportedFeatureError("sorting stored records")
        request = replace(self.request, order=order)
        code = rows_code(request)
        return replace(self, order=order, request=request, code=code, _opened=_Opened())

    def explain_sort(self) -> str:
        """How much a sort reads at most."""
        rows = plural(self.max_rows, "row")
        return f"Sorting reads up to {rows} in {bytes_text(self.bytes)} of files."

    def page(
        self, unit: int, offset: int, count: int, columns: Sequence[str] | None = None
    ) -> RowPage:
        """Read some rows of a unit.

        Args:
            unit: number of the unit.
            offset: number of the first row within the unit.
            count: maximum number of rows.
            columns: the columns to read; None for all of the view.

        Raises:
            InvalidInputError: the unit does not exist.
            PaimonError: a file cannot be read.
        """
        names = self.columns if columns is None else tuple(columns)
        if not 0 <= unit < len(self.units):
            raise InvalidInputError(f"The view has no part {unit}.")
        with explain_missing_files(self.target.store, self.target.snapshot):
            if self.order is not None:
                table = self.sorter().finish()
                rows = table.select(list(names)).slice(offset, count)
                return RowPage(unit=0, offset=offset, rows=rows, end=table.num_rows)
            if self.is_merged:
                return self._unit_reader().page(unit, offset, count, names)
            return self._record_reader().page(unit, offset, count, names)

    def head(self, rows: int = _SHOWN_ROWS) -> pa.Table:
        """The first rows."""
        tables = [self._table(page) for page in self._pages(rows)]
        return pa.concat_tables([self.schema.empty_table(), *tables]).slice(0, rows)

    @property
    def schema(self) -> pa.Schema:
        """The schema of `to_arrow`."""
        own = arrow_schema(self.target.schema.project(self.columns))
        return own if self.is_merged else pa.schema([*own, *RECORD_COLUMNS])

    def to_arrow(self) -> pa.Table:
        """All rows; those of a sorted view up to its maximum number.

        Raises:
            PaimonError: a file cannot be read.
        """
        tables = [self._table(page) for page in self._pages(None)]
        return pa.concat_tables([self.schema.empty_table(), *tables])

    def figures(self) -> dict[str, object]:
        """The first rows as texts, and the number of rows, as JSON."""
        rows, problem = self._first_rows()
        fields = self.target.schema.project(self.columns).fields
        names = [one.name for one in fields]
        texts = zip(*table_texts(rows, fields), strict=True)
        return {
            "rows": [dict(zip(names, row, strict=True)) for row in texts],
            "max_rows": self.max_rows,
            "exact": self.is_exact,
            "merged": self.is_merged,
            "problem": None if problem is None else problem_of(problem).state(),
        }

    def to_report(self) -> Report:
        """The number of rows, and the first ones."""
        return Report(title=f"{self.name}: {self.scope.text}", sections=tuple(self._sections()))

    def _first_rows(self) -> tuple[pa.Table, PaimonError | None]:
        found = [self.schema.empty_table()]
        try:
            for page in self._pages(_SHOWN_ROWS):
                found.append(self._table(page))  # noqa: PERF401 - rows before an error are kept
        except PaimonError as error:
            return pa.concat_tables(found), error
        return pa.concat_tables(found).slice(0, _SHOWN_ROWS), None

    def _sections(self) -> Iterator[Section]:
        what = "rows" if self.is_merged else "stored records"
        exact = "" if self.is_exact else "at most "
        yield facts(
            (what, f"{exact}{self.max_rows:,}"),
            ("files", bytes_text(self.bytes)),
            ("merge engine", self._engine),
            ("order", None if self.order is None else self.order.text),
        )
        if self.target.snapshot is None and not self.units:
            yield Note(text="The table has no snapshot yet.")
            return
        rows, problem = self._first_rows()
        if problem is not None:
            yield Failed(problem=problem_of(problem))
        if not rows.num_rows:
            yield Note(text="No rows.")
            return
        heads, cells = self._grid(rows)
        hidden = len(self.columns) - _SHOWN_COLUMNS
        if hidden > 0:
            yield Note(text=f"{plural(hidden, 'more column')}: name them in columns=[…].")
        complete = len(cells) < _SHOWN_ROWS and problem is None
        yield grid("First rows", heads, cells, total=len(cells) if complete else self.max_rows)

    @property
    def _engine(self) -> str | None:
        if not self.target.schema.primary_keys:
            return None
        return str(self.target.options.value(MERGE_ENGINE).value)

    def _grid(self, rows: pa.Table) -> tuple[list[str], list[list[Entry]]]:
        names = self.columns[:_SHOWN_COLUMNS]
        fields = self.target.schema.project(names).fields
        texts = table_texts(rows, fields)
        cells: list[list[Entry]] = [
            [Cell(text="null", tone=Tone.MUTED) if t is None else truncate(t, 60) for t in row]
            for row in zip(*texts, strict=True)
        ]
        if self.is_merged:
            return list(names), cells
        reasons = rows.column("_REASON").to_pylist()
        extra = [rows.column(name).to_pylist() for name in ("_SEQUENCE_NUMBER", "_VALUE_KIND")]
        for at, row in enumerate(cells):
            reason = str(reasons[at] or "returned by reads")
            row[:0] = [reason, *("" if c[at] is None else str(c[at]) for c in extra)]
        return ["status", "sequence#", "row kind", *names], cells

    def _pages(self, rows: int | None) -> Iterator[RowPage]:
        """Pages from the start, up to about so many rows; None for all."""
        found = 0
        units = range(min(len(self.units), 1) if self.order is not None else len(self.units))
        for unit in units:
            offset = 0
            while rows is None or found < rows:
                count = _CHUNK if rows is None else min(rows - found, _CHUNK)
                page = self.page(unit, offset, count)
                if page.rows.num_rows:
                    yield page
                offset += page.rows.num_rows
                found += page.rows.num_rows
                if page.end is not None and offset >= page.end:
                    break

    def _table(self, page: RowPage) -> pa.Table:
        """The rows of a page with the columns of `schema`."""
        if page.records is None:
            return pa.Table.from_arrays(page.rows.columns, schema=self.schema)
        described = pa.Table.from_pylist(
            [dict(zip(RECORD_COLUMNS.names, one, strict=True)) for one in page.records],
            schema=RECORD_COLUMNS,
        )
        return pa.Table.from_arrays([*page.rows.columns, *described.columns], schema=self.schema)

    def _unit_reader(self) -> UnitReader:
        if self._opened.units is None:
            self._opened.units = UnitReader(self.target, self.rest, self.units)
        return self._opened.units

    def _record_reader(self) -> RecordReader:
        if self._opened.records is None:
            assert self.live is not None  # noqa: S101 - of a view of records
            self._opened.records = RecordReader(self._unit_reader(), self.live)
        return self._opened.records

    def sorter(self) -> RowSorter:
        """The sort of the view, which keeps what it has found.

        Raises:
            InvalidInputError: the view is not sorted.
        """
        order = self.order
        if order is None:
            raise InvalidInputError("The view is not sorted.")
        if self._opened.sorter is None:
            names = self.columns if order.column in self.columns else (*self.columns, order.column)
            (sorted_by,) = self.target.schema.project([order.column]).fields
            reader = self._unit_reader()
            self._opened.sorter = RowSorter(
                field=sorted_by,
                order=order,
                units=self.units,
                bounds=unit_bounds(self.target, self.units, order),
                read=lambda unit, more: reader.read(unit, names, more),
                schema=arrow_schema(self.target.schema.project(names)),
            )
        return self._opened.sorter


def unit_bounds(target: ScanTarget, units: Sequence[RowUnit], order: RowOrder) -> list[object]:
    """The best value of each unit; None if it is unknown.

    A merge that computes values may give values outside of the bounds of its files.
    """
    (wanted,) = target.schema.project([order.column]).fields
    nothing: list[object] = [None] * len(units)
    if not isinstance(wanted.type, AtomicType) or wanted.type.root not in RANGED_TYPES:
        return nothing
    if target.options.value(DATA_EVOLUTION_ENABLED) or len(branches_read(target)) > 1:
        return nothing
    if target.snapshot is None:
        return nothing
    partitions = PartitionFilter(row_type=target.schema.partition_type)
    entries = live_files(target.store, target.snapshot, partitions)
    stats = value_stats(entries, target.store.schemas.load, [wanted]).columns.get(order.column)
    if stats is None:
        return nothing
    side = stats.maximum if order.descending else stats.minimum
    names = entries.table.column("file_name").to_pylist()
    known = dict(zip(names, as_python(side), strict=True))
    exact = order.column in target.schema.primary_keys or (
        target.options.value(MERGE_ENGINE) in _SELECTING
    )
    return [_bound(unit, known, order, is_exact=exact) for unit in units]


def _bound(
    unit: RowUnit, known: Mapping[object, object], order: RowOrder, *, is_exact: bool
) -> object:
    split = unit.split
    if not isinstance(split, DataSplit) or not (split.raw_convertible or is_exact):
        return None
    names = split.source.entries.table.column("file_name")
    files = range(split.count) if unit.files is None else unit.files
    values = [known.get(names[split.start + at].as_py()) for at in files]
    best = max if order.descending else min
    return None if None in values else best(values)  # type: ignore[type-var]  # of one column
