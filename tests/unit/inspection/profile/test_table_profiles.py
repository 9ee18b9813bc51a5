"""Profiles of tables: from statistics and from rows, in one run and in steps."""

import json
from collections.abc import Mapping
from datetime import date, time
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError
from paimon_explore.inspection.profile.profile_session import combined_condition, rows_of
from paimon_explore.inspection.profile.row_profile import RowProfile
from paimon_explore.inspection.profile.table_profile import Profile
from paimon_explore.scan.predicate.sql_parser import parse_where
from support.explored import HOSTILE
from support.small_tables import append_table, columns, keyed_table
from support.table_kinds import PARTITIONS, TABLE_KINDS

ROWS = [{"k": n, "v": f"value {n % 3}", "x": None if n % 4 == 0 else n / 2} for n in range(12)]
SCHEMA = columns(k=pa.int32(), v=pa.string(), x=pa.float64())


def figures(found: Profile, name: str) -> dict[str, Any]:
    one = found.column(name)
    assert one is not None
    return {**one.state()}


def test_the_rows_of_a_table_are_profiled() -> None:
    found = append_table(SCHEMA, ROWS[:5], ROWS[5:]).profile(exact=True)
    assert (found.rows, found.is_exact, found.is_complete) == (12, True, True)
    k, v, x = (figures(found, name) for name in "kvx")
    assert (k["nulls"], k["distinct"], k["min"], k["max"]) == (0, 12, "0", "11")
    assert k["histogram"]["counts"] == [1] * 12
    assert (v["nulls"], v["distinct"], v["average_length"]) == (0, 3, 7.0)
    assert v["frequent"] == [{"value": f"value {n}", "count": 4} for n in range(3)]
    assert (x["nulls"], x["distinct"], x["min"], x["max"]) == (3, 9, "0.5", "5.5")


def test_statistics_of_an_append_table_are_exact_but_for_texts() -> None:
    found = append_table(SCHEMA, ROWS[:5], ROWS[5:]).profile()
    assert (found.rows, found.is_exact, found.notes) == (12, True, ())
    k, v, x = (figures(found, name) for name in "kvx")
    assert (k["nulls"], k["min"], k["max"], k["exact"]) == (0, "0", "11", True)
    assert (v["min"], v["max"], v["exact"]) == ("value 0", "value 2", False)
    assert v["notes"] == ["bounds may be truncated"]
    assert (x["nulls"], x["min"], x["max"], x["exact"]) == (3, "0.5", "5.5", True)


def test_a_negative_zero_in_statistics_is_zero() -> None:
    table = append_table(columns(x=pa.float64()), [{"x": -0.0}, {"x": 0.0}])
    for found in (table.profile(), table.profile(exact=True)):
        assert (figures(found, "x")["min"], figures(found, "x")["max"]) == ("0.0", "0.0")


def test_statistics_of_replaced_and_deleted_rows_are_bounds() -> None:
    table = keyed_table(SCHEMA, ROWS, [{"k": 0, "v": "new", "x": 1.0}], primary_key=["k"])
    table.delete("k = 11")
    found = table.profile()
    assert (found.rows, found.is_exact) == (14, False)
    assert found.notes == (
        "From statistics: lower and upper bounds; deleted and replaced rows are included.",
    )
    k = figures(found, "k")
    assert (k["min"], k["max"], k["exact"]) == ("0", "11", False)
    exact = table.profile(exact=True)
    assert exact.rows == 11
    assert (figures(exact, "k")["max"], figures(exact, "x")["nulls"]) == ("10", 2)


def test_rows_of_a_table_with_deletion_vectors_are_counted_but_bounds_are_not_exact() -> None:
    table = append_table(SCHEMA, ROWS, options={"deletion-vectors.enabled": "true"})
    table.delete("k = 11")
    found = table.profile()
    assert (found.rows, found.is_exact) == (11, True)
    assert (figures(found, "k")["max"], figures(found, "k")["exact"]) == ("11", False)
    assert found.notes[0].startswith("From statistics: lower and upper bounds")


@pytest.mark.parametrize("kind", TABLE_KINDS)
def test_statistics_bound_what_the_rows_have(kind: str) -> None:
    table = TABLE_KINDS[kind].create(f"memory://{uuid4()}/wh")
    add = table.append if TABLE_KINDS[kind].merge is None else table.upsert
    rows = [
        {"p": PARTITIONS[n % 2], "k": n, "v": n if n % 3 else None, "w": f"text {n}"}
        for n in range(9)
    ]
    add(rows)
    add([{**rows[4], "v": 1000}])
    if TABLE_KINDS[kind].deletes:
        table.delete("k = 8")
    if TABLE_KINDS[kind].waits:
        table.compact()
    read = table.to_arrow()
    exact, bounds = table.profile(exact=True), table.profile()
    assert exact.rows == read.num_rows
    assert bounds.rows is None or bounds.rows >= read.num_rows
    assert not bounds.is_exact or bounds.rows == read.num_rows
    for name in read.column_names:
        column = read[name]
        own, stored = figures(exact, name), figures(bounds, name)
        assert own["nulls"] == column.null_count
        assert own["distinct"] == pc.count_distinct(column).as_py()
        assert own["min"] == str(pc.min(column).as_py())
        assert own["max"] == str(pc.max(column).as_py())
        if stored["exact"]:
            assert [stored[m] for m in ("nulls", "min", "max")] == [
                own[m] for m in ("nulls", "min", "max")
            ]
        if stored["nulls"] is not None and bounds.rows is not None:
            assert stored["nulls"] >= own["nulls"]


def test_partition_columns_are_profiled_from_metadata() -> None:
    rows: list[dict[str, object]] = [
        {"p": "a", "v": 1},
        {"p": "b", "v": 2},
        {"p": "a", "v": 3},
        {"p": None, "v": 4},
    ]
    table = append_table(columns(p=pa.string(), v=pa.int32()), rows, partition_by=["p"])
    p = figures(table.profile(), "p")
    assert (p["nulls"], p["distinct"], p["min"], p["max"], p["exact"]) == (1, 2, "a", "b", True)
    assert p["frequent"] == [{"value": "a", "count": 2}, {"value": "b", "count": 1}]


def test_a_filter_selects_the_rows_of_a_profile() -> None:
    table = append_table(SCHEMA, ROWS[:6], ROWS[6:])
    found = table.profile(["k"], where="k >= 7", exact=True)
    assert (found.rows, found.where) == (5, "k >= 7")
    assert (figures(found, "k")["min"], len(found.columns)) == ("7", 1)
    pruned = table.profile(["k"], where="k >= 7")
    assert (pruned.rows, pruned.is_exact) == (6, False)
    assert figures(pruned, "k")["min"] == "6"
    assert pruned.notes[-1] == "From statistics of the files that may contain matching rows."


def test_a_limit_profiles_the_first_rows() -> None:
    found = append_table(SCHEMA, ROWS).profile(limit=5)
    assert (found.rows, found.is_complete) == (5, False)
    assert found.title == "snapshot 1: first 5 rows, 3 columns"
    assert append_table(SCHEMA, ROWS).profile(limit=0).rows == 0
    assert append_table(SCHEMA, ROWS).profile(limit=50).is_complete


def test_the_profile_of_an_earlier_snapshot() -> None:
    table = append_table(SCHEMA, ROWS[:5], ROWS[5:])
    found = table.at(snapshot=1).profile()
    assert found.rows == 5
    assert found.code.python == "t.at(snapshot=1).profile()"
    assert table.profile(["k"], where="k > 3", exact=True).code.python == (
        "t.profile(columns=['k'], where='k > 3', exact=True)"
    )


def test_analyze_adds_distinct_values_and_lengths() -> None:
    table = append_table(SCHEMA, ROWS)
    table.maintenance.analyze()
    found = table.profile()
    v = figures(found, "v")
    assert (v["distinct"], v["average_length"], v["min"], v["exact"]) == (3, 7.0, "value 0", True)
    assert found.notes == ("Distinct values and lengths are from ANALYZE of snapshot 1.",)
    table.append(ROWS)
    later = table.profile()
    assert later.notes == (
        "Distinct values and lengths are from ANALYZE of snapshot 1, before the latest changes.",
    )


def test_dates_and_times_of_analyze_are_shown_as_such() -> None:
    schema = columns(k=pa.int32(), d=pa.date32(), t=pa.time32("ms"))
    rows = [{"k": 1, "d": date(1969, 12, 31), "t": time(1, 2, 3)}]
    table = keyed_table(schema, rows, primary_key=["k"], options={"bucket": "1"})
    table.upsert(rows)  # metadata gives no exact bounds
    table.maintenance.analyze()
    found = table.profile()
    assert [figures(found, name)["min"] for name in "dt"] == ["1969-12-31", "01:02:03.000"]
    assert figures(found, "d")["exact"] is True


def test_a_table_without_rows_has_an_empty_profile() -> None:
    table = append_table(SCHEMA)
    for exact in (False, True):
        found = table.profile(exact=exact)
        assert (found.rows, found.title) == (0, "no snapshot: 0 rows, 3 columns")
        assert [one.minimum for one in found.columns] == [None, None, None]


def test_fields_of_row_columns_can_be_selected() -> None:
    found = pe.demo().table("demo.types").profile(["row.x", "i"], exact=True)
    assert [one.name for one in found.columns] == ["row", "row.x", "i"]
    assert figures(found, "row.x")["max"] == "1"


def test_every_demo_table_has_a_profile_both_ways() -> None:
    catalog = pe.demo()
    for name in catalog.tables("demo"):
        table = catalog.table(f"demo.{name}" if "." not in str(name) else str(name))
        exact, stored = table.profile(exact=True), table.profile()
        assert exact.rows == table.count()
        assert [one.name for one in exact.columns] == [one.name for one in stored.columns]
        json.dumps([exact.state(), stored.state()])


def run_in_steps(table: pe.Table, steps: int | None = None) -> RowProfile:
    """The profile of all rows with a clock that ends each step after one batch."""
    times = iter(range(10**6))
    run = RowProfile(rows_of(table._inspector(), ""), clock=lambda: float(next(times)))
    count = 0
    while count != steps and not run.step():
        count += 1
    return run


MANY = [{"k": n, "v": f"value {n % 7}", "x": n / 8} for n in range(300)]


def test_steps_give_the_same_profile_as_one_run() -> None:
    table = append_table(SCHEMA, *(MANY[n : n + 30] for n in range(0, 300, 30)))
    stepped, whole = run_in_steps(table), table.profile(exact=True)
    assert stepped.is_complete
    assert [one.state() for one in stepped.columns()] == [one.state() for one in whole.columns]


def test_a_profile_that_was_stopped_keeps_what_it_has() -> None:
    options = {"read.batch-size": "10", "source.split.target-size": "1 b"}
    table = append_table(SCHEMA, *(MANY[n : n + 30] for n in range(0, 300, 30)), options=options)
    run = run_in_steps(table, steps=1)
    run.stop()
    found = run.columns()
    assert 0 < run.rows < 300
    assert run.total == 300
    assert not run.is_complete
    assert found[0].distinct == run.rows
    assert run.step()
    assert not run.is_complete


def test_a_condition_replaces_what_was_said_about_the_column() -> None:
    added = parse_where("a >= 1 AND a < 5")
    assert combined_condition("", added) == "a >= 1 AND a < 5"
    assert combined_condition("a > 9 AND b = 2 AND a IS NULL", added) == (
        "b = 2 AND a >= 1 AND a < 5"
    )
    assert combined_condition("b = 2 OR c = 3", added) == "(b = 2 OR c = 3) AND a >= 1 AND a < 5"
    assert combined_condition("r.a = 1", parse_where("r.b = 2")) == "r.a = 1 AND r.b = 2"


def test_hostile_names_and_values_are_escaped() -> None:
    schema = pa.schema([(HOSTILE, pa.string()), ("`a`.b", pa.string())])
    table = append_table(schema, [{HOSTILE: HOSTILE, "`a`.b": "x"}, {HOSTILE: "y", "`a`.b": "x"}])
    exact = table.profile(exact=True)
    for found in (table.profile(), exact):
        html = found._repr_html_()
        assert "<img src=x" not in html
        assert "<svg onload" not in html
        assert "\x1b" not in repr(found) + html
        assert "\u202e" not in repr(found) + html
        assert found.to_arrow()["column"].to_pylist() == [HOSTILE, "`a`.b"]
    for column, counts in zip(exact.columns, ([1, 1], [2]), strict=True):
        conditions = [combined_condition("", column.value_condition(i)) for i in range(len(counts))]
        assert [table.count(condition) for condition in conditions] == counts


def test_a_profile_has_all_faces() -> None:
    table = append_table(SCHEMA, ROWS)
    found = table.profile(exact=True)
    assert repr(found).splitlines() == [
        "snapshot 1: 12 rows, 3 columns",
        "column  type    nulls  distinct  min      max",
        "k       INT         0        12  0        11",
        "v       STRING      0         3  value 0  value 2",
        "x       DOUBLE      3         9  0.5      5.5",
    ]
    arrow = found.to_arrow()
    assert arrow["column"].to_pylist() == ["k", "v", "x"]
    assert arrow["distinct"].to_pylist() == [12, 3, 9]
    assert len(found.to_pandas()) == 3
    assert found._repr_html_().count("data:image/svg+xml") == 3
    state: Mapping[str, Any] = json.loads(json.dumps(found.state()))
    assert state["kind"] == "profile"
    assert [one["name"] for one in state["figures"]["columns"]] == ["k", "v", "x"]


def test_a_profile_of_many_columns_fits_a_screen() -> None:
    schema = pa.schema([(f"column {n} with a long name", pa.int64()) for n in range(150)])
    table = append_table(schema, [dict.fromkeys(schema.names, -(2**60))])
    for found in (table.profile(), table.profile(exact=True)):
        lines = repr(found).splitlines()
        assert len(lines) == 25
        assert max(map(len, lines)) <= 100
        assert lines[-1] == "… 128 more columns"


def test_wrong_arguments_are_refused() -> None:
    table = append_table(SCHEMA, ROWS)
    with pytest.raises(InvalidInputError, match="nope"):
        table.profile(["nope"])
    with pytest.raises(InvalidInputError, match="exact must be True or False"):
        table.profile(exact=1)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(InvalidInputError, match="parsed"):
        table.profile(where="k >")
    incremental = pe.open_table(table.path, options={"incremental-between": "1,1"})
    with pytest.raises(InvalidInputError, match="not the changes between two points"):
        incremental.profile()
