"""Removals of files beside new, renamed and replaced tags: a tag is complete, or it is not there.

The two jobs are interleaved storage operation by storage operation. Some of the interleavings are
run, all of them in a deep run.
"""

from collections.abc import Callable
from datetime import datetime

import pytest

from paimon_explore import Table
from paimon_explore.errors import MissingFileError, NotFoundError, SnapshotExpiredError
from support.depth import some
from support.figures import Figures
from support.small_tables import new_catalog
from support.table_kinds import SCHEMA
from support.two_jobs import TwoJobs

LATER = datetime(2100, 1, 1)  # noqa: DTZ001 - local, as the API takes it
STRIDE = 5
"""One interleaving of so many is run."""


def created(*, expired: int) -> Table:
    """Each snapshot replaces the row of the one before; two are tagged, one begins a branch."""
    options = {"write-only": "true"}
    table = new_catalog().create_table("db.t", SCHEMA, options=options)
    for number in range(1, 7):
        table.overwrite([{"p": "a", "k": number, "v": number, "w": None}])
        if number == 2:
            table.create_tag("two")
            table.create_branch("side", "two")
        if number == 3:
            table.create_tag("three")
    if expired:
        table.maintenance.expire_snapshots(retain_max=6 - expired, retain_min=1, older_than=LATER)
    return table


def expire(table: Table) -> object:
    return table.maintenance.expire_snapshots(retain_max=1, retain_min=1, older_than=LATER)


def delete(table: Table) -> object:
    return table.delete_tag("three")


@pytest.mark.parametrize(
    ("remove", "expired", "refer"),
    [
        (expire, 0, lambda t: t.create_tag("new", 1)),
        (expire, 0, lambda t: t.create_tag("new", 4)),
        (expire, 0, lambda t: t.maintenance.replace_tag("two", 4)),
        (expire, 0, lambda t: t.maintenance.rename_tag("three", "a")),
        (expire, 0, lambda t: t.maintenance.rename_branch("side", "other")),
        (delete, 4, lambda t: t.create_tag("new", 3)),
        (delete, 4, lambda t: t.maintenance.replace_tag("two", 3)),
        (delete, 4, lambda t: t.maintenance.rename_tag("three", "a")),
        (delete, 4, lambda t: t.create_branch("new", "three")),
        (delete, 4, lambda t: t.rollback_to(tag="three")),
    ],
    ids=[
        *("expire-create_tag-1", "expire-create_tag-4", "expire-replace_tag"),
        *("expire-rename_tag", "expire-rename_branch", "delete-create_tag"),
        *("delete-replace_tag", "delete-rename_tag", "delete-create_branch", "delete-rollback"),
    ],
)
def test_whatever_is_referenced_in_the_end_is_there(
    remove: Callable[[Table], object],
    expired: int,
    refer: Callable[[Table], object],
    figures: Figures,
) -> None:
    both = TwoJobs(created(expired=expired), (remove, refer))
    ways = some(list(both.ways(lambda _: False)), STRIDE)
    for way in ways:
        with both.interleaved(way) as (after, errors):
            for error in errors:
                known = NotFoundError | SnapshotExpiredError | MissingFileError
                assert error is None or isinstance(error, known), repr(error)
            assert after.maintenance.fsck(read_rows=True) == []
    figures.add("interleavings of a removal and a reference", len(ways))
