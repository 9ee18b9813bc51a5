"""What the reports of the explorer say of a table of which a metadata file cannot be read."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import paimon_explore as pe
from paimon_explore.errors import PaimonError
from paimon_explore.inspection.explorer.explorer_reports import REPORTS, Hint
from paimon_explore.inspection.explorer.explorer_state import ExplorerState, ViewInput
from paimon_explore.inspection.health.health_report import Health, table_health
from paimon_explore.inspection.health.health_rules import RULES
from paimon_explore.inspection.rendering.result import Result
from paimon_explore.inspection.views.inspector import Inspector
from paimon_explore.inspection.views.partition_heatmap import PartitionHeat, partition_heat
from paimon_explore.inspection.views.schema_history import SchemaHistory
from paimon_explore.store.manifests import shared_cache
from paimon_explore.table.table import Table
from support.explored import History
from support.small_tables import new_catalog

NOW = 1_800_000_000_000


def lose_manifest(history: History) -> None:
    history.store.file_io.delete(history.store.paths.manifest("manifest-2-1"))


def cut_manifest(history: History) -> None:
    path = history.store.paths.manifest("manifest-2-1")
    data = history.store.file_io.read(path)
    history.store.file_io.delete(path)
    assert history.store.file_io.create(path, data[:-40])


def lose_list(history: History) -> None:
    history.store.file_io.delete(history.store.paths.manifest("manifest-list-2-1"))


LOSSES = {"lost": lose_manifest, "cut": cut_manifest, "list lost": lose_list}


def damaged(loss: Callable[[History], None]) -> ExplorerState:
    """A table of two snapshots; the newest one refers to a file that cannot be read."""
    history = History({"a": "INT", "p": "STRING"}, ["p"])
    history.commit(("+", "f1@x"))
    history.commit(("+", "f2@y"))
    loss(history)
    return ExplorerState(Inspector(history.view))


def shown(state: ExplorerState, pane: str) -> Result | PaimonError:
    try:
        return state.result(pane, 2, ViewInput())
    except PaimonError as error:
        return error


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_every_report_tells_of_a_file_that_cannot_be_read(loss: Callable[[History], None]) -> None:
    state = damaged(loss)
    silent = []
    for pane in REPORTS:
        found = shown(state, pane)
        text = str(found) if isinstance(found, PaimonError) else json.dumps(found.state())
        if "manifest-2-1" not in text and "manifest-list-2-1" not in text:
            silent.append((pane, "cannot be read" in text))
    assert silent == [("heat", True), ("key", False), ("expiry", False)]


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_health_does_not_pass_rules_that_it_cannot_evaluate(
    loss: Callable[[History], None],
) -> None:
    health = shown(damaged(loss), "health")
    assert isinstance(health, Health)
    assert health.not_evaluated > 5
    text = repr(health)
    assert f"; {health.not_evaluated} of {len(RULES)} rules not evaluated" in text
    assert f"{health.not_evaluated} health rules could not be evaluated" in text
    assert "passed" not in text


def test_a_table_that_can_be_read_has_all_rules_evaluated() -> None:
    history = History()
    history.commit(("+", "a"))
    health = table_health(Inspector(history.view), NOW)
    assert (health.not_evaluated, len(health.problems)) == (0, 0)


def test_the_schema_history_does_not_need_the_files() -> None:
    found = shown(damaged(lose_manifest), "schema")
    assert isinstance(found, SchemaHistory)
    assert [(v.schema.id, v.live_files, v.snapshots) for v in found.versions] == [(0, None, 2)]
    assert [one.kind for one in found.problems] == ["MissingFileError"]
    assert '["versions used by live files", "unknown"]' in json.dumps(found.state())
    assert set(found.to_arrow().column("live_files").to_pylist()) == {None}


def test_the_heat_map_says_which_snapshots_are_absent() -> None:
    found = shown(damaged(lose_manifest), "heat")
    assert isinstance(found, PartitionHeat)
    assert found.unknown == (2,)
    assert "The changes of 1 snapshot (2) are absent" in repr(found)


def test_a_view_that_asks_for_a_name_still_asks() -> None:
    found = shown(damaged(lose_manifest), "why")
    assert isinstance(found, Hint)
    assert found.examples == ("manifest-list-2-0", "manifest-list-2-1")
    assert found.problems
    assert found.problems[0].path.endswith("manifest-2-1")


def findings(table: Table, rule: str) -> list[str]:
    return [one.what for one in table.health() if one.rule == rule]


def test_a_gap_between_snapshots_is_found(tmp_path: Path) -> None:
    table = written(tmp_path, commits=6)
    assert findings(table, "missing snapshot") == []
    for number in (3, 4):
        (Path(table.path) / "snapshot" / f"snapshot-{number}").unlink()
    what = "snapshot-3 and 1 more, between snapshots 1 and 6, do not exist"
    assert findings(pe.open_table(table.path), "missing snapshot") == [what]


def test_a_schema_that_live_files_need_is_found_if_it_is_missing(tmp_path: Path) -> None:
    table = written(tmp_path, commits=1)
    for name in ("b", "c"):
        table.add_column(name, "INT")
        table.append([{"a": 1}])
    assert findings(table, "missing schema") == []
    (Path(table.path) / "schema" / "schema-1").unlink()
    table = pe.open_table(table.path)
    what = "schema-1, in which live data files are written, does not exist"
    assert findings(table, "missing schema") == [what]
    history = table.inspect.schema_history()
    assert [one.schema.id for one in history.versions] == [0, 2]
    assert [one.message for one in history.problems] == [
        f"Schema 1 does not exist in {table.path}."
    ]


def test_a_lost_manifest_that_two_snapshots_list_is_told_once(tmp_path: Path) -> None:
    table = written(tmp_path, commits=2)
    assert table.snapshot is not None
    (name,) = table._store.manifests.list(table.snapshot.delta_manifest_list).names
    table.append([{"a": 2}])
    (Path(table.path) / "manifest" / name).unlink()
    shared_cache().clear()
    state = ExplorerState(Inspector(pe.open_table(table.path)._view()))
    told = json.dumps(state.history().body["problems"])
    assert told.count('"message"') == 1
    assert name in told


def written(folder: Path, *, commits: int) -> Table:
    """A table with a column `a` in a warehouse on disk."""
    table = new_catalog(folder).create_table("db.t", {"a": "INT"})
    for number in range(commits):
        table.append([{"a": number}])
    return table


def test_tables_without_snapshots_are_named_the_same_in_all_reports() -> None:
    state = ExplorerState(Inspector(History().view))
    for pane in REPORTS:
        text = json.dumps(state.result(pane, 0, ViewInput()).state())
        assert "snapshot none" not in text
        assert "NotFoundError" not in text
    assert "db.t without snapshots: no findings" in repr(state.result("health", 0, ViewInput()))


def test_a_heat_map_says_what_it_leaves_out() -> None:
    history = History({"a": "INT", "p": "STRING"}, ["p"])
    for number in range(61):
        history.commit(("+", f"f{number}@p{number % 31}"))
    title = partition_heat(Inspector(history.view)).to_report().charts[0].title
    assert title.endswith("; the latest 30 of 31 partitions; the latest 60 of 61 snapshots)")
