"""Filtered reads of other writers' tables give the rows of a full read, whatever is pruned."""

import random
from collections.abc import Iterator

import pyarrow as pa
import pytest

from paimon_explore import open_table
from paimon_explore.data_types.definitions import AtomicType, DataField, RowType, TypeRoot
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.evaluator import evaluate
from paimon_explore.scan.predicate.expression import (
    Column,
    Compare,
    CompareOp,
    Expression,
    In,
    IsNull,
    Literal,
    Not,
    conjunction,
    disjunction,
)
from paimon_explore.scan.predicate.literals import value_at
from support.golden import GoldenTables

TABLES = (
    *("append_parquet", "append_part_types", "append_part_null", "append_bucketed", "append_dv"),
    *("all_types_append_orc", "all_types_pk_parquet", "pk_all_key_types", "pk_part_multi"),
    *("me_agg", "me_partial", "dv_pk", "pk_levels", "rescale", "bucket_mod", "bucket_hive"),
    *("fi_bitmap", "fi_bloom_embedded", "fi_bloom_external", "fi_bloom_types", "fi_more", "fi_pk"),
    *("se_append", "se_casts", "se_pk", "stats_truncate", "stats_dense", "stats_none"),
    *("odd_names", "data_evolution", "external_paths", "ts9_negative"),
)
UNCOMPARABLE = frozenset({TypeRoot.VARIANT, TypeRoot.BLOB, TypeRoot.GEOMETRY, TypeRoot.GEOGRAPHY})


def conditions(batch: pa.RecordBatch, field: DataField) -> Iterator[Expression]:
    """Conditions on one column, with constants that occur in it."""
    column = Column(path=(field.name,))
    yield IsNull(operand=column)
    if not isinstance(field.type, AtomicType) or field.type.root in UNCOMPARABLE:
        return
    values = batch.column(field.name)
    found = [value_at(values, row, field.type) for row in range(0, len(values), 7)]
    constants = [Literal(value=value, type=field.type) for value in found if value is not None]
    for constant in constants[:3]:
        for op in CompareOp:
            yield Compare(op=op, left=column, right=constant)
    if constants:
        yield In(operand=column, values=tuple(constants[:4]))
        yield Not(child=In(operand=column, values=tuple(constants[:4])))


def predicates(batch: pa.RecordBatch, row_type: RowType) -> list[Expression]:
    """Ten conditions and combinations of them, the same ones on each run."""
    choose = random.Random(7)  # noqa: S311 - a test's choice
    simple = [expr for field in row_type for expr in conditions(batch, field)]
    chosen = choose.sample(simple, min(len(simple), 6))
    pairs = [choose.sample(simple, 2) for _ in range(2)]
    return chosen + [conjunction(pair) for pair in pairs] + [disjunction(pair) for pair in pairs]


def sorted_rows(table: pa.Table | pa.RecordBatch) -> list[str]:
    return sorted(map(repr, table.to_pylist()))


@pytest.mark.parametrize("name", TABLES)
def test_a_filtered_read_gives_the_rows_of_a_full_read_that_match(
    golden: GoldenTables, name: str
) -> None:
    table = open_table(str(golden.table("java200", name).folder))
    row_type = table.schema.row_type
    everything = table.to_arrow().combine_chunks().to_batches()[0]
    for expr in predicates(everything, row_type):
        matching = everything.filter(evaluate(bind(expr, row_type), everything, row_type))
        assert sorted_rows(table.scan(where=expr).to_arrow()) == sorted_rows(matching), expr
