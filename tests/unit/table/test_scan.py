import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError
from paimon_explore.scan.predicate.sql_parser import Where
from paimon_explore.table.scan import Scan
from support.small_tables import append_table, columns, rows_of

COLUMNS = columns(id=pa.int32(), name=pa.string(), dt=pa.string())
ROWS = [{"id": i, "name": n, "dt": d} for i, n, d in ((1, "a", "x"), (2, "b", "x"), (3, "c", "y"))]


def table() -> pe.Table:
    return append_table(COLUMNS, ROWS[:2], ROWS[2:], partition_by=["dt"])


def test_a_scan_gives_the_wanted_columns_in_order() -> None:
    found = table().scan(["name", "id"]).to_arrow()
    assert found.schema.names == ["name", "id"]
    assert rows_of(found)[0] == {"name": "a", "id": 1}
    assert table().scan("id").to_arrow().schema.names == ["id"]


@pytest.mark.parametrize(
    "where", ["id > 1 AND dt = 'x'", (pe.col("id") > 1) & (pe.col("dt") == "x")]
)
def test_a_predicate_is_text_or_built(where: Where) -> None:
    assert rows_of(table().scan(where=where).to_arrow()) == [ROWS[1]]
    assert table().scan(["name"], where).to_arrow().to_pylist() == [{"name": "b"}]
    assert table().scan(where=where).count() == 1


def test_a_limit_ends_the_read() -> None:
    assert table().scan(limit=2).to_arrow().num_rows == 2
    assert table().scan(limit=0).to_arrow().num_rows == 0
    assert table().scan(limit=99).count() == 3


def test_a_scan_of_no_columns_still_counts_rows() -> None:
    batches = list(table().scan([]).to_batches())
    assert sum(batch.num_rows for batch in batches) == 3


@pytest.mark.parametrize(
    ("wanted", "where", "limit", "says"),
    [
        (["idd"], None, None, "no column 'idd'"),
        (["id", "id"], None, None, "is selected twice"),
        (None, None, -1, "limit must be an integer of at least 0 or None, not -1"),
        (None, "idd = 1", None, "idd"),
    ],
)
def test_what_cannot_be_read_is_refused_at_once(
    wanted: list[str] | None, where: str | None, limit: int | None, says: str
) -> None:
    with pytest.raises(InvalidInputError, match=says):
        table().scan(wanted, where, limit)


def test_a_scan_explains_what_each_stage_kept() -> None:
    found = table().scan(where="dt = 'y' AND id = 3").explain()
    assert repr(found).splitlines()[0] == (
        "snapshot 2: 1 split (1 without merging), 1 file for the condition dt = 'y' AND id = 3"
    )
    assert [(stage.name, stage.unit, stage.kept, stage.total) for stage in found.stages] == [
        ("partition ranges", "manifests", 1, 2),
        ("partitions", "entries", 1, 1),
        ("cancelled entries", "entries", 1, 1),
        ("visible levels", "files", 1, 1),
        ("bucket", "files", 1, 1),
        ("value statistics", "files", 1, 1),
    ]
    empty = append_table(COLUMNS).scan().explain()
    assert repr(empty).splitlines() == [
        "no snapshot: 0 splits (0 without merging), 0 files",
        "The table has no snapshot yet.",
    ]


def test_rows_go_to_other_libraries() -> None:
    scan: Scan = table().scan(["id"], "id < 3")
    assert sorted(scan.to_pandas()["id"]) == [1, 2]
    assert sorted(scan.to_polars()["id"]) == [1, 2]
    assert scan.to_duckdb().sql("SELECT count(*) FROM t").fetchall() == [(2,)]
    assert pa.table(scan).num_rows == 2
