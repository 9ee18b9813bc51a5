import json

import numpy as np
import pytest

from paimon_explore.errors import InvalidInputError, MissingFileError, NotFoundError
from paimon_explore.inspection.explorer.explorer_state import Answer, ExplorerState
from paimon_explore.inspection.views.inspector import Inspector
from support.explored import History, golden_view, hostile_history, partitioned_history
from support.golden import GoldenTables


@pytest.fixture
def history() -> History:
    return partitioned_history()


@pytest.fixture
def state(history: History) -> ExplorerState:
    return ExplorerState(Inspector(history.view))


def plain(answer: Answer) -> dict[str, list[object]]:
    return {name: values.tolist() for name, values in answer.columns.items()}


def texts(columns: dict[str, list[object]], name: str) -> list[str]:
    data = bytes(np.array(columns[f"{name}_text"], np.uint8))
    ends = np.array(columns[f"{name}_end"], np.int64)
    starts = [0, *ends[:-1]]
    return [data[a:b].decode() for a, b in zip(starts, ends, strict=True)]


def test_the_timeline_comes_as_numbers(state: ExplorerState) -> None:
    answer = state.open()
    columns = plain(answer)
    assert columns["id"] == [1, 2]
    assert columns["kind"] == [0, 0]
    assert columns["total_rows"] == [20, 20]
    assert columns["delta_rows"] == [20, 0]
    assert texts(columns, "user") == ["user"]
    assert json.dumps(answer.body)
    table = answer.body["table"]
    assert isinstance(table, dict)
    assert table["chips"] == ["append table", "partitioned by p", "no buckets"]


def test_the_history_comes_as_lives(state: ExplorerState) -> None:
    answer = state.history()
    assert answer.body["done"] is True
    columns = plain(answer)
    rows = zip(columns["added"], columns["removed"], columns["level"], strict=True)
    assert sorted(rows) == [(1, 2, 0), (1, 3, 0), (2, 3, 5)]
    assert texts(columns, "partition") == ["p=x", "p=y"]


def test_the_files_of_one_snapshot_come_at_once(state: ExplorerState) -> None:
    answer = state.files(1)
    assert (answer.body["first"], answer.body["last"]) == (0, 0)
    assert plain(answer)["added"] == [0, 0]
    frame = answer.body["frame"]
    assert isinstance(frame, int)
    names = state.rows(frame, [1, 0]).body["rows"]
    assert names == [
        {"name": "f2@y", "min_key": "", "max_key": ""},
        {"name": "f1@x", "min_key": "", "max_key": ""},
    ]


def test_a_filter_gives_one_byte_per_file(state: ExplorerState) -> None:
    frame = state.history().body["frame"]
    assert isinstance(frame, int)
    assert sum(state.filter(frame, "level = 5").columns["mask"].tolist()) == 1
    with pytest.raises(InvalidInputError, match="no longer available"):
        state.filter(99, "level = 5")


def test_open_nodes_that_are_not_there_are_left_out(state: ExplorerState) -> None:
    children = state.tree(2, ["", "delta", "delta/7", "changelog"]).body["children"]
    assert isinstance(children, dict)
    assert sorted(children) == ["", "changelog", "delta"]
    assert children["changelog"] == {"nodes": [], "total": 0}


def test_a_node_that_cannot_be_read_has_its_problem_as_child(history: History) -> None:
    history.store.file_io.delete(history.store.paths.manifest("manifest-2-1"))
    state = ExplorerState(Inspector(history.view))
    children = state.tree(2, ["delta", "delta/0"]).body["children"]
    assert isinstance(children, dict)
    assert children["delta"]["total"] == 1
    (node,) = children["delta/0"]["nodes"]
    assert (node["type"], node["label"]) == ("problem", "MissingFileError")
    assert "manifest-2-1" in node["problem"]
    assert state.history().body["unknown"] == [1]
    with pytest.raises(MissingFileError):
        state.files(2)
    assert len(state.files(1).columns["added"]) == 2


@pytest.mark.parametrize(
    "node", ["", "x", "../1", "1/../2", "file/0", "file/0/0", "file/x/1", "1/delta/0/9/9", "-1"]
)
def test_nodes_that_cannot_be_are_refused(state: ExplorerState, node: str) -> None:
    with pytest.raises(InvalidInputError):
        state.detail(node)


def test_a_snapshot_that_is_not_there_is_named(state: ExplorerState) -> None:
    with pytest.raises(NotFoundError, match="Snapshot 9"):
        state.detail("9")
    with pytest.raises(NotFoundError):
        state.checked_snapshot(9)


def test_the_code_follows_what_is_shown(state: ExplorerState) -> None:
    frame = state.history().body["frame"]
    assert state.code(2, "files", "p = 'x'", "")[0] == "t.at(snapshot=2).files(where=\"p = 'x'\")"
    assert state.code(2, "partitions", "", "")[0] == "t.at(snapshot=2).partitions()"
    assert state.code(2, "files", "", "2/delta/0")[0] == "t.at(snapshot=2).inspect.node('delta/0')"
    python, spark = state.code(2, "files", "", f"file/{frame}/0")
    assert python == "t.at(snapshot=2).inspect.file('f1@x')"
    assert ".option('scan.snapshot-id', 2)" in spark
    assert state.code(0, "files", "", "")[0] == "t.inspect.timeline()"


def test_an_expired_snapshot_is_reached_through_its_tag(golden: GoldenTables) -> None:
    state = ExplorerState(Inspector(golden_view(golden.table("java200", "tags").folder)))
    python, spark = state.code(1, "files", "", "")
    assert python == "t.at(tag='tag0').files()"
    assert ".option('scan.tag-name', 'tag0')" in spark


def test_hostile_names_pass_through_as_data() -> None:
    state = ExplorerState(Inspector(hostile_history().view))
    frame = state.history().body["frame"]
    assert isinstance(frame, int)
    assert "onerror" in texts(plain(state.open()), "user")[0]
    for answer in (state.open(), state.rows(frame, [0]), state.detail("1/delta/0/0")):
        assert "onerror" in json.dumps(answer.body)
    python, _ = state.code(1, "files", "", f"file/{frame}/0")
    compile(python, "echo", "eval")
    assert "\u202e" not in python


def test_more_files_than_a_browser_should_hold_come_as_groups_until_a_filter_leaves_few() -> None:
    history = History({"a": "INT", "p": "STRING"}, ["p"])
    history.commit(*(("+", f"f{i}@x") for i in range(6)), *(("+", f"g{i}@y") for i in range(2)))
    history.commit(("-", "f0@x"), ("+", "h@x", 5))
    state = ExplorerState(Inspector(history.view), max_files=5)
    while not (answer := state.history()).body["done"]:
        pass
    assert answer.body["grouped"] is True
    groups = {name: values.tolist() for name, values in answer.columns.items()}
    names = ("partition", "level", "added", "removed", "files", "rows")
    found = sorted(zip(*(groups[name] for name in names), strict=True))
    assert found == [
        (0, 0, 1, 2, 1, 10),
        (0, 0, 1, 3, 5, 50),
        (0, 5, 2, 3, 1, 10),
        (1, 0, 1, 3, 2, 20),
    ]
    frame = answer.body["frame"]
    assert isinstance(frame, int)
    largest = groups["files"].index(5)
    assert state.rows(frame, [largest]).body["rows"] == [
        {"name": "5 files", "min_key": "5 files", "max_key": ""}
    ]
    assert state.detail(f"file/{frame}/{largest}").body["title"] == "5 files"
    few = state.filter(frame, "p = 'y'")
    assert few.body["grouped"] is False
    assert len(few.columns["size"]) == 2
    again = state.filter(int(str(few.body["frame"])), "level = 5 or p = 'y'")
    assert len(again.columns["size"]) == 3
    many = state.filter(frame, "p = 'x'")
    assert many.body["grouped"] is True
    with pytest.raises(InvalidInputError, match="groups several files has no bytes"):
        state.bytes(f"file/{many.body['frame']}/0")
