import json
import time
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest

import paimon_explore as pe
from paimon_explore.errors import InvalidInputError
from paimon_explore.inspection.explain.expiry_preview import changed_retention, retention_settings
from paimon_explore.maintenance.expiry.snapshot_expiry import Retention
from paimon_explore.metadata.consumer import Consumer
from support.small_tables import columns, new_catalog

COLUMNS = columns(k=pa.int32())
DAY = 86_400_000


@pytest.fixture
def table(tmp_path: Path) -> pe.Table:
    """Six commits, each of which replaces the rows of the one before."""
    made = new_catalog(tmp_path).create_table("db.t", COLUMNS)
    for number in range(6):
        made.overwrite([{"k": number}])
    return made


def test_what_it_previews_is_what_then_happens(table: pe.Table) -> None:
    found = table.what_if.expire_snapshots(retain_max=2)
    assert found.expiring == (1, 2, 3, 4)
    before = {p for p in Path(table.path).rglob("*") if p.is_file()}
    sizes = {str(path): path.stat().st_size for path in before}
    done = table.maintenance.expire_snapshots(retain_max=2)
    gone = {str(p) for p in before} - {str(p) for p in Path(table.path).rglob("*") if p.is_file()}
    removed = {str(row["path"]).removeprefix("file://") for row in found.to_arrow().to_pylist()}
    assert removed == {path for path in gone if "/snapshot/" not in path}
    assert found.report.files == done.files
    assert found.freed_bytes == sum(sizes[path] for path in removed)


def test_nothing_is_removed(table: pe.Table) -> None:
    before = sorted(Path(table.path).rglob("*"))
    table.what_if.expire_snapshots(retain_max=1)
    assert sorted(Path(table.path).rglob("*")) == before


def test_what_holds_back_is_named(table: pe.Table) -> None:
    table.create_tag("old", 2)
    changes = list(table.changes(consumer_id="reader", to_snapshot=3))
    assert [change.snapshot.id for change in changes] == [1, 2, 3]
    found = table.what_if.expire_snapshots(retain_max=1)
    held = {(one.kind, one.name): (one.snapshots, one.files) for one in found.held}
    assert held[("consumer", "reader")] == (3, 0)
    assert held[("tag", "old")] == (0, 1)
    assert found.expiring == (1, 2)
    young = table.what_if.expire_snapshots()
    assert young.expiring == ()
    assert ("option", "snapshot.num-retained.min") not in {(h.kind, h.name) for h in young.held}


def test_arguments_are_those_of_the_expiry(table: pe.Table) -> None:
    time.sleep(0.002)  # a commit of this very millisecond is not older than now
    assert table.what_if.expire_snapshots(retain_min=1, older_than=timedelta(0)).expiring == (
        1,
        2,
        3,
        4,
        5,
    )
    found = table.what_if.expire_snapshots(retain_min=1, older_than="0 s")
    assert found.expiring == (1, 2, 3, 4, 5)
    assert table.what_if.expire_snapshots(retain_min=1, older_than="1 d").expiring == ()
    assert found.code.python == "t.what_if.expire_snapshots(retain_min=1, older_than='0 s')"
    for age in (timedelta(hours=2), timedelta(days=1, milliseconds=3), "2 h", "2026-01-01"):
        found = table.what_if.expire_snapshots(older_than=age)
        again = eval(found.code.python, {"t": table})  # noqa: S307 - ours
        assert abs(again.retention.keep_after_ms - found.retention.keep_after_ms) < 60_000
    with pytest.raises(InvalidInputError, match="retain_max"):
        table.what_if.expire_snapshots(retain_min=5, retain_max=2)


def test_the_words_of_the_explorer_mean_the_same() -> None:
    standing = Retention(retain_min=10, retain_max=100, keep_after_ms=5, limit=50)
    settings = retention_settings("retain_max=3, older_than=1 d, limit=7")
    found = changed_retention(settings, standing, 10 * DAY)
    assert found == Retention(retain_min=3, retain_max=3, keep_after_ms=9 * DAY, limit=7)
    assert changed_retention(retention_settings(""), standing, 0) == standing
    at = changed_retention(retention_settings("older_than='1970-01-03T00:00Z'"), standing, 0)
    assert at.keep_after_ms == 2 * DAY
    both = changed_retention({"retain_min": "5", "retain_max": "3"}, standing, 0)
    assert (both.retain_min, both.retain_max) == (5, 3)  # refused, as by the expiry
    for refused in ("5", "1", "tomorrow"):
        with pytest.raises(InvalidInputError, match="older_than"):
            changed_retention({"older_than": refused}, standing, 0)
    with pytest.raises(InvalidInputError, match="'soon' is not a retention setting"):
        changed_retention(retention_settings("soon"), standing, 0)


def test_consumers_of_changelogs_alone_keep_no_snapshots(table: pe.Table) -> None:
    table._store.consumers.save("reader", Consumer(next_snapshot=3))
    before = table.what_if.expire_snapshots(retain_min=1, retain_max=1)
    assert "consumer" in {one.kind for one in before.held}
    table.set_options({"consumer.changelog-only": "true"})
    table = pe.open_table(table.path)
    found = table.what_if.expire_snapshots(retain_min=1, retain_max=1)
    assert "consumer" not in {one.kind for one in found.held}
    removed = str(table.at(snapshot=4).files().table.column("file_name")[0].as_py())
    assert {one.kind for one in table.inspect.why(removed).holders} == {"snapshots"}
    assert found.expiring == table.maintenance.expire_snapshots(retain_min=1, retain_max=1).expired


def test_all_faces_are_there(table: pe.Table) -> None:
    found = table.what_if.expire_snapshots(retain_max=2)
    assert repr(found).startswith("db.t: 4 snapshots would expire, ")
    assert json.dumps(found.state())
    assert "<table>" in found._repr_html_()
    assert len(found.plot().to_json()) < 60_000
    assert found.to_pandas().shape[0] == len(found.report.files)
