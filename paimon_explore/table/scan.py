"""`Scan`: a read of a table, to plan, explain and run."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import field, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_explore.arguments import (
    integer,
    names,
    optional_integer,
    optional_names,
)
from paimon_explore.data_types.arrow import arrow_schema
from paimon_explore.data_types.definitions import RowType
from paimon_explore.encoding.positional_batches import first_rows
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.merge.first_rows import FirstBound, FirstRows
from paimon_explore.metadata.options.table_options import (
    SCAN_IGNORE_CORRUPT_FILES,
    SCAN_IGNORE_LOST_FILES,
)
from paimon_explore.read.parallel import read_splits
from paimon_explore.read.small_files import groups, read_group
from paimon_explore.read.split_reader import BATCH_ROWS, SplitReader
from paimon_explore.sanitize import sanitized
from paimon_explore.scan.branch_scan import plan_table
from paimon_explore.scan.plan import ScanPlan, ScanTarget
from paimon_explore.scan.predicate.expression import TRUE, Expression
from paimon_explore.scan.requested_columns import project, projected_columns
from paimon_explore.scan.splits.data_split import Split, merged_row_count
from paimon_explore.store.expired import explain_missing_files
from paimon_explore.table import lazy_types as types
from paimon_explore.table.engine_scans.scan_conversions import ConvertibleScan
from paimon_explore.table.progress import progress

if TYPE_CHECKING:
    from paimon_explore.read.row_rules import AuthorizedQuery, RowRules

_IGNORING = (SCAN_IGNORE_LOST_FILES, SCAN_IGNORE_CORRUPT_FILES)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Scan(ConvertibleScan):
    """A read of one snapshot, described by columns, a filter and a limit.

    `Table.scan` creates it; `select`, `filter` and `limit` return a scan with one more restriction.
    Nothing is read before `plan`, `explain`, `count` or one of the `to_…` methods is called. The
    snapshot is fixed when the scan is created, so plan and rows agree.

    >>> import paimon_explore as pe
    >>> scan = pe.demo().table("demo.orders").scan()
    >>> scan.filter("id > 400").select("id", "amount").limit(2).to_arrow().num_rows
    2

    Attributes:
        target: the table, its schema and the snapshot.
        columns: names of the columns in result order.
        where: the filter, bound to the table's columns; TRUE keeps all rows.
        row_limit: maximum number of rows; None for all.
        increment: read what changed between two points instead of the snapshot's rows.
        narrowed: the columns' types where fields of ROW columns were selected; else None.
        is_authorized: whether the rules of the table's catalog about reading it are applied.
        variant_paths: the paths at which VARIANT columns are needed, by name: what is at other
            paths may be missing from their values. Other columns are needed as a whole.
        top_rows: rows that cannot be among the first ones of this order may be left out.
        plans: plans by filter, which scans derived from this one reuse; None to plan each time.
    """

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Raise an error that names the place of what the scan can do."""
            from paimon_explore.table.other_names import missing

            raise missing(self, name, "scan")

    target: ScanTarget
    columns: tuple[str, ...]
    where: Expression = TRUE
    row_limit: int | None = None
    increment: "types.Increment | None" = None
    narrowed: RowType | None = None
    is_authorized: bool = False
    variant_paths: "Mapping[str, tuple[types.VariantPath, ...]]" = field(default_factory=dict)
    top_rows: FirstRows | None = None
    plans: dict[Expression, ScanPlan] | None = field(default=None, compare=False, repr=False)

    def select(self, *columns: str | Iterable[str]) -> "Scan":
        """Return a scan of some of the columns.

        Names match exactly, or without regard to case if only one column does. `"r.x"` selects a
        field of a ROW column: as in pyarrow and pyiceberg the result has the column `r`, a struct
        of only the selected fields.

        Args:
            columns: names, or lists of names, in result order.

        Raises:
            InvalidInputError: no argument, an unknown column, or one that is selected twice.

        >>> import paimon_explore as pe
        >>> scan = pe.demo().table("demo.types").scan().select("S", "row.x")
        >>> scan.to_arrow().to_pylist()[0]
        {'s': 'Zürich 大阪', 'row': {'x': 1}}
        """
        if not columns:
            hint = "Omit select() to read all columns."
            raise InvalidInputError("select() needs at least one column.", hint=hint)
        wanted = tuple(name for given in columns for name in names("columns", given))
        found = project(wanted, self.row_type)
        whole = self.target.schema.row_type
        is_whole = all(field == whole.field(field.name) for field in found)
        return replace(self, columns=found.names, narrowed=None if is_whole else found)

    def filter(self, where: "types.Where") -> "Scan":
        """Return a scan of the rows that also match a condition.

        Args:
            where: SQL text such as `"dt = '2026-01-01' AND a > 3"`, or `pe.col("a") > 3`; it may
                name columns that are not selected.

        Raises:
            InvalidInputError: a condition that cannot be parsed, or an unknown column.

        >>> import paimon_explore as pe
        >>> scan = pe.demo().table("demo.orders").scan()
        >>> scan.filter("id > 400").filter(pe.col("city") == "Oslo").count()
        1
        """
        from paimon_explore.scan.predicate.binder import bind
        from paimon_explore.scan.predicate.expression import conjunction
        from paimon_explore.scan.predicate.sql_parser import predicate

        bound = bind(predicate(where), self.target.schema.row_type)
        both = bound if self.where == TRUE else conjunction([self.where, bound])
        return replace(self, where=both)

    def limit(self, rows: int) -> "Scan":
        """Return a scan of at most so many rows.

        Args:
            rows: maximum number of rows, 0 or more.

        Raises:
            InvalidInputError: a negative number, or not an integer.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").scan().limit(3).count()
        3
        """
        limit = integer("limit", rows, minimum=0)
        known = self.row_limit
        return replace(self, row_limit=limit if known is None else min(known, limit))

    @property
    def row_type(self) -> RowType:
        """The result's columns in Paimon types."""
        return self.narrowed or self.target.schema.project(self.columns)

    @property
    def schema(self) -> pa.Schema:
        """The result's Arrow schema."""
        return arrow_schema(self.row_type)

    def __repr__(self) -> str:
        """Table, snapshot, columns, filter and limit."""
        from paimon_explore.scan.predicate.sql_formatter import to_sql
        from paimon_explore.table.latest_schema import table_name

        paths, snapshot = self.target.store.paths, self.target.snapshot
        at = "no snapshot" if snapshot is None else f"snapshot {snapshot.id}"
        parts = [f"Scan of {table_name(paths.root, paths.branch)}, {at}"]
        parts.append(f"  columns: {choices(self.columns, limit=8)}")
        parts += [] if self.where == TRUE else [f"  where: {to_sql(self.where)}"]
        parts += [] if self.row_limit is None else [f"  limit: {self.row_limit}"]
        return "\n".join(sanitized(part) for part in parts)

    def plan(self) -> ScanPlan:
        """Return the splits to read, and how many manifests and files each pruning stage kept.

        Raises:
            InvalidInputError: the scan reads the changes between two points.
            SnapshotExpiredError: the snapshot expired meanwhile.

        >>> import paimon_explore as pe
        >>> plan = pe.demo().table("demo.orders").scan(where="dt = '2026-01-01'").plan()
        >>> sum(len(split.files) for split in plan.splits)
        5
        """
        self._check_planned()
        if self.plans is None:
            return self._new_plan()
        if self.where not in self.plans:
            self.plans[self.where] = self._new_plan()
        return self.plans[self.where]

    def _check_planned(self) -> None:
        if self.increment is not None:
            raise InvalidInputError(
                "An incremental scan has no single plan, because it plans each commit separately."
            )

    def _new_plan(self) -> ScanPlan:
        with explain_missing_files(self.target.store, self.target.snapshot):
            plan = plan_table(self.target.for_read(), self.where)
        if not any(map(self.target.options.value, _IGNORING)):
            return plan
        from paimon_explore.read.skip_unreadable_files import readable_splits

        return replace(plan, splits=readable_splits(plan.splits, self._reader(plan, self.columns)))

    def explain(self) -> "types.ScanExplanation":
        """Explain the scan: what each pruning stage kept, and why each file is read or skipped.

        Raises:
            InvalidInputError: the scan reads the changes between two points.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").scan(where="id > 400").explain().columns
        ('id', 'city', 'amount', 'dt')
        """
        from paimon_explore.inspection.explain.scan_explanation import ExplainRequest, explain_scan

        self._check_planned()
        request = ExplainRequest(where=self.where, columns=self.columns, limit=self.row_limit)
        name = self.target.store.paths.root.rpartition("/")[2]
        return explain_scan(self.target.for_read(), request, name)

    def to_batches(self) -> pa.RecordBatchReader:
        """Read the rows as a stream of record batches, one split at a time, in bounded memory.

        Raises:
            SnapshotExpiredError: the snapshot expired meanwhile; raised here or while rows are
                read.

        >>> import paimon_explore as pe
        >>> reader = pe.demo().table("demo.orders").scan(where="id > 400").to_batches()
        >>> sum(batch.num_rows for batch in reader)
        5
        """
        return self._stream(self._batches())

    def to_arrow(self) -> pa.Table:
        """Read the rows into an Arrow table, several splits at a time.

        `pyarrow.set_cpu_count` sets the number of threads, `pyarrow.set_io_thread_count` that for
        files that are not local; the storage option `max_requests` how many requests are sent to
        a store at the same time.

        Raises:
            SnapshotExpiredError: the snapshot expired meanwhile.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").scan(["id"], "id < 2").to_arrow()["id"].to_pylist()
        [0, 1]
        """
        return self._all_rows().read_all()

    def count(self) -> int:
        """Return the number of rows.

        Files whose stored rows are the table's rows are counted by their manifest entries; of
        others only the columns that the merge and the filter need are read.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").scan(where="city = 'Oslo'").count()
        9
        """
        if self.increment is not None:
            return self.to_arrow().num_rows
        rules = self._rules()
        if rules is not None:
            rows = self._authorized_count(rules)
            return rows if self.row_limit is None else min(rows, self.row_limit)
        plan = self.plan()
        rows, rest = known_rows(plan)
        reader = self._reader(plan, ())
        rows += sum(batch.num_rows for batch in self._read(reader, rest, "counting"))
        return rows if self.row_limit is None else min(rows, self.row_limit)

    def parts(self) -> "tuple[types.ScanPart, ...]":
        """Return parts of the rows that other processes can read, each independently of the others.

        A part can be pickled. It is a split of the plan; or the whole scan, if it has a limit, if
        it reads the changes between two points, or if a catalog restricts its rows.

        Raises:
            SnapshotExpiredError: the snapshot expired meanwhile.

        >>> import paimon_explore as pe
        >>> parts = pe.demo().table("demo.orders").scan(["id"]).parts()
        >>> [part.row_count for part in parts]
        [10, 10, 10]
        """
        from paimon_explore.table.engine_scans.scan_part import SplitRows, split_part, whole_part

        if self.increment is not None or self._rules() is not None:
            return (whole_part(self, self.target.store.paths.root),)
        plan, schema = self.plan(), self.schema
        source = SplitRows(
            reader=self._reader(plan, self.columns),
            snapshot=self.target.snapshot,
            narrowed=self.narrowed,
        )
        parts = tuple(split_part(source, split, schema) for split in plan.splits)
        if self.row_limit is None:
            return parts
        counts = [part.row_count for part in parts]
        known = sum(count for count in counts if count is not None)
        return (
            parts
            if None not in counts and known <= self.row_limit
            else (whole_part(self, self.target.store.paths.root),)
        )

    def _batches(self) -> Iterator[pa.RecordBatch]:
        if self.increment is not None:
            from paimon_explore.table.row_changes import ChangeReader, without_retracts

            changes = ChangeReader(
                target=self.target, columns=self.columns, narrowed=self.narrowed, where=self.where
            )
            rows = without_retracts(changes.between(self.increment))
            return first_rows(iter(rows.to_batches()), self.row_limit)
        rules = self._rules()
        if rules is not None:
            return first_rows(self._authorized(rules), self.row_limit)
        plan = self.plan()
        reader = self._reader(plan, self.columns)
        alone = ([split] for split in plan.splits)  # a limit may need the first one only
        parts = [*(groups(reader, plan.splits) if self.row_limit is None else alone)]
        found = progress(parts, "reading")
        batches = (batch for part in found for batch in read_group(reader, part))
        return first_rows(self._whole(batches), self.row_limit)

    def _all_rows(self) -> pa.RecordBatchReader:
        at_once = self.row_limit is None and self.increment is None
        return self._stream(self._at_once() if at_once else self._batches())

    def _stream(self, batches: Iterator[pa.RecordBatch]) -> pa.RecordBatchReader:
        schema = self.schema
        return pa.RecordBatchReader.from_batches(schema, (self._named(b, schema) for b in batches))

    def _named(self, batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
        """The batch in the result's schema."""
        if batch.schema.equals(schema, check_metadata=True):
            return batch
        columns = batch.columns
        if not columns:
            return batch  # a new one would have no rows
        if self.narrowed is not None:
            whole = self.target.schema.project(self.columns)
            columns = projected_columns(columns, whole, self.narrowed)
        return pa.RecordBatch.from_arrays(columns, schema=schema)

    def _rules(self) -> "RowRules | None":
        """The rules of the catalog about reading the table, unless they are applied."""
        if self.is_authorized or self.target.store.environment is None:
            return None
        from paimon_explore.read.row_rules import rules_of

        return rules_of(self.target, self.columns, self.where)

    def _authorized(self, rules: "RowRules") -> Iterator[pa.RecordBatch]:
        """The rows that the rules allow, with masked values, without regard to the limit."""
        return self._query(rules).batches(self._stored_rows)

    def _authorized_count(self, rules: "RowRules") -> int:
        query = self._query(rules)
        if not query.filters_masked:
            return self._stored((), query.stored_where).count()
        return sum(batch.num_rows for batch in query.batches(self._stored_rows))

    def _query(self, rules: "RowRules") -> "AuthorizedQuery":
        from paimon_explore.read.row_rules import AuthorizedQuery

        row_type = self.target.schema.row_type
        return AuthorizedQuery(
            row_type=row_type, columns=self.columns, where=self.where, rules=rules
        )

    def _stored_rows(self, columns: tuple[str, ...], where: Expression) -> pa.RecordBatchReader:
        return self._stored(columns, where).to_batches()

    def _stored(self, columns: tuple[str, ...], where: Expression) -> "Scan":
        return Scan(target=self.target, columns=columns, where=where, is_authorized=True)

    def _at_once(self) -> Iterator[pa.RecordBatch]:
        rules = self._rules()
        if rules is not None:
            return self._authorized(rules)
        plan = self.plan()
        return self._read(self._reader(plan, self.columns), plan.splits, "reading")

    def _read(
        self, reader: SplitReader, splits: Sequence[Split], what: str
    ) -> Iterator[pa.RecordBatch]:
        """All rows of splits, several splits at a time."""
        with (
            explain_missing_files(self.target.store, self.target.snapshot),
            closing(read_splits(reader, splits)) as found,
        ):
            for _, batches in zip(progress(splits, what), found, strict=True):
                yield from batches

    def _reader(self, plan: ScanPlan, columns: tuple[str, ...]) -> SplitReader:
        target = self.target
        return SplitReader(
            target=target,
            columns=columns,
            predicate=plan.rest,
            batch_rows=self._batch_rows(plan),
            unrestricted=True,  # `_rules` were applied
            variant_paths=self.variant_paths,
            first=None if self.top_rows is None else FirstBound(self.top_rows),
        )

    def _batch_rows(self, plan: ScanPlan) -> int:
        """Maximum number of rows of a batch: the limit, if no row is filtered out."""
        if self.row_limit is None or plan.rest != TRUE:
            return BATCH_ROWS
        return min(BATCH_ROWS, max(self.row_limit, 1))

    def _whole(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The batches, or an error that says that the snapshot expired."""
        with explain_missing_files(self.target.store, self.target.snapshot):
            yield from batches


def known_rows(plan: ScanPlan) -> tuple[int, Sequence[Split]]:
    """Return how many rows are known from manifests, and the splits whose rows are not."""
    counts = [merged_row_count(one) if plan.rest == TRUE else None for one in plan.splits]
    rest = [split for split, rows in zip(plan.splits, counts, strict=True) if rows is None]
    return sum(rows for rows in counts if rows is not None), rest


def read_within(scan: Scan, size: int) -> pa.Table | None:
    """Read the rows of a scan like `to_arrow`; None if they take more bytes than `size`."""
    rows = scan._all_rows()  # noqa: SLF001 - of this module
    found: list[pa.RecordBatch] = []
    for batch in rows:
        size -= batch.nbytes
        if size < 0:
            return None
        found.append(batch)
    return pa.Table.from_batches(found, rows.schema)


def make_scan(
    target: ScanTarget,
    columns: Iterable[str] | None,
    where: "types.Where | None",
    limit: int | None,
) -> Scan:
    """A scan of a target; see `Table.scan` for the arguments."""
    wanted = optional_names("columns", columns)
    limit = optional_integer("limit", limit, minimum=0)
    scan = Scan(target=target, columns=target.schema.row_type.names, row_limit=limit)
    scan = scan if wanted is None else scan.select(wanted)
    return scan if where is None else scan.filter(where)
