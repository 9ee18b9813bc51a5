"""Reads of some columns of other writers' tables give what a read of all columns gives."""

import pytest

from paimon_explore import col, open_table
from support.golden import GoldenTables

TABLES = (
    *(
        "append_parquet",
        "append_dv",
        "append_avro",
        "append_orc",
        "append_csv",
        "append_row_format",
    ),
    *("all_types_pk_parquet", "all_types_append_avro", "blob", "blob_more", "data_evolution"),
    *("me_agg", "me_agg_more_partial", "me_partial", "me_partial_default_agg", "me_partial_rsg"),
    *("me_partial_seq", "me_first_row", "dv_pk", "pk_levels", "seq_field", "row_tracking_dv"),
    *("se_append", "se_nested", "se_pk", "thin_mode", "fallback_branch", "chain_table", "variant"),
)


@pytest.mark.parametrize("name", TABLES)
def test_some_columns_are_those_of_all_columns(golden: GoldenTables, name: str) -> None:
    table = open_table(str(golden.table("java200", name).folder))
    whole = table.to_arrow()
    for wanted in ([], *([name] for name in whole.column_names), whole.column_names[::-1]):
        read = table.scan(columns=wanted).to_arrow()
        assert read.num_rows == whole.num_rows, wanted
        assert repr(read.to_pylist()) == repr(whole.select(wanted).to_pylist()), wanted


@pytest.mark.parametrize("name", TABLES)
def test_rows_are_counted_as_they_are_read(golden: GoldenTables, name: str) -> None:
    table = open_table(str(golden.table("java200", name).folder))
    assert table.count() == table.to_arrow().num_rows
    assert table.scan(limit=2).count() == min(2, table.count())
    for column in table.schema.row_type.names[:4]:
        there = col(column).is_not_null()
        assert table.count(where=there) == table.scan(where=there).to_arrow().num_rows, column
