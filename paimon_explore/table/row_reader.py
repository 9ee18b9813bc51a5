"""Read-only rows that are computed on request: system tables, changes between snapshots."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

import pyarrow as pa

from paimon_explore.arguments import optional_integer, optional_names
from paimon_explore.data_types import data_frames
from paimon_explore.data_types.arrow import arrow_field, row_type_from_arrow
from paimon_explore.data_types.definitions import RowType
from paimon_explore.errors import choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.sanitize import sanitized
from paimon_explore.scan.requested_columns import Selection, project, projected_columns
from paimon_explore.table.operations import report_types as types


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowSource:
    """Rows computed from a table's files; read-only.

    Attributes:
        name: what the rows are, such as `database.table$files`.
        schema: the columns.
        load: computes the rows, again at each call.
        read_selected: computes at least the selected rows and columns; None if only all can be.
    """

    name: str
    schema: pa.Schema
    load: Callable[[], pa.RecordBatchReader]
    read_selected: Callable[[Selection], pa.RecordBatchReader] | None = None
    _row_type: RowType | None = None

    @property
    def row_type(self) -> RowType:
        """The columns in Paimon types."""
        return self._row_type or row_type_from_arrow(self.schema)

    def scan(
        self,
        columns: str | Iterable[str] | None = None,
        where: "types.Where | None" = None,
        limit: int | None = None,
    ) -> "RowSource":
        """Return some of the rows; system tables read only the files that these need.

        Args:
            columns: names of the columns, in order; None for all.
            where: a filter, as SQL text or `pe.col("a") > 3`; None for all rows.
            limit: maximum number of rows; None for all.

        Raises:
            InvalidInputError: an unknown column, or a condition that cannot be parsed.

        >>> import paimon_explore as pe
        >>> rows = pe.demo().table("demo.orders").inspect.system_table("snapshots")
        >>> rows.scan(["snapshot_id", "commit_kind"], "snapshot_id > 4").to_arrow().to_pylist()
        [{'snapshot_id': 5, 'commit_kind': 'APPEND'}]
        """
        optional_integer("limit", limit, minimum=0)
        given = optional_names("columns", columns)
        row_type = self.row_type
        found = row_type if given is None else project(given, row_type)
        whole = row_type if given is None else project(found.names, row_type)
        names = None if given is None else found.names
        selection = Selection(row_type=row_type, columns=names, limit=limit)
        if where is not None:
            from paimon_explore.scan.predicate.binder import bind
            from paimon_explore.scan.predicate.sql_parser import predicate

            selection = replace(selection, where=bind(predicate(where), row_type))

        fields = [
            self.schema.field(one.name) if one == before else arrow_field(one)
            for one, before in zip(found, whole, strict=True)
        ]
        schema = pa.schema(fields)

        load = partial(_selected, self, selection, (whole, found), schema)
        return RowSource(name=self.name, schema=schema, load=load)

    def to_batches(self) -> pa.RecordBatchReader:
        """Read all rows as a stream of record batches.

        >>> import paimon_explore as pe
        >>> rows = pe.demo().table("demo.orders").inspect.system_table("files")
        >>> sum(batch.num_rows for batch in rows.to_batches())
        15
        """
        return self.load()

    def to_arrow(self) -> pa.Table:
        """Read all rows into an Arrow table.

        >>> import paimon_explore as pe
        >>> pe.demo().table("demo.orders").inspect.system_table("snapshots").to_arrow().num_rows
        5
        """
        return self.load().read_all()

    def to_pandas(self) -> "data_frames.DataFrame":
        """Read all rows into a pandas DataFrame.

        >>> import paimon_explore as pe
        >>> len(pe.demo().table("demo.orders").inspect.system_table("snapshots").to_pandas())
        5
        """
        return data_frames.frame_of(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """All rows through Arrow's C stream interface."""
        return self.load().__arrow_c_stream__(requested_schema)  # type: ignore[no-untyped-call]  # in stubs

    def __repr__(self) -> str:
        """Return name and columns."""
        return sanitized(f"rows of {self.name}; columns {choices(self.schema.names, limit=8)}")


def _selected(
    source: RowSource, selection: Selection, types: tuple[RowType, RowType], schema: pa.Schema
) -> pa.RecordBatchReader:
    """Read the selected rows; `types` are those of the selection before and after projection."""
    read = source.read_selected
    needed = selection
    if selection.columns == ():  # a column tells how many rows there are
        needed = replace(selection, columns=tuple(source.schema.names[:1]))
    batches = selection.batches(source.load() if read is None else read(needed))
    whole, found = types
    if found != whole:
        parts = (projected_columns(batch.columns, whole, found) for batch in batches)
        batches = (pa.RecordBatch.from_arrays(part, schema=schema) for part in parts)
    return pa.RecordBatchReader.from_batches(schema, batches)
