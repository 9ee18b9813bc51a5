"""Records of a primary key that another commit has changed since the snapshot they are based on."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace

import pytest

from paimon_explore.commit.committer import Committer
from paimon_explore.commit.file_changes import Changes
from paimon_explore.commit.key_conflicts import KeyRules, StaleRecordsError, check_keys
from paimon_explore.metadata.commit_message import CommitMessage, SeenSnapshot
from paimon_explore.store.table_store import TableStore
from support.entries import entries, entry, int_row
from support.new_tables import latest, new_table

Row = dict[str, object]
STORE, SCHEMA = new_table({"p": "INT", "k": "INT"}, partition_keys=["p"], primary_keys=["p", "k"])
FIXED = KeyRules(
    keys=SCHEMA.project(["k"]),
    has_fixed_buckets=True,
    crosses_partitions=False,
    by_sequence_field=False,
)
DYNAMIC = replace(FIXED, has_fixed_buckets=False)
RULES = {
    "fixed": FIXED,
    "sequenced": replace(FIXED, by_sequence_field=True),
    "dynamic": DYNAMIC,
    "dynamic sequenced": replace(DYNAMIC, by_sequence_field=True),
    "crossing": replace(DYNAMIC, crosses_partitions=True),
    "reading": FIXED,
}


def keyed(name: str, low: int, high: int, number: int = 10, **values: object) -> Row:
    numbers = {"min_sequence_number": number, "max_sequence_number": number}
    keys = {"min_key": int_row(low), "max_key": int_row(high)}
    return entry(name, **{"partition": int_row(1), **numbers, **keys, **values})


OWN = keyed("own", 4, 6)
EVERY = set(RULES)
WITHOUT_BUCKETS = {"dynamic", "dynamic sequenced", "crossing"}
OTHERS: dict[str, tuple[Row, set[str]]] = {
    "keys below": (keyed("f", 1, 3), set()),
    "keys above": (keyed("f", 7, 9), set()),
    "the first key": (keyed("f", 1, 4), {"fixed", "dynamic", "crossing", "reading"}),
    "the last key": (keyed("f", 6, 9), {"fixed", "dynamic", "crossing", "reading"}),
    "lower numbers": (keyed("f", 5, 5, 9), {"reading"}),
    "another bucket": (keyed("f", 5, 5, 9, bucket=1), WITHOUT_BUCKETS),
    "keys above in another bucket": (keyed("f", 7, 9, bucket=1), set()),
    "another partition": (keyed("f", 5, 5, partition=int_row(2)), {"crossing"}),
    "a postponed file": (keyed("f", 7, 9, bucket=-2), WITHOUT_BUCKETS),
    "a removed file": (keyed("f", 5, 5, 9, kind=1), WITHOUT_BUCKETS | {"reading"}),
    "a removed file of keys above": (keyed("f", 7, 9, kind=1), WITHOUT_BUCKETS),
    "a removed file of another partition": (
        keyed("f", 5, 5, kind=1, partition=int_row(2)),
        {"crossing"},
    ),
}


def committed(store: TableStore, *rows: Row, compacts: bool = False) -> None:
    """Commit rows of manifest entries, each with its kind."""
    added, removed = (entries(*[row for row in rows if row["kind"] == kind]) for kind in (0, 1))
    message = CommitMessage(partition=int_row(1), bucket=0)
    if compacts:
        message = replace(message, compact_before=removed, compact_after=added)
    else:
        message = replace(message, new_files=added, deleted_files=removed)
    Committer(store, SCHEMA).commit([message])


def based_on_now(*rows: Row) -> tuple[TableStore, SeenSnapshot]:
    """A table of these files, and its latest snapshot."""
    store, _ = new_table({"p": "INT", "k": "INT"}, partition_keys=["p"], primary_keys=["p", "k"])
    committed(store, keyed("first", 0, 0), *rows)
    return store, SeenSnapshot.of(latest(store))


def check(store: TableStore, seen: SeenSnapshot, rules: KeyRules, *own: Row) -> None:
    changes = Changes(entries=entries(*(own or (OWN,))))
    check_keys(store, store.snapshots.latest(), changes, seen, rules)


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("other", OTHERS)
def test_records_conflict_with_others_of_their_keys_as_the_table_says(
    other: str, rules: str
) -> None:
    file, conflicting = OTHERS[other]
    is_removed = file["kind"] == 1
    store, seen = based_on_now(*([{**file, "kind": 0}] if is_removed else []))
    seen = replace(seen, reads=rules == "reading")
    committed(store, file)
    committed(store, keyed("far", 90, 99), keyed("far", 90, 99, partition=int_row(3)))
    with pytest.raises(StaleRecordsError) if rules in conflicting else nullcontext():
        check(store, seen, RULES[rules], keyed("lone", 50, 51), OWN)
    check(store, SeenSnapshot.of(latest(store)), RULES[rules])


@pytest.mark.parametrize("rules", RULES)
def test_compactions_change_no_rows(rules: str) -> None:
    file = keyed("f", 4, 6)
    store, seen = based_on_now(file)
    committed(store, {**file, "kind": 1}, keyed("g", 4, 6, level=5), compacts=True)
    check(store, replace(seen, reads=rules == "reading"), RULES[rules])


def test_postponed_records_conflict_only_if_they_depend_on_rows() -> None:
    store, seen = based_on_now()
    committed(store, keyed("f", 4, 6))
    own = keyed("own", 90, 99, bucket=-2)
    check(store, seen, DYNAMIC, own)
    with pytest.raises(StaleRecordsError):
        check(store, replace(seen, reads=True), DYNAMIC, own)


@pytest.mark.parametrize(
    ("seen_id", "removed", "conflicts"),
    [
        (0, (), False),
        (2, (), False),
        (2, (1, 2), False),
        (2, (2,), False),
        (2, (1, 2, 3), True),
        (2, (3,), True),
        (0, (1,), True),
        (4, (1, 2), False),
    ],
)
def test_the_snapshots_since_the_one_that_was_seen_must_be_known(
    seen_id: int, removed: Sequence[int], *, conflicts: bool
) -> None:
    """The one that was seen itself may have expired."""
    store, _ = based_on_now()
    for number in range(4):
        committed(store, keyed(f"f{number}", 50, 60))
    seen = SeenSnapshot.of(store.snapshots.load(seen_id) if seen_id else None)
    for number in removed:
        store.snapshots.delete(number)
    again = TableStore(store.file_io, store.paths)
    with pytest.raises(StaleRecordsError) if conflicts else nullcontext():
        check(again, seen, FIXED)


def test_a_snapshot_that_a_rollback_replaced_is_not_the_one_that_was_seen() -> None:
    store, seen = based_on_now()
    committed(store, keyed("f", 50, 60))
    with pytest.raises(StaleRecordsError):
        check(store, replace(seen, delta="another"), FIXED)
    ours = SeenSnapshot.of(latest(store))
    check(store, ours, FIXED)
    with pytest.raises(StaleRecordsError):
        check(store, replace(ours, delta="another"), FIXED)
    with pytest.raises(StaleRecordsError):
        check(store, replace(ours, id=9), FIXED)


def test_of_a_table_without_snapshots_nothing_is_known_but_that_it_is_empty() -> None:
    store, _ = new_table({"p": "INT", "k": "INT"}, partition_keys=["p"], primary_keys=["p", "k"])
    check(store, SeenSnapshot(id=0), FIXED)
    with pytest.raises(StaleRecordsError):
        check(store, SeenSnapshot(id=1, delta="d"), FIXED)
