"""The join of a merge: which source rows match which table rows.

The `on` condition is split into equalities between both sides, which are joined by hash, and a
residual condition that is evaluated on the joined rows. Conditions on the table alone, and the
range of the source's values of an equality, also prune data files.

Join keys of a merge's source, in which the keys of table rows are looked up.

Every value of a key column gets a code; several columns get a combined code. The source's codes are
sorted once; those of the table's rows are looked up batch by batch.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore import arrow_compute as pc
from paimon_explore.data_types.arrow_buffers import (
    Bools,
    Column,
    Ints,
    as_python,
    build_fixed,
    expand_ranges,
    fixed_values,
    int64_values,
    valid_mask,
)
from paimon_explore.data_types.definitions import INTEGERS, TEXTS, TypeRoot
from paimon_explore.data_types.traversal import is_root
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.row_level.joined_row import SOURCE, TARGET, Sides, renamed
from paimon_explore.maintenance.row_level.row_change import take
from paimon_explore.scan.manifest_arrays import true_rows
from paimon_explore.scan.predicate.binder import bind, bind_value
from paimon_explore.scan.predicate.builder import Term
from paimon_explore.scan.predicate.evaluator import evaluate, value_of
from paimon_explore.scan.predicate.expression import (
    FALSE,
    TRUE,
    Compare,
    CompareOp,
    Expression,
    In,
    conjunction,
    conjuncts,
    is_operand,
    literal,
    names_of,
)
from paimon_explore.scan.predicate.expression import Column as Named
from paimon_explore.scan.predicate.kernels import aligned
from paimon_explore.scan.predicate.sql_parser import predicate

_MAX_CODES = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPair:
    """An equality between both sides, bound to the joined row.

    Attributes:
        target: expression of the table's columns.
        source: expression of the source's columns.
        matches_nulls: whether null equals null.
    """

    target: Expression
    source: Expression
    matches_nulls: bool


class SourceKeys:
    """The join keys of the source as sorted codes.

    Args:
        pairs: the equalities.
        keys: the source's side of each equality, n values each.
        like: arrays with the types of the table's side.
    """

    def __init__(
        self, pairs: Sequence[KeyPair], keys: Sequence[Column], like: Sequence[Column]
    ) -> None:
        self._keys = keys
        self._nullable = [pair.matches_nulls for pair in pairs]
        self._values: list[Column] = []
        codes: list[Ints] = []
        for key, other in zip(keys, like, strict=True):
            encoded = hashable(aligned(other.slice(0, 0), key)[1]).dictionary_encode("encode")
            self._values.append(encoded.dictionary)
            codes.append(int64_values(encoded.indices))
        by_row = self._combined(codes, keys)
        self.order: Ints = np.argsort(by_row, kind="stable")
        self.codes: Ints = by_row[self.order]

    def codes_of(self, columns: Sequence[Column]) -> Ints:
        """Return the code of each key of the table; -1 if the source does not have the key."""
        codes: list[Ints] = []
        for column, key, values in zip(columns, self._keys, self._values, strict=True):
            same = hashable(aligned(column, key.slice(0, 0))[0])
            options = pc.SetLookupOptions(value_set=values, skip_nulls=False)
            found = pc.call_function("index_in", [same], options)
            codes.append(np.where(valid_mask(found), int64_values(found), -1))
        return self._combined(codes, columns)

    def _combined(self, codes: Sequence[Ints], columns: Sequence[Column]) -> Ints:
        """Combine the codes of several columns into one code per row."""
        combined = np.zeros(len(codes[0]), np.int64)
        valid = np.ones(len(combined), np.bool_)
        combinations = 1
        for code, column, values, nullable in zip(
            codes, columns, self._values, self._nullable, strict=True
        ):
            valid &= code >= 0
            if not nullable:
                valid &= valid_mask(column)
            combinations *= max(len(values), 1)
            if combinations > _MAX_CODES:
                raise InvalidInputError(
                    "The merge keys have more than 2^62 combinations of values.",
                    hint="Match on fewer columns.",
                )
            combined = combined * max(len(values), 1) + code
        return np.where(valid, combined, -1)


def hashable(column: Column) -> Column:
    """Normalize floats so that equal values hash equally: one zero and one NaN."""
    if not pa.types.is_floating(column.type):
        return column
    width = column.type.bit_width // 8
    floats: npt.NDArray[np.float64] = fixed_values(column, f"f{width}").astype(np.float64) + 0.0
    numbers = np.where(np.isnan(floats), np.nan, floats).astype(f"f{width}")
    return build_fixed(column.type, numbers, valid_mask(column))


On = str | Term | Expression | Sequence[str] | Mapping[str, str]
"""Names of common columns, a mapping of the table's to the source's columns, or a condition."""

_MAX_PAIRS = 1 << 24
_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")
_MAX_IN_VALUES = 200
_RANGED = INTEGERS | TEXTS | {TypeRoot.DECIMAL, TypeRoot.DATE}


@dataclass(frozen=True, slots=True)
class Pairs:
    """Matching rows: n row numbers in a batch of the table and in the source."""

    target: Ints
    source: Ints

    def where(self, mask: Bools) -> "Pairs":
        """Filter the pairs."""
        return Pairs(self.target[mask], self.source[mask])


class MergeJoin:
    """Finds the matching rows of a merge.

    Args:
        on: the join condition.
        sides: the columns of both sides.
        source: the source's rows.

    Raises:
        InvalidInputError: the condition is invalid.
    """

    def __init__(self, on: On, sides: Sides, source: pa.RecordBatch) -> None:
        self._sides = sides
        self._source = source
        condition = sides.qualify(_condition(on, sides), TARGET, SOURCE)
        parts = conjuncts(condition)
        self.equalities = [part for part in parts if _is_pair(part)]
        row_type = sides.row_type
        bind(condition, row_type)  # checks that compared types are comparable
        self._pairs = [_key_pair(part, sides) for part in self.equalities]
        rest = [part for part in parts if part not in self.equalities]
        self._residual = bind(conjunction(rest), row_type)
        self._residual_names = names_of(self._residual)
        self._rows = sides.join(None, source)
        self._lookup: SourceKeys | None = None
        self._keys = [value_of(pair.source, self._rows, row_type) for pair in self._pairs]
        on_target = [part for part in rest if _side_of(part) == {TARGET}]
        self.where = self._bound_where([*on_target, *self._ranges()])

    @property
    def columns(self) -> frozenset[str]:
        """Return the table's columns that the condition reads."""
        read = self._residual_names.union(*(names_of(pair.target) for pair in self._pairs))
        return table_names(read)

    def equates(self, target: Expression, value: object) -> bool:
        """Whether the condition equates a column of the table with a value of the source."""
        for part in self.equalities:
            assert isinstance(part, Compare)  # noqa: S101 - checked by `_is_pair`
            if value in (part.left, part.right) and target in (part.left, part.right):
                return part.op is CompareOp.EQ
        return False

    def find(self, batch: pa.RecordBatch) -> Pairs:
        """Return the matching rows for a batch of the table."""
        pairs = self._by_keys(batch) if self._pairs else self._cross_join(batch)
        if self._residual == TRUE or not len(pairs.target):
            return pairs
        rows = self.rows_of(batch, pairs)
        return pairs.where(true_rows(evaluate(self._residual, rows, self._sides.row_type)))

    def rows_of(self, batch: pa.RecordBatch, pairs: Pairs) -> pa.RecordBatch:
        """Return the joined rows of pairs."""
        known = [name for name in batch.schema.names if self._sides.target.field(name) is not None]
        return self._sides.join(
            take(batch.select(known), pairs.target), take(self._source, pairs.source)
        )

    def _cross_join(self, batch: pa.RecordBatch) -> Pairs:
        """Return every pair of rows."""
        count, others = batch.num_rows, self._source.num_rows
        if count * others > _MAX_PAIRS:
            raise InvalidInputError(
                "The merge condition has no equality of a source and a target column, and there "
                "are too many rows to compare all pairs.",
                hint="Add an equality to on=, such as target.id = source.id.",
            )
        return Pairs(np.repeat(np.arange(count), others), np.tile(np.arange(others), count))

    def _by_keys(self, batch: pa.RecordBatch) -> Pairs:
        count = batch.num_rows
        rows = self._sides.join(batch.select(sorted(self._known(batch))), None)
        found = [value_of(pair.target, rows, self._sides.row_type) for pair in self._pairs]
        if self._lookup is None:
            self._lookup = SourceKeys(self._pairs, self._keys, found)
        targets = self._lookup.codes_of(found)
        low, high = (np.searchsorted(self._lookup.codes, targets, side) for side in _SIDES)
        sizes = np.where(targets >= 0, high - low, 0)
        return Pairs(
            np.repeat(np.arange(count), sizes), self._lookup.order[expand_ranges(low, sizes)]
        )

    def _known(self, batch: pa.RecordBatch) -> frozenset[str]:
        return self.columns.intersection(batch.schema.names)

    def _bound_where(self, parts: Sequence[Expression]) -> Expression:
        """Bind conditions on the table alone to its columns."""
        plain = renamed(conjunction(parts), lambda path: (_name(path[0]), *path[1:]))
        return bind(plain, self._sides.target)

    def _ranges(self) -> Iterator[Expression]:
        """Yield conditions on columns of the table implied by the source's values."""
        for part, pair, key in zip(self.equalities, self._pairs, self._keys, strict=True):
            column = _target_of(part)
            kind = bind_value(pair.source, self._sides.row_type)[1]
            is_ranged = is_root(kind, *_RANGED)
            if (
                isinstance(column, Named)
                and is_ranged
                and not (pair.matches_nulls and key.null_count)
            ):
                yield _within(column, key)


def _within(column: Named, key: Column) -> Expression:
    """Return the condition that a column has one of the values, or is in their range."""
    distinct = key.unique().drop_null()
    if not len(distinct):
        return FALSE
    if len(distinct) <= _MAX_IN_VALUES:
        return In(operand=column, values=tuple(literal(value) for value in as_python(distinct)))
    ends = pc.min_max(distinct)
    low, high = (literal(ends[name].as_py()) for name in ("min", "max"))
    return conjunction(
        (
            Compare(op=CompareOp.GE, left=column, right=low),
            Compare(op=CompareOp.LE, left=column, right=high),
        )
    )


def _condition(on: On, sides: Sides) -> Expression:
    if isinstance(on, str):
        names = [f.name for f in sides.target if f.name.lower() == on.strip('`" ').lower()]
        return _equal(names[0], names[0]) if names else predicate(on)
    if isinstance(on, Term | Expression):
        return predicate(on)
    given: object = on
    if isinstance(given, Mapping):
        parts = [_equal(str(target), str(source)) for target, source in given.items()]
    elif isinstance(given, list | tuple) and all(isinstance(name, str) for name in given):
        parts = [_equal(name, name) for name in given]
    else:
        parts = []
    if not parts:
        raise InvalidInputError(
            f"on must be a column name, a list of column names or a condition, not {on!r}.",
            hint=f"Pass on={sides.target.names[0]!r}, for example.",
        )
    return conjunction(parts)


def _equal(target: str, source: str) -> Expression:
    left, right = Named(path=(TARGET, target)), Named(path=(SOURCE, source))
    return Compare(op=CompareOp.EQ, left=left, right=right)


def _side_of(expr: Expression) -> set[str]:
    return {name.partition(".")[0] for name in names_of(expr)}


def _name(qualified: str) -> str:
    return qualified.partition(".")[2]


def table_names(qualified: frozenset[str]) -> frozenset[str]:
    """Return the table's columns among names of the joined row."""
    return frozenset(_name(name) for name in qualified if name.startswith(f"{TARGET}."))


def _is_pair(part: Expression) -> bool:
    """Whether a part of the condition is an equality between both sides."""
    if not isinstance(part, Compare) or part.op not in {CompareOp.EQ, CompareOp.SAME}:
        return False
    sides = (_side_of(part.left), _side_of(part.right))
    return sides in (({TARGET}, {SOURCE}), ({SOURCE}, {TARGET}))


def _target_of(part: Expression) -> Expression:
    """Return the table's side of an equality."""
    assert isinstance(part, Compare)  # noqa: S101 - checked by `_is_pair`
    return part.left if _side_of(part.left) == {TARGET} else part.right


def _key_pair(part: Expression, sides: Sides) -> KeyPair:
    assert isinstance(part, Compare)  # noqa: S101 - checked by `_is_pair`
    target = _target_of(part)
    source = part.right if target is part.left else part.left
    assert is_operand(source)  # noqa: S101 - a comparison has operands
    return KeyPair(
        target=bind_value(target, sides.row_type)[0],
        source=bind_value(source, sides.row_type)[0],
        matches_nulls=part.op is CompareOp.SAME,
    )
