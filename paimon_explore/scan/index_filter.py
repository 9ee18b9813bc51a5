"""The rows of a data file that its file index leaves for a predicate."""

from collections.abc import Mapping
from dataclasses import dataclass

from pyroaring import BitMap

from paimon_explore.scan.expression import Expression
from paimon_explore.types.data_types import RowType


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedRows:
    """What a file index says about one data file.

    Attributes:
        skip: no row can match.
        positions: physical positions of the rows that may match; None for all.
    """

    skip: bool
    positions: BitMap | None


def indexed_rows(
    expr: Expression,
    index: bytes,
    row_type: RowType,
    row_count: int,
    file_names: Mapping[str, str] | None = None,
) -> IndexedRows:
    """Rows of a data file that may fulfil a bound predicate, by its file index.

    Args:
        expr: bound to `row_type`.
        index: the index container: the manifest entry's embedded one, or a `.index` file.
        row_type: the wanted columns. Leave out those whose type differs in the file's schema.
        row_count: rows of the data file.
        file_names: name in the file by wanted name, where they differ.

    Returns:
        `positions` are a superset of the matching rows; on a primary-key table they may only be
        used to skip, and only files that overlap no other (the rule for value predicates).

    Raises:
        CorruptFileError: the container breaks its format.

    Spec: format 15.2.
    """
    ...
