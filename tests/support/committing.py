"""Commits of one of many processes, and what each of them reported."""

import json
import sys
import time
from pathlib import Path

from paimon_explore import open_table
from paimon_explore.commit.committer import Committer
from paimon_explore.errors import CommitError
from paimon_explore.write.append_writer import write_append

PATIENT = {"commit.max-retries": "1000", "commit.max-retry-wait": "200 ms"}


def commit_some(
    location: str, options: dict[str, str], first: int, count: int
) -> tuple[list[int], list[int]]:
    """Append single values, each in a commit of its own.

    Args:
        location: of the table.
        options: of its storage.
        first: the first value.
        count: how many.

    Returns:
        The values whose commit was reported as done, and those whose commit was reported as failed.
    """
    store = open_table(location, storage_options=options)._store
    schema = store.schemas.latest()
    assert schema is not None
    committer = Committer(store, schema)
    done, failed = [], []
    for value in range(first, first + count):
        messages = write_append(store, schema, [{"a": value}])
        try:
            made = committer.commit(messages)
        except CommitError:
            failed.append(value)
        else:
            assert len(made) == 1
            done.append(value)
    return done, failed


def upsert_and_compact(
    location: str, options: dict[str, str], first: int, count: int
) -> tuple[list[int], list[int]]:
    """Upsert single values and one that all processes share, and compact after each.

    Arguments and result as for `commit_some`; a value is done if both commits are.
    """
    table = open_table(location, storage_options=options)
    done, failed = [], []
    for value in range(first, first + count):
        try:
            table.upsert([{"a": value, "b": value}, {"a": -1, "b": value}])
            table.compact()
        except CommitError:
            failed.append(value)
        else:
            done.append(value)
    return done, failed


def main(told: str, number: int) -> None:
    """Commit in each round, as soon as its file is there."""
    plan = json.loads(Path(told).read_text(encoding="utf-8"))
    for turn, one in enumerate(plan):
        go = Path(f"{told}.{turn}.go")
        while not go.exists():
            time.sleep(0.005)
        count = one["commits"]
        commit = upsert_and_compact if one["compacts"] else commit_some
        found = commit(one["location"], one["options"], number * count, count)
        part = Path(f"{told}.{turn}.{number}.part")
        part.write_text(json.dumps(found), encoding="utf-8")
        part.rename(f"{told}.{turn}.{number}.done")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
