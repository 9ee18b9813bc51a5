"""The catalog explorer without a widget: names, figures and health of tables."""

from itertools import count

import pytest

import paimon_explore as pe
from paimon_explore.errors import PaimonError
from paimon_explore.inspection.warehouse import warehouse_tables as summaries
from paimon_explore.inspection.warehouse.warehouse_state import PAGE, WarehouseState
from paimon_explore.inspection.warehouse.warehouse_tables import table_summary
from support.explored import HOSTILE, History
from support.warehouses import BROKEN, HOSTILE_NAME, Source, damaged, key, two_commits


def test_the_figures_of_a_table_are_those_of_its_latest_snapshot() -> None:
    found = table_summary(two_commits().view)
    assert (found.snapshots, found.rows, found.files, found.size) == (2, 10, 1, 100)
    assert found.writers == ("bob", "ada")
    assert found.snapshot is not None
    assert found.snapshot.id == 2
    assert found.chips == ("append table", "no buckets")


def test_a_table_without_snapshots_has_no_files() -> None:
    found = table_summary(History().view)
    assert (found.snapshot, found.snapshots, found.rows) == (None, 0, 0)
    assert (found.files, found.size, found.writers) == (0, 0, ())


def test_very_many_files_are_counted_from_the_manifest_lists(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(summaries, "MAX_ENTRIES", 2)
    found = table_summary(two_commits().view)
    assert (found.files, found.size) == (1, None)


def test_names_come_in_pages_and_each_is_listed_once() -> None:
    tables = dict.fromkeys((f"t{number:05}" for number in range(PAGE + 11)), History())
    source = Source({"db": tables})
    source.views["db"] = ["v"]
    state = WarehouseState(source, lambda: 0.0)
    first, second = state.names("db", 0).body, state.names("db", PAGE).body
    assert (len(list(first["names"])), first["done"]) == (PAGE, False)  # type: ignore[call-overload]
    assert second["done"] is True
    names = list(second["names"])  # type: ignore[call-overload]
    assert len(names) == 12
    assert names[-1] == ["view", "v"]
    assert source.listed == PAGE + 12
    assert source.opened == []


def test_a_request_ends_when_its_time_is_up_and_does_at_least_one_thing() -> None:
    source = Source({"db": {f"t{number}": two_commits() for number in range(3)}})
    seconds = count(step=10)
    state = WarehouseState(source, lambda: float(next(seconds)))
    assert state.names("db", 0).body == {"names": [["table", "t0"]], "done": False, "problems": []}
    assert state.names("db", 1).body == {"names": [["table", "t1"]], "done": False, "problems": []}
    rows = state.figures([key("t2"), key("t1")]).body["rows"]
    assert isinstance(rows, list)
    assert [row["name"] for row in rows] == ["t2"]
    badges = state.health([key("t2"), key("t1")]).body["badges"]
    assert isinstance(badges, list)
    assert len(badges) == 1


def test_figures_are_read_once_until_the_catalog_is_read_again() -> None:
    source = Source({"db": {"t": two_commits()}})
    state = WarehouseState(source)
    for _ in range(3):
        assert state.row(key("t")).summary is not None
    assert source.opened == ["db.t"]
    source.content["db"]["t"].commit(("+", "f9"))
    state.refresh()
    found = state.row(key("t")).summary
    assert found is not None
    assert found.snapshots == 3


def test_a_table_that_cannot_be_opened_has_its_reason_in_its_row() -> None:
    state = WarehouseState(Source({"db": {"good": two_commits(), "broken": damaged()}}))
    rows = {str(row["name"]): row for row in state.tables().to_arrow().to_pylist()}
    assert rows["good"]["problem"] is None
    assert rows["good"]["files"] == 1
    assert "manifest-list-2-0" in str(rows["broken"]["problem"])
    assert rows["broken"]["files"] is None
    assert "does not exist" in str(state.row(key("absent")).state()["problem"])


def test_the_health_is_the_worst_finding_and_their_number() -> None:
    state = WarehouseState(Source({"db": {"t": two_commits(), "empty": History()}}))
    badge = state.badge(key("t"))
    assert badge is not None
    assert badge.worst == "error"
    assert "error" in badge.words
    empty = state.badge(key("empty"))
    assert empty is not None
    assert (empty.worst, empty.total, empty.words) == ("", 0, "none")


def test_a_database_that_cannot_be_listed_does_not_hide_the_others() -> None:
    source = Source({BROKEN: {}, "db": {"t": History()}})
    state = WarehouseState(source)
    with pytest.raises(PaimonError, match="refused"):
        state.names(BROKEN, 0)
    found = state.tables(health=False)
    assert [row.name for row in found] == ["t"]
    assert "refused" in found.problems[BROKEN].message
    assert "refused" in repr(found)
    with pytest.raises(PaimonError, match="refused"):
        state.tables(BROKEN)


def test_tables_are_listed_where_functions_are_refused() -> None:
    source = Source({"db": {"t": History()}})
    source.refuses_functions = True
    body = WarehouseState(source).names("db", 0).body
    assert (body["names"], body["done"]) == ([["table", "t"]], True)
    assert "no functions" in str(body["problems"])
    found = WarehouseState(source).tables()
    assert [row.name for row in found] == ["t"]
    assert "no functions" in found.problems["db"].message


def test_the_result_has_all_forms() -> None:
    source = Source({"db": {"t": two_commits()}, "other": {"u": History()}})
    source.views["db"] = ["v"]
    found = WarehouseState(source).tables()
    table = found.to_arrow()
    assert table.select(["database", "name", "type"]).to_pylist() == [
        {"database": "db", "name": "t", "type": "table"},
        {"database": "db", "name": "v", "type": "view"},
        {"database": "other", "name": "u", "type": "table"},
    ]
    first = table.to_pylist()[0]
    known = ("rows", "files", "size", "snapshots", "commit_kind", "commit_user", "writers")
    assert [first[name] for name in known] == [10, 1, 100, 2, "APPEND", "bob", ["bob", "ada"]]
    assert str(first["last_commit"]) == "2023-11-14 22:15:20+00:00"
    assert found.to_pandas().shape == (3, 15)
    assert repr(found).splitlines()[0] == "/wh: 2 tables, 1 view"
    assert found.state()["figures"] == {"tables": 2, "files": 1, "size": 100, "problems": 0}
    assert found.code.python == "catalog.explore().tables()"
    assert len(WarehouseState(source).tables("other")) == 1


def test_hostile_names_are_escaped_in_every_form() -> None:
    history = History()
    history.commit(("+", "f"), commit_user=HOSTILE)
    state = WarehouseState(Source({HOSTILE_NAME: {HOSTILE_NAME: history}}))
    found = state.tables()
    assert "<img" not in found._repr_html_()
    assert "\u202e" not in repr(found)
    assert "\x1b" not in repr(found)
    assert found.to_arrow().column("name").to_pylist() == [HOSTILE_NAME]


def test_a_catalog_of_the_demo_has_a_row_for_each_table() -> None:
    found = pe.demo().explore().tables("demo", health=False).to_arrow()
    rows = {row["name"]: row for row in found.to_pylist()}
    counts = {name: (row["snapshots"], row["files"], row["rows"]) for name, row in rows.items()}
    assert counts["orders"] == (5, 15, 30)
    assert counts["empty"] == (0, 0, 0)
    assert rows["orders"]["comment"] == "Orders by day"
    assert [row["problem"] for row in rows.values()] == [None] * 11
