"""How the rows of one key become one row, and which columns that takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from paimon_explore.metadata.schema import TableSchema
from paimon_explore.types.data_types import RowType

SEQUENCE_NUMBER = "_SEQUENCE_NUMBER"
"""Column of int64: the place of a record in the order of writing, unique in its bucket."""
VALUE_KIND = "_VALUE_KIND"
"""Column of int8: what a record does, a `RowKind`."""


class MergeEngine(StrEnum):
    """What becomes of several records of one key; option `merge-engine`."""

    DEDUPLICATE = "deduplicate"
    FIRST_ROW = "first-row"
    PARTIAL_UPDATE = "partial-update"
    AGGREGATION = "aggregation"


class NullKeyStrategy(StrEnum):
    """What nested functions do with elements whose nested key has a null."""

    MERGE = "merge"
    IGNORE = "ignore"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class AggregateFunction:
    """The function of one column and its options, by the options' names in Paimon.

    Attributes:
        name: as in `fields.<column>.aggregate-function`.
        ignore_retract: -U and -D records leave the column as it is.
        distinct: of `collect` and `listagg`.
        list_agg_delimiter: of `listagg`.
        nested_key: of `nested_update` and `nested_partial_update`; empty: elements have no key.
        nested_key_null_strategy: of the same two.
        nested_sequence_field: of `nested_update`: the greatest wins, not the last.
        count_limit: of `nested_update`: new elements beyond it are dropped.
        ts_field: of `merge_map_with_keytime`: None is the last field of the value.
    """

    name: str
    ignore_retract: bool = False
    distinct: bool = False
    list_agg_delimiter: str = ","
    nested_key: tuple[str, ...] = ()
    nested_key_null_strategy: NullKeyStrategy = NullKeyStrategy.MERGE
    nested_sequence_field: tuple[str, ...] = ()
    count_limit: int = 2**31 - 1
    ts_field: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceGroup:
    """Columns of a partial-update table that are updated together, by an order of their own.

    Attributes:
        ordering: the columns compared, in order, ascending, null smallest.
        columns: the columns governed, without the ordering ones.
        removes: a -D record that is not older, of this group, removes the row.
    """

    ordering: tuple[str, ...]
    columns: tuple[str, ...]
    removes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeSpec:
    """Everything a merge has to know about a table and a request.

    Attributes:
        engine: the merge engine.
        keys: the trimmed primary key: rows that are equal in these columns are merged.
        row_type: all columns of the table.
        columns: the wanted columns, in the order of the result.
        sequence_fields: columns of `sequence.field`: compared before the sequence number.
        sequence_descending: the record with the smallest `sequence_fields` wins.
        ignore_delete: retract records found in files are passed over.
        remove_on_delete: a -D record removes the row (partial-update, aggregation).
        sequence_groups: of partial-update.
        functions: aggregate function per column that has one; for aggregation every column but
            those of the key has one.
    """

    engine: MergeEngine
    keys: tuple[str, ...]
    row_type: RowType
    columns: tuple[str, ...]
    sequence_fields: tuple[str, ...] = ()
    sequence_descending: bool = False
    ignore_delete: bool = False
    remove_on_delete: bool = False
    sequence_groups: tuple[SequenceGroup, ...] = ()
    functions: tuple[tuple[str, AggregateFunction], ...] = ()


def merge_spec(schema: TableSchema, columns: Sequence[str] | None = None) -> MergeSpec:
    """The merge of a table by its schema and options.

    Args:
        schema: of a table with a primary key, with the options in force (dynamic ones included).
        columns: the wanted columns in result order; None: all, in schema order.

    Raises:
        InvalidInputError: an unknown column is wanted, or the options contradict each other.
        UnsupportedFeatureError: an unknown merge engine or aggregate function.
    """
    raise NotImplementedError((schema, columns))


def needed_columns(spec: MergeSpec) -> tuple[str, ...]:
    """The value columns that every run must carry, in schema order.

    These are the wanted ones, the key, the sequence fields, and for wanted columns of a sequence
    group the ordering columns of that group. Groups that can remove rows are always needed.
    """
    raise NotImplementedError(spec)
