"""Applies the rules of a catalog to the rows of a scan: row filters and column masks.

The result is that of reading a view: only rows that fulfil the filters, with masked values. The
condition of the user sees masked values, too, so that it cannot find out what they hide.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

import pyarrow as pa

from paimon_explore.data_types.arrow import to_arrow
from paimon_explore.data_types.definitions import TEXTS, AtomicType, DataType, RowType
from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.scan.plan import ScanTarget
from paimon_explore.scan.predicate.binder import bind, bind_value
from paimon_explore.scan.predicate.evaluator import evaluate, value_of
from paimon_explore.scan.predicate.expression import (
    TRUE,
    Expression,
    Literal,
    conjunction,
    names_of,
)
from paimon_explore.scan.predicate.json_rules import parse_condition, parse_value
from paimon_explore.store.query_authorization import QueryRules, query_authorization

Read = Callable[[tuple[str, ...], Expression], Iterable[pa.RecordBatch]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowRules:
    """The rules of a query, bound to the table's columns.

    Attributes:
        where: the condition that rows must fulfil.
        masks: the value of a column instead of the stored one, by its name.
    """

    where: Expression
    masks: Mapping[str, Expression]


def rules_of(target: ScanTarget, columns: tuple[str, ...], where: Expression) -> RowRules | None:
    """Ask the catalog for the rules of a query; None if all rows and values may be read.

    Args:
        target: the table.
        columns: the columns to read.
        where: the condition of the user.

    Raises:
        AccessDeniedError: the catalog refuses the query.
        UnsupportedFeatureError: a rule cannot be applied; nothing is read.
    """
    store, row_type = target.store, target.schema.row_type
    catalog = query_authorization(store.environment, target.schema.options, target.options)
    if catalog is None:
        return None
    read = names_of(where) - set(columns)
    names = [*columns, *(name for name in row_type.names if name in read)]
    found = catalog.authorize_query(target.branch, names)
    return None if found.is_empty else _bound(found, row_type)


def _bound(rules: QueryRules, row_type: RowType) -> RowRules:
    try:
        conditions = [bind(parse_condition(text, row_type), row_type) for text in rules.filters]
    except InvalidInputError as error:
        raise _refusal("filter") from error
    where = conjunction(conditions) if conditions else TRUE
    masks = {name: _mask(name, text, row_type) for name, text in rules.masks.items()}
    return RowRules(where=where, masks=masks)


def _mask(name: str, text: str, row_type: RowType) -> Expression:
    field = row_type.field(name)
    if field is None:
        raise _refusal(f"mask of column {name!r}, which the table does not have,")
    try:
        bound, kind = bind_value(parse_value(text, row_type), row_type)
    except InvalidInputError as error:
        raise _refusal(f"mask of column {name!r}") from error
    if not _is_null(bound) and not _same_kind(kind, field.type):
        raise _refusal(f"mask of column {name!r}, whose type is different,")
    return bound


def _is_null(expr: Expression) -> bool:
    return isinstance(expr, Literal) and expr.value is None


def _same_kind(given: DataType, wanted: DataType) -> bool:
    if isinstance(given, AtomicType) and isinstance(wanted, AtomicType):
        return given.root is wanted.root or {given.root, wanted.root} <= TEXTS
    return given == wanted


def _refusal(what: str) -> UnsupportedFeatureError:
    return UnsupportedFeatureError(
        f"applying the row filter or column mask that the catalog requires ({what.rstrip(',')})",
        hint="The table is not read without it. Ask the administrator of the catalog.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizedQuery:
    """A query with its rules.

    Attributes:
        row_type: the columns of the table.
        columns: the columns of the result.
        where: the condition of the user.
        rules: the rules.
    """

    row_type: RowType
    columns: tuple[str, ...]
    where: Expression
    rules: RowRules

    @property
    def filters_masked(self) -> bool:
        """Whether the condition of the user is about masked columns."""
        return bool(names_of(self.where) & set(self.rules.masks))

    @property
    def stored_where(self) -> Expression:
        """The part of the conditions that is evaluated on stored values."""
        parts = [self.rules.where] if self.filters_masked else [self.rules.where, self.where]
        parts = [part for part in parts if part != TRUE]
        return conjunction(parts) if parts else TRUE

    def batches(self, read: Read) -> Iterator[pa.RecordBatch]:
        """Yield the rows, with whole columns.

        Args:
            read: reads columns of the stored rows that fulfil a condition.
        """
        names = {*self.columns, *(names_of(self.where) if self.filters_masked else ())}
        masks = {name: mask for name, mask in self.rules.masks.items() if name in names}
        needed = names.union(*map(names_of, masks.values()))
        columns = tuple(name for name in self.row_type.names if name in needed)
        for batch in read(columns, self.stored_where):
            masked = _masked(batch, masks, self.row_type)
            if self.filters_masked:
                masked = masked.filter(evaluate(self.where, masked, self.row_type))
            if masked.num_rows:
                yield masked.select(list(self.columns))


def _masked(
    batch: pa.RecordBatch, masks: Mapping[str, Expression], row_type: RowType
) -> pa.RecordBatch:
    """Replace the values of masked columns; masks see the stored values."""
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    for name, mask in masks.items():
        field = row_type.field(name)
        assert field is not None  # noqa: S101 - as bound
        arrow = to_arrow(field.type)
        if _is_null(mask):
            columns[name] = pa.nulls(batch.num_rows, arrow)  # type: ignore[call-overload]  # stubs
            continue
        values = value_of(mask, batch, row_type)
        columns[name] = values.cast(arrow) if values.type != arrow else values
    fields = [pa.field(name, values.type) for name, values in columns.items()]
    return pa.RecordBatch.from_arrays(list(columns.values()), schema=pa.schema(fields))
