import json

import numpy as np
import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError, NotFoundError
from support.golden import GoldenTables
from support.small_tables import append_table, columns, keyed_table

COLUMNS = columns(k=pa.int32(), v=pa.string())


def rows(*keys: int) -> list[dict[str, object]]:
    return [{"k": k, "v": str(k)} for k in keys]


def test_every_file_of_level_0_is_a_run_and_overlaps_are_counted() -> None:
    table = keyed_table(COLUMNS, rows(1, 5), rows(3, 8), rows(20, 30), rows(4), primary_key=["k"])
    found = table.inspect.lsm()
    figures = found.figures()
    assert (figures["runs"], figures["level_0"], figures["max_depth"]) == (4, 4, 3)
    assert found.to_arrow().column("min_key").to_pylist() == ["4", "20", "3", "1"]
    assert found.to_arrow().column("depth").to_pylist() == [3, 1, 3, 3]
    assert found.labels == ("1", "3", "4", "5", "8", "20", "30")
    assert found.depths == (1, 2, 3, 2, 1, 1, 1)


def test_levels_above_0_are_one_run_each_and_a_compaction_leaves_one() -> None:
    table = keyed_table(COLUMNS, rows(1, 2), rows(2, 3), primary_key=["k"])
    table.compact()
    found = table.inspect.lsm()
    assert (found.figures()["runs"], found.max_depth, found.mean_depth) == (1, 1, 1.0)


def test_the_depth_is_what_a_look_at_every_key_counts(golden: GoldenTables) -> None:
    table = pe.open_table(golden.table("java200", "pk_levels").folder)
    for number in (3, 8, 14, 20):
        found = table.at(snapshot=number).inspect.lsm()
        files = found.to_arrow()
        rows_of = files.to_pylist()
        lows, highs = (np.array([int(r[n]) for r in rows_of]) for n in ("min_key", "max_key"))
        counted = [int(((lows <= key) & (highs >= key)).sum()) for key in [*lows, *highs]]
        assert found.max_depth == max(counted)
        assert dict(zip(map(int, found.labels), found.depths, strict=True)) == {
            key: int(((lows <= key) & (highs >= key)).sum()) for key in {*lows, *highs}
        }


def test_a_bucket_is_named_in_many_ways(golden: GoldenTables) -> None:
    table = pe.open_table(golden.table("java200", "dv_pk").folder)
    for partition in ("dt=p1", "p1", {"dt": "p1"}, ["p1"]):
        assert table.inspect.lsm(partition, 0).figures()["partition"] == "dt=p1"
    found = table.inspect.lsm("p1", 0)
    assert len(found.buckets) == 4
    assert found.figures()["deleted"] == 16
    with pytest.raises(NotFoundError, match="Partition 'dt=p9'"):
        table.inspect.lsm("p9")
    with pytest.raises(NotFoundError, match="Bucket 7"):
        table.inspect.lsm(bucket=7)
    with pytest.raises(InvalidInputError, match="partition columns 'dt'"):
        table.inspect.lsm({"other": 1})


def test_a_backlog_is_named_with_its_trigger() -> None:
    table = keyed_table(COLUMNS, *[rows(i) for i in range(6)], primary_key=["k"])
    text = repr(table.inspect.lsm())
    assert "6 (compaction starts above 5, num-sorted-run.compaction-trigger" in text


def test_append_tables_and_empty_ones_have_a_section_too() -> None:
    plain = append_table(COLUMNS, rows(1), rows(2, 3)).inspect.lsm()
    assert plain.figures()["rows"] == 3
    assert "files no levels" in repr(plain)
    assert "Files in the order in which they were written" in repr(plain)
    assert "run first" not in repr(plain)
    assert "level 0" not in repr(plain)
    empty = append_table(COLUMNS).inspect.lsm()
    assert repr(empty) == "db.t at no snapshot\nThe snapshot has no data files."
    for one in (plain, empty):
        assert json.dumps(one.state())
        assert one._repr_html_()
    assert len(plain.plot().to_json()) < 60_000
