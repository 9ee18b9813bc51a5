"""Processes that commit to one table of a catalog at once, with lost replies.

Every commit that was reported as done is there exactly once, and nothing else. The deep run has 8
processes with 25 commits each.
"""

from collections.abc import Mapping
from pathlib import Path

from catalogs.homes import HOMES, Homes
from paimon_explore import Catalog
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
