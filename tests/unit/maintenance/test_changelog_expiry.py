"""Changelogs that outlive their snapshots: what goes with them, and with the snapshots before."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from itertools import count, product
from types import MappingProxyType
from uuid import uuid4

import pytest

from paimon_explore import Catalog, Table, open_table
from paimon_explore.metadata.consumer import Consumer
from support.depth import some
from support.figures import Figures
from support.lifecycle import KEYED
from support.memory_files import forget_files, forget_manifests

LATER = datetime(2100, 1, 1)  # noqa: DTZ001 - local, as the API takes it
LONG_LIVED = {"changelog.num-retained.max": "1000", "changelog.time-retained": "9999 d"}
PRODUCERS = ("none", "input", "lookup")

Act = Callable[[Table], object]
_NUMBERS = count(100)


@pytest.fixture
def space() -> Iterator[str]:
    """The name of a file set in memory."""
    name = str(uuid4())
    yield name
    forget_files(name)


def new_table(space: str, options: Mapping[str, str]) -> Table:
    """A table with the key `k` and two snapshots or more."""
    catalog = Catalog(f"memory://{space}/w")
    catalog.create_database("db", if_not_exists=True)
    given = {"bucket": "1", **LONG_LIVED, **options}
    table = catalog.create_table(f"db.{uuid4()}", KEYED, primary_key=["k"], options=given)
    for number in range(2):
        table.upsert([{"k": number, "v": "old"}])
    return table


def expire_snapshots(table: Table) -> object:
    return table.maintenance.expire_snapshots(retain_max=1, older_than=LATER)


def expire_changelogs(table: Table, kept: int = 1) -> tuple[int, ...]:
    report = table.maintenance.expire_changelogs(retain_min=kept, retain_max=kept, older_than=LATER)
    return report.expired


def tag_or_untag(table: Table) -> object:
    return table.delete_tag("t") if "t" in table.tags else table.create_tag("t")


def change_producer(table: Table) -> object:
    is_none = table.schema.options.get("changelog-producer", "none") == "none"
    return table.set_options({"changelog-producer": "input" if is_none else "none"})


ACTS: Mapping[str, Act] = MappingProxyType(
    {
        "upsert": lambda t: t.upsert([{"k": 1, "v": "new"}, {"k": next(_NUMBERS), "v": "new"}]),
        "compact": lambda t: t.compact(full=True),
        "overwrite": lambda t: t.overwrite([{"k": 5, "v": "other"}]),
        "expire snapshots": expire_snapshots,
        "expire changelogs": expire_changelogs,
        "tag or untag": tag_or_untag,
        "change producer": change_producer,
    }
)
LAST = ("compact", "expire snapshots", "expire changelogs")
HISTORIES = list(product(PRODUCERS, product(ACTS, repeat=3)))


def changes(table: Table) -> dict[int, list[str]]:
    """What each long-lived changelog of this producer gives."""
    producer = table.schema.options.get("changelog-producer", "none")
    mode = "delta" if producer == "none" else "changelog"
    schemas = table._store.schemas
    found = {}
    for log in table._store.changelogs.list():
        if schemas.load(log.schema_id).options.get("changelog-producer", "none") == producer:
            rows = table.between(log.id - 1, log.id, mode=mode, row_kinds=True).to_arrow()
            found[log.id] = sorted(map(str, rows.to_pylist()))
    return found


def test_no_order_of_expiries_and_changes_leaves_orphans(space: str, figures: Figures) -> None:
    histories = some(HISTORIES, 43)
    for producer, acts in histories:
        table = new_table(space, {"changelog-producer": producer})
        known: dict[int, list[str]] = {}
        for name in (*acts, *LAST):
            ACTS[name](table)
            table = open_table(table.path)
            forget_manifests()
            orphans = table.maintenance.remove_orphan_files(older_than=LATER)
            assert orphans.files == (), (producer, acts, name)
            now = changes(table)
            assert {i: rows for i, rows in known.items() if i in now}.items() <= now.items()
            known |= now
        assert table.maintenance.fsck() == []
    figures.add("orders of expiries and changes", len(histories))


def below_a_branch(table: Table) -> Table:
    """Main becomes a branch whose first snapshots have expired."""
    table.create_tag("one")
    table.create_branch("side", "one")
    side = open_table(table.path, branch="side")
    for number in range(3):
        side.overwrite([{"k": number, "v": "side"}])
    expire_snapshots(side)
    table.overwrite([{"k": 3, "v": "main"}])
    expire_snapshots(table)
    table.fast_forward("side")
    return open_table(table.path)


def below_short_lived_ones(table: Table) -> Table:
    """For some time, no changelog outlives its snapshot."""
    expire_snapshots(table)
    table.set_options({"changelog.num-retained.max": "1", "changelog.time-retained": "1 ms"})
    table = open_table(table.path)
    for number in range(3):
        table.overwrite([{"k": number, "v": "short"}])
    expire_snapshots(table)
    return table


@pytest.mark.parametrize("producer", PRODUCERS)
@pytest.mark.parametrize("gap", [below_a_branch, below_short_lived_ones])
def test_changelogs_below_a_gap_expire(
    space: str, producer: str, gap: Callable[[Table], Table]
) -> None:
    table = gap(
        new_table(space, {"changelog-producer": producer, "snapshot.num-retained.min": "1"})
    )
    logs, latest = table._store.changelogs.ids(), table._store.snapshots.latest_id() or 0
    assert logs
    assert logs[-1] < table._store.snapshots.ids()[0] - 1
    assert expire_changelogs(table, latest) == ()
    assert expire_changelogs(table, latest - logs[0]) == (logs[0],)
    assert expire_changelogs(table) == tuple(logs[1:])
    assert table._store.changelogs.ids() == []
    table.maintenance.remove_orphan_files(older_than=LATER, dry_run=False)
    assert table.maintenance.fsck(read_rows=True) == []


@pytest.mark.parametrize("producer", PRODUCERS)
def test_young_changelogs_below_a_gap_stay(space: str, producer: str) -> None:
    options = {"changelog-producer": producer, "snapshot.num-retained.min": "1"}
    table = below_a_branch(new_table(space, options))
    logs, latest = table._store.changelogs.ids(), table._store.snapshots.latest_id() or 0
    expire_changelogs(table, latest - logs[-2])
    assert table.maintenance.expire_changelogs().expired == ()
    table._store.consumers.save("in the gap", Consumer(next_snapshot=logs[-1] + 1))
    assert table.maintenance.expire_changelogs().expired == ()
    assert table._store.changelogs.ids() == logs[-1:]


def test_changelogs_below_a_gap_stay_beside_a_stray_snapshot(space: str) -> None:
    table = new_table(space, {})
    expire_snapshots(table)
    store = table._store
    logs, latest = store.changelogs.ids(), store.snapshots.latest_id() or 0
    content = store.file_io.read(store.paths.snapshot(latest))
    far = content.replace(b'"id" : %d' % latest, b'"id" : %d' % (latest + 100))
    store.file_io.replace(store.paths.snapshot(latest + 100), far)
    store.snapshots.write_latest_hint(latest + 100)
    assert store.snapshots.history() == [latest + 100]
    assert expire_changelogs(table) == ()
    assert store.changelogs.ids() == logs
