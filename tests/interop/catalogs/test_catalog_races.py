"""Processes that commit to one table of a catalog at once, with lost replies.

Every commit that was reported as done is there exactly once, and nothing else. The deep run has 8
processes with 25 commits each.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Barrier

import pytest

from catalogs.homes import HOMES, Home, Homes
from paimon_explore import Catalog
from paimon_explore.errors import AlreadyExistsError, NotFoundError
from support.committing import PATIENT, Round, check_appends, rounds
from support.depth import DEEP
from support.figures import Figures
from support.s3 import s3_place

PROCESSES, COMMITS = (8, 25) if DEEP else (3, 4)
LOST = 0.2


def planned(options: Mapping[str, str]) -> Round:
    """A round on a new table of a catalog."""
    catalog = Catalog(options=options)
    catalog.create_database("race", if_not_exists=True)
    catalog.create_table("race.t", {"a": "BIGINT"}, options=PATIENT)
    return Round(options=dict(options), table="race.t", commits=COMMITS, lost=LOST)


def test_every_commit_of_many_processes_is_there_exactly_once(
    homes: Homes, tmp_path: Path, figures: Figures
) -> None:
    started = {name: homes.get(name) for name in HOMES}
    plan = [planned(home.options) for home in started.values()]
    found = rounds(tmp_path / "plan", plan, PROCESSES)
    for (name, home), (_, reported) in zip(started.items(), found, strict=True):
        check_appends(home.catalog.table("race.t"), reported, PROCESSES * COMMITS)
        assert home.java.read("race.t").num_rows == PROCESSES * COMMITS
        home.catalog.drop_database("race", cascade=True)
        figures.add(
            f"commits of {PROCESSES} processes with lost replies, {name}", PROCESSES * COMMITS
        )


def at_once(acts: Sequence[Callable[[], object]]) -> Counter[str]:
    """How often acts at the same time have each result: done, or the refusal."""
    start = Barrier(len(acts))

    def result(act: Callable[[], object]) -> str:
        start.wait(60)
        try:
            act()
        except (AlreadyExistsError, NotFoundError) as error:
            return type(error).__name__
        return "done"

    with ThreadPoolExecutor(len(acts)) as pool:
        return Counter(pool.map(result, acts))


@pytest.mark.parametrize("home", [one for one in HOMES if "rest" not in one], indirect=True)
def test_clients_that_create_rename_and_drop_one_table_at_once(home: Home) -> None:
    clients = [Catalog(options=home.options) for _ in range(3)]
    catalog, columns = home.catalog, {"a": "INT"}
    catalog.create_database("acts")
    for turn in range(12 if DEEP else 3):
        name = f"acts.t{turn}"
        made = at_once([partial(one.create_table, name, columns) for one in clients])
        assert made == {"done": 1, "AlreadyExistsError": 2}
        create = [
            partial(one.create_table, f"{name}x", columns, if_not_exists=True) for one in clients
        ]
        assert at_once(create) == {"done": 3}
        catalog.table(name).append([{"a": turn}])
        rename = [partial(one.rename_table, name, f"{name}_{to}") for to, one in enumerate(clients)]
        assert at_once(rename) == {"done": 1, "NotFoundError": 2}
        (found,) = catalog.tables("acts", f"t{turn}_%")
        assert catalog.table(f"acts.{found}").to_arrow().to_pylist() == [{"a": turn}]
        at_once([partial(one.drop_table, f"acts.{found}") for one in clients])
        assert list(catalog.tables("acts", f"t{turn}_%")) == []
    catalog.drop_database("acts", cascade=True)
    for one in clients:
        one.close()


def test_locks_protect_commits_on_a_store_that_ignores_conditions(
    tmp_path: Path, figures: Figures
) -> None:
    with s3_place("no-conditions", ignores_conditions=True) as place:
        options = {
            "metastore": "jdbc",
            "uri": f"jdbc:sqlite:{tmp_path / 'catalog.db'}",
            "warehouse": place.location,
            **place.options,
        }
        ((one, reported),) = rounds(tmp_path / "plan", [planned(options)], PROCESSES)
        check_appends(Catalog(options=options).table(one.table), reported, PROCESSES * COMMITS)
        figures.add(f"commits of {PROCESSES} processes, S3 without conditions", PROCESSES * COMMITS)
