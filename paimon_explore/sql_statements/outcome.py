"""Results of statements, which every engine converts to its own: answers, and rows of queries."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

import pyarrow as pa

from paimon_explore.data_types.definitions import DataField, DataType, RowType
from paimon_explore.errors import UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.snapshot import Snapshot
from paimon_explore.table.table import Table

if TYPE_CHECKING:
    from paimon_explore.write.write_target import WriteTarget


_TYPES: Mapping[str, pa.DataType] = {
    "string": pa.string(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "boolean": pa.bool_(),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The small result of a command.

    Attributes:
        columns: names and types: string, int, bigint or boolean, as `name string, count bigint`.
        rows: the values.
        snapshot: the snapshot that the statement committed.
    """

    columns: str
    rows: Sequence[Sequence[object]]
    snapshot: Snapshot | None = None

    def to_arrow(self) -> pa.Table:
        """Return the rows."""
        pairs = [column.split() for column in self.columns.split(", ") if column]
        schema = pa.schema([(name, _TYPES[kind]) for name, kind in pairs])
        arrays = [
            pa.array([row[at] for row in self.rows], field.type) for at, field in enumerate(schema)
        ]
        return pa.Table.from_arrays(arrays, schema=schema)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryField:
    """A column of a query.

    Attributes:
        name: its name.
        type: its type; None if Paimon has no such type.
        shown: its type in the words of the engine, for errors.
        comment: its comment.
    """

    name: str
    type: DataType | None
    shown: str
    comment: str | None = None


class QueryRows(Protocol):
    """The rows of a query, which an engine computes when they are used."""

    @property
    def fields(self) -> tuple[QueryField, ...]:
        """The columns."""

    def renamed(self, names: Sequence[str]) -> "QueryRows":
        """Return the rows with other names of the columns."""

    def assigned(
        self, fields: Sequence[DataField], constants: Sequence[tuple[DataField, object]] = ()
    ) -> "QueryRows":
        """Convert columns by position to the names and types of table columns.

        Args:
            fields: the table's columns, in the order of the query's.
            constants: more columns of one value each.

        Raises:
            InvalidInputError: the number of columns differs, or a type cannot be assigned.
        """

    def insert_into(self, table: Table) -> Snapshot | None:
        """Append or upsert the rows, in one commit; None if there are none."""

    def overwrite(self, table: Table, partition: object) -> Snapshot | None:
        """Replace rows of a table by these rows, in one commit.

        Args:
            table: the table.
            partition: values of partition columns, or `NOT_GIVEN` if the new rows or the options
                of the table decide what is replaced.
        """

    def replace_table(self, target: "WriteTarget") -> Snapshot | None:
        """Replace the schema and all rows of a table, in one commit."""


Outcome: TypeAlias = Answer | QueryRows
"""The result of a statement."""


def answer(columns: str, rows: Sequence[Sequence[object]]) -> Answer:
    """Return the result of a command."""
    return Answer(columns=columns, rows=rows)


def done() -> Answer:
    """Return an empty result."""
    return Answer(columns="", rows=())


def committed(snapshot: Snapshot | None) -> Answer:
    """Return the id of the snapshot of a change; null if nothing changed."""
    row = (None if snapshot is None else snapshot.id,)
    return Answer(columns="snapshot_id bigint", rows=[row], snapshot=snapshot)


def row_type_of(fields: Sequence[QueryField], what: str) -> RowType:
    """Return the columns of a query as columns of a table.

    Args:
        fields: the columns.
        what: what would have the columns, for the error.

    Raises:
        UnsupportedFeatureError: Paimon has no type for a column.
    """
    found = []
    for at, field in enumerate(fields):
        if field.type is None:
            raise UnsupportedFeatureError(
                f"{what} with column {field.name!r} of type {field.shown}",
                hint="Cast the column to another type in the query.",
            )
        found.append(DataField(id=at, name=field.name, type=field.type, description=field.comment))
    return RowType(fields=tuple(found))
