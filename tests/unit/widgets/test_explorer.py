import json
import re
from pathlib import Path

import pyarrow as pa
import pytest
import traitlets

from paimon_explore.errors import InvalidInputError, NotFoundError
from paimon_explore.inspection.explorer.explorer_reports import REPORTS
from paimon_explore.inspection.explorer.explorer_tabs import GROUPS, TABS, Opening
from paimon_explore.inspection.rows.rows_view import RowsView
from paimon_explore.inspection.views.files_view import FilesView
from paimon_explore.inspection.views.partitions_view import PartitionsView
from paimon_explore.widgets import explorer as module
from paimon_explore.widgets.explorer import Explorer, explore
from support.explored import History, hostile_history, partitioned_history
from support.small_tables import append_table, columns

FRONTEND = Path(module.__file__).parent / "frontend" / "src"


class Screen:
    """What a front end would receive."""

    def __init__(self, widget: Explorer) -> None:
        self.received: list[tuple[dict[str, object], list[bytes]]] = []
        self._widget = widget
        widget.send = self._take  # in place of a websocket

    def _take(self, content: dict[str, object], buffers: list[bytes] | None = None) -> None:
        self.received.append((content, buffers or []))

    def ask(self, message: object) -> dict[str, object]:
        before = len(self.received)
        self._widget._receive(None, message, [])
        return self.received[-1][0] if len(self.received) > before else {}


@pytest.fixture
def history() -> History:
    return partitioned_history()


def test_the_front_end_lists_exactly_the_synced_traits() -> None:
    source = (FRONTEND / "selection_store.js").read_text(encoding="utf-8")
    typed = re.search(r"@typedef \{object\} Traits\n(.*?)\*/", source, re.DOTALL)
    listed = re.search(r"TRAITS = \[(.*?)\]", source, re.DOTALL)
    assert typed is not None
    assert listed is not None
    documented = re.findall(r"@property \{[\w<>, ]+\} (\w+)", typed.group(1))
    own = sorted(name for name in Explorer.class_own_traits(sync=True) if name[0] != "_")
    assert sorted(documented) == own
    assert sorted(re.findall(r'"(\w+)"', listed.group(1))) == own


@pytest.mark.parametrize(
    ("tab", "kind"), [("rows", RowsView), ("files", FilesView), ("partitions", PartitionsView)]
)
def test_views_of_tables_have_results(history: History, tab: str, kind: type) -> None:
    assert isinstance(explore(history.view, Opening(tab=tab)).result(), kind)


def test_a_view_without_result_says_so(history: History) -> None:
    with pytest.raises(InvalidInputError, match=r"'bytes' has no result"):
        explore(history.view, Opening(tab="bytes")).result()


def test_it_opens_at_the_newest_snapshot_and_follows_what_is_set(history: History) -> None:
    e = explore(history.view)
    assert (e.selected, e.tab, e.code) == (2, "overview", "t.at(snapshot=2).inspect.overview()")
    assert e.result().kind == "overview"
    e.tab = "files"
    e.selected = 1
    e.filter = "p = 'x'"
    assert e.code == "t.at(snapshot=1).files(where=\"p = 'x'\")"
    assert e.files().table.column("file_name").to_pylist() == ["f1@x"]


def test_a_snapshot_that_is_not_there_cannot_be_selected(history: History) -> None:
    e = explore(history.view)
    with pytest.raises(traitlets.TraitError, match="Snapshot 9"):
        e.selected = 9
    assert e.selected == 2
    with pytest.raises(NotFoundError, match="Snapshot 9"):
        explore(history.view, Opening(snapshot=9))
    with pytest.raises(InvalidInputError, match="height"):
        explore(history.view, height=3)


def test_each_tab_is_in_one_of_six_groups_and_has_a_report_or_a_view_in_the_browser() -> None:
    source = (FRONTEND / "explorer_tabs.js").read_text(encoding="utf-8")
    listed = re.search(r"KINDS = \{(.*?)\n\};", source, re.DOTALL)
    assert listed is not None
    views = set(re.findall(r"(\w+): \{ create", listed.group(1)))
    assert views < set(TABS) <= views | set(REPORTS)
    assert len(set(TABS)) == len(TABS)
    assert len(GROUPS) == 6


@pytest.mark.parametrize(
    ("opening", "traits"),
    [
        (Opening(), {"tab": "overview"}),
        (Opening(filter="level = 0"), {"tab": "files", "filter": "level = 0"}),
        (Opening(compare=1), {"tab": "diff", "compare": 1}),
        (Opening(tab="files", compare=1), {"tab": "files", "compare": 1}),
        (Opening(tab="explain", text="p = 'x'"), {"asked": {"explain": "p = 'x'"}}),
        (Opening(tab="lsm", snapshot=1), {"tab": "lsm", "selected": 1}),
        (Opening(snapshot="1"), {"selected": 1}),
    ],
)
def test_it_opens_where_it_is_told(
    history: History, opening: Opening, traits: dict[str, object]
) -> None:
    e = explore(history.view, opening)
    assert {name: getattr(e, name) for name in traits} == traits


@pytest.mark.parametrize(
    ("opening", "message"),
    [
        (Opening(tab="exlain"), "The explorer has no tab 'exlain'. Did you mean 'explain'?"),
        (Opening(tab="files", text="level = 0"), "The tab 'files' has no input"),
        (Opening(text="level = 0"), "The tab 'overview' has no input"),
    ],
)
def test_a_wrong_place_is_named(history: History, opening: Opening, message: str) -> None:
    with pytest.raises(InvalidInputError) as raised:
        explore(history.view, opening)
    assert message in str(raised.value)


def test_requests_are_answered_with_their_number(history: History) -> None:
    screen = Screen(explore(history.view))
    opened = screen.ask({"id": 5, "op": "open"})
    assert (opened["id"], opened["ok"]) == (5, True)
    assert screen.received[-1][1] != []
    refused = screen.ask({"id": 6, "op": "detail", "node": "9"})
    assert (refused["id"], refused["ok"]) == (6, False)
    error = refused["error"]
    assert isinstance(error, dict)
    assert error["kind"] == "NotFoundError"


@pytest.mark.parametrize(
    "message",
    [
        {"id": 1, "op": "delete"},
        {"id": 1, "op": "__class__"},
        {"id": 1, "op": ["open"]},
        {"id": 1, "op": "rows", "frame": 0, "rows": [-1]},
        {"id": 1, "op": "rows", "frame": 0, "rows": [True]},
        {"id": 1, "op": "rows", "frame": 0, "rows": list(range(5000))},
        {"id": 1, "op": "tree", "snapshot": 1, "keys": ["../../etc/passwd"]},
        {"id": 1, "op": "tree", "snapshot": "1", "keys": []},
        {"id": 1, "op": "filter", "frame": 0, "text": "x" * 10_000},
        {"id": 1, "op": "detail"},
    ],
)
def test_messages_that_are_no_request_are_refused(history: History, message: object) -> None:
    answer = Screen(explore(history.view)).ask(message)
    error = answer["error"]
    assert isinstance(error, dict)
    assert error["kind"] == "InvalidInputError"


def test_messages_without_a_number_are_ignored(history: History) -> None:
    screen = Screen(explore(history.view))
    assert screen.ask({"op": "open"}) == {}
    assert screen.ask("open") == {}
    assert screen.ask({"id": True, "op": "open"}) == {}


def test_without_a_kernel_a_static_picture_is_left(history: History) -> None:
    made = explore(history.view)._repr_mimebundle_()
    assert made is not None
    data, _ = made
    assert sorted(data) == [
        "application/vnd.jupyter.widget-view+json",
        "application/vnd.paimon-explore.widget+json",
        "text/html",
        "text/plain",
    ]
    assert "What this table is" in str(data["text/html"])
    assert len(str(data["text/html"])) < 30_000


def test_a_page_is_saved_for_later(history: History, tmp_path: Path) -> None:
    explore(history.view).save_html(tmp_path / "t.html")
    assert "snapshot 2" in (tmp_path / "t.html").read_text(encoding="utf-8")


def test_a_damaged_table_can_still_be_shown(history: History) -> None:
    history.store.file_io.delete(history.store.paths.manifest("manifest-list-2-0"))
    history.store.file_io.replace(history.store.paths.snapshot(1), b'{"version": 99}')
    e = explore(history.view)
    made = e._repr_mimebundle_()
    assert made is not None
    assert "manifest-list-2-0" in str(made[0]["text/html"])
    assert "files cannot be listed" in repr(e)
    screen = Screen(e)
    assert screen.ask({"id": 1, "op": "open"})["ok"] is True
    assert screen.ask({"id": 2, "op": "history"})["ok"] is True


def test_the_state_is_json(history: History) -> None:
    assert json.loads(json.dumps(explore(history.view).state()))["traits"]["selected"] == 2
    assert json.dumps(explore(hostile_history().view).state())


def test_the_rows_view_sets_the_code_and_has_a_method() -> None:
    schema = columns(k=pa.int32())
    table = append_table(schema, [{"k": 1}, {"k": 2}])
    e = explore(table._view())
    e.tab = "rows"
    e.asked = {"rows": '{"where": "k > 1"}'}
    screen = Screen(e)
    message = {"id": 1, "op": "rows_open", "snapshot": 1, "text": e.asked["rows"], "node": ""}
    assert screen.ask(message)["ok"] is True
    assert e.code == "t.rows(where='k > 1')"
    assert e.spark_code.endswith(".where('k > 1')")
    assert e.rows().to_arrow().to_pylist() == [{"k": 2}]
    assert screen.ask({"id": 2, "op": "rows_page", "handle": 1})["ok"] is False
