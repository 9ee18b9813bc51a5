"""Predicates that select the rows or files of one partition."""

from paimon_explore.data_types.definitions import AtomicType, RowType
from paimon_explore.inspection.rendering.partition_text import Partitions
from paimon_explore.scan.predicate.expression import (
    Column,
    Compare,
    CompareOp,
    IsNull,
    Literal,
    LiteralValue,
)
from paimon_explore.scan.predicate.literals import value_at


def partition_tests(
    partitions: Partitions, partition_type: RowType, text: str
) -> tuple[Compare | IsNull, ...]:
    """One test per partition column; none if the partition is unknown or cannot be decoded.

    Args:
        partitions: the known partitions.
        partition_type: types of the partition columns.
        text: the partition as `dt=d1/hr=3`.
    """
    if not partitions.columns or text not in partitions.texts:
        return ()
    index = partitions.texts.index(text)
    return tuple(
        equality(field.name, value_at(values, index, field.type), field.type)
        for field, values in zip(partition_type, partitions.columns, strict=True)
        if isinstance(field.type, AtomicType)
    )


def equality(name: str, value: LiteralValue, kind: AtomicType) -> Compare | IsNull:
    """The test that a column has a value, represented as in `Literal.value`; None for null."""
    column = Column(path=(name,))
    if value is None:
        return IsNull(operand=column)
    return Compare(op=CompareOp.EQ, left=column, right=Literal(value=value, type=kind))
