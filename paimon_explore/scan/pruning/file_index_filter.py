"""File index evaluation: the rows of a data file that may match a predicate.

Every result is a superset: an index that cannot answer, of an unknown kind or version, or on a
column whose type has changed, keeps all rows. For NOT, the child is evaluated for the rows where it
may be false, so that rows for which a condition is unknown are in neither result.
"""

from collections.abc import Iterable, Mapping
from functools import reduce
from typing import TypeVar

from pyroaring import BitMap, BitMap64

from paimon_explore.data_types.definitions import RowType
from paimon_explore.encoding.file_index.container import decode_container
from paimon_explore.encoding.file_index.index_condition import Condition, FileIndex, Relation
from paimon_explore.encoding.file_index.index_types import decode_index
from paimon_explore.errors import UnsupportedFeatureError, UnsupportedVersionError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.scan.predicate.column_condition import column_condition
from paimon_explore.scan.predicate.expression import (
    And,
    Expression,
    IsTrue,
    Literal,
    Not,
    Or,
    names_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedRows:
    """The result of a file index for one data file.

    Attributes:
        skip: whether no row can match.
        positions: physical positions of the rows that may match; None for all.
    """

    skip: bool
    positions: BitMap | None


_Rows = TypeVar("_Rows", BitMap, BitMap64)


def indexed_rows(
    expr: Expression,
    index: bytes,
    row_type: RowType,
    row_count: int,
    file_names: Mapping[str, str] | None = None,
    *,
    path: str = "",
) -> IndexedRows:
    """Evaluates a bound predicate on the file index of a data file.

    Args:
        expr: a predicate bound to the wanted columns.
        index: the index container: the manifest entry's embedded one, or a `.index` file.
        row_type: the wanted columns, without those whose type differs in the file's schema.
        row_count: rows of the data file.
        file_names: name in the file by wanted name, where they differ.
        path: the index file, or the data file of an embedded index, for errors.

    Returns:
        `positions` are a superset of the matching rows; on a primary-key table they may only be
        used to skip, and only files that overlap no other (the rule for value predicates).

    Raises:
        CorruptFileError: the container or an index in it breaks its format.

    Spec: concepts/spec/fileindex.
    """
    indexes = _indexes(expr, index, row_type, file_names or {}, path)
    positions = _rows(expr, indexes, wanted=True) if indexes else None
    if positions is not None and len(positions) >= row_count:
        positions = None
    return IndexedRows(skip=positions is not None and not positions, positions=positions)


_Indexes = Mapping[str, list[FileIndex]]
"""The indexes of each column that the predicate reads."""


def _indexes(
    expr: Expression, data: bytes, row_type: RowType, file_names: Mapping[str, str], path: str
) -> _Indexes:
    read = names_of(expr)
    wanted = {
        file_names.get(field.name, field.name): field for field in row_type if field.name in read
    }
    found: dict[str, list[FileIndex]] = {}
    try:
        parts = decode_container(data, path=path)
    except UnsupportedVersionError:
        return found
    for part in parts:
        field = wanted.get(part.column)
        if field is None:
            continue
        body = None if part.start is None else data[part.start : part.start + part.length]
        try:
            index = decode_index(part.kind, body, field.type, path=path)
        except (UnsupportedFeatureError, UnsupportedVersionError):
            continue
        found.setdefault(field.name, []).append(index)
    return found


def _rows(expr: Expression, indexes: _Indexes, *, wanted: bool) -> BitMap | None:
    """Rows for which `expr` may be `wanted` (true or false); None for all."""
    match expr:
        case And(children=children) | Or(children=children):
            parts = [_rows(child, indexes, wanted=wanted) for child in children]
            every = isinstance(expr, And) is wanted  # NOT (a OR b) wants both to be false
            return _in_all(parts) if every else in_any(parts, BitMap())
        case Not(child=child):
            return _rows(child, indexes, wanted=not wanted)
        case IsTrue(child=child):
            return _rows(child, indexes, wanted=True) if wanted else None
        case Literal(value=value):
            return None if value is wanted else BitMap()
        case _:
            return _leaf_rows(column_condition(expr, wanted=wanted), indexes)


def _in_all(parts: Iterable[BitMap | None]) -> BitMap | None:
    known = [part for part in parts if part is not None]
    return reduce(BitMap.__and__, known) if known else None


def _leaf_rows(found: tuple[str, Condition] | None, indexes: _Indexes) -> BitMap | None:
    if found is None:
        return None
    name, condition = found
    if condition.relation is Relation.IN and not condition.values:
        return BitMap()
    return _in_all(index.rows(condition) for index in indexes.get(name, ()))


def in_any(parts: Iterable[_Rows | None], found: _Rows) -> _Rows | None:
    """Return the rows of any part, added to `found`; None for all."""
    for part in parts:
        if part is None:
            return None
        found |= part
    return found
