"""The Profile view through the requests of the front end, and the condition on rows."""

from typing import Any

import pyarrow as pa
import pytest
import traitlets

from paimon_explore.errors import InvalidInputError, PaimonError
from paimon_explore.inspection.explorer.explorer_state import ExplorerState
from paimon_explore.inspection.profile.table_profile import Profile
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.widgets.widget_requests import answer
from support.small_tables import append_table, columns, keyed_table

ROWS = [{"k": n, "v": f"value {n % 3}"} for n in range(12)]
SCHEMA = columns(k=pa.int32(), v=pa.string())


def asked(state: ExplorerState, **message: object) -> Any:  # noqa: ANN401 - JSON
    return answer(state, message).body


def new_state() -> ExplorerState:
    return ExplorerState(Inspector(append_table(SCHEMA, ROWS)._view()))


def all_rows(state: ExplorerState, number: int) -> Any:  # noqa: ANN401 - JSON
    while True:
        found = asked(state, op="profile_rows", number=number, columns=0)
        if found["complete"]:
            return found


def test_the_view_opens_with_statistics_and_then_reads_the_rows() -> None:
    state = new_state()
    opened = asked(state, op="profile", snapshot=1, where="")
    assert (opened["origin"], opened["rows"], opened["exact"]) == ("statistics", 12, True)
    assert [one["histogram"] for one in opened["columns"]] == [None, None]
    found = all_rows(state, opened["number"])
    assert (found["origin"], found["rows"], found["stored"], found["total"]) == (
        ("rows", 12, 12, 12)
    )
    assert found["columns"][0]["histogram"]["counts"] == [1] * 12


def test_a_step_can_send_what_there_is() -> None:
    state = new_state()
    number = asked(state, op="profile", snapshot=1, where="")["number"]
    found = asked(state, op="profile_rows", number=number, columns=1)
    assert found["columns"][1]["frequent"][0] == {"value": "value 0", "count": 4}


def test_parts_of_columns_become_conditions() -> None:
    state = new_state()
    number = asked(state, op="profile", snapshot=1, where="")["number"]
    all_rows(state, number)
    part = {"op": "profile_condition", "number": number, "where": "v IS NULL AND k = 1"}
    cases = {
        ("range", 0, 2, 4): "v IS NULL AND k >= 2 AND k < 5",
        ("range", 0, 9, 11): "v IS NULL AND k >= 9 AND k <= 11",
        ("value", 1, 1, 1): "k = 1 AND v = 'value 1'",
        ("nulls", 0, 0, 0): "v IS NULL AND k IS NULL",
    }
    for (kind, column, first, last), where in cases.items():
        given = {"part": kind, "column": column, "first": first, "last": last}
        assert asked(state, **part, **given) == {"where": where}
    wrong = [("range", 0, 0, 12), ("range", 1, 0, 0), ("value", 1, 3, 3), ("all", 0, 0, 0),
             ("nulls", 2, 0, 0)]  # fmt: skip
    for kind, column, first, last in wrong:
        given = {"part": kind, "column": column, "first": first, "last": last}
        with pytest.raises(InvalidInputError):
            asked(state, **part, **given)


def test_a_profile_that_was_replaced_cannot_be_continued() -> None:
    state = new_state()
    first = asked(state, op="profile", snapshot=1, where="")["number"]
    second = asked(state, op="profile", snapshot=1, where="k > 3")
    assert second["where"] == "k > 3"
    with pytest.raises(InvalidInputError, match="Another profile was opened"):
        asked(state, op="profile_rows", number=first, columns=0)
    assert all_rows(state, second["number"])["rows"] == 8


def test_conditions_are_checked_and_normalized() -> None:
    state = new_state()
    given = {"op": "condition", "snapshot": 1}
    assert asked(state, **given, text=" k  BETWEEN 1 and 2 ") == {"where": "k >= 1 AND k <= 2"}
    assert asked(state, **given, text=" ") == {"where": ""}
    for text in ("nope = 1", "k >", "k = 'x'"):
        with pytest.raises(PaimonError):
            asked(state, **given, text=text)


def test_a_table_without_snapshots_has_a_profile() -> None:
    state = ExplorerState(Inspector(append_table(SCHEMA)._view()))
    opened = asked(state, op="profile", snapshot=0, where="")
    assert (opened["rows"], len(opened["columns"])) == (0, 2)
    assert all_rows(state, opened["number"])["rows"] == 0


def test_the_condition_on_rows_is_a_trait_that_views_use() -> None:
    explorer = keyed_table(SCHEMA, ROWS, primary_key=["k"]).explore()
    explorer.where = "k >= 7"
    explorer.tab = "profile"
    found = explorer.result()
    assert isinstance(found, Profile)
    assert found.where == "k >= 7"
    assert explorer.code == "t.profile(where='k >= 7')"
    explorer.tab = "explain"
    assert explorer.code == "t.explain(where='k >= 7')"
    explorer.asked = {"explain": "k = 1"}
    assert explorer.code == "t.explain(where='k = 1')"
    with pytest.raises(traitlets.TraitError, match="nope"):
        explorer.where = "nope = 1"
    assert explorer.where == "k >= 7"
    explorer.where = ""
    assert explorer.state()["traits"]["where"] == ""  # type: ignore[index]  # JSON
