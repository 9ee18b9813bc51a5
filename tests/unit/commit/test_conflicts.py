"""Changes that no longer fit the table."""

from contextlib import nullcontext
from itertools import product
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from paimon_explore.commit.conflicts import (
    ConflictRules,
    check_conflicts,
    check_removed_ranges,
    check_rescaled,
)
from paimon_explore.commit.file_changes import Changes
from paimon_explore.data_types.definitions import AtomicType, DataField, RowType, TypeRoot
from paimon_explore.errors import CommitConflictError
from paimon_explore.metadata.commit_message import SeenSnapshot
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.snapshot import CommitKind
from support.entries import entries, entry, index, index_row, int_row, vector_row
from support.lifecycle import plain_table, replaced_rows

KEYS = RowType(fields=(DataField(id=0, name="k", type=AtomicType(root=TypeRoot.INT)),))
APPEND = ConflictRules(keys=None, is_bucketed=False)
KEYED = ConflictRules(keys=KEYS, is_bucketed=True)
BUCKETS = ConflictRules(keys=None, is_bucketed=True)
NO_INDEX = IndexEntries.empty()


def run(
    live: ManifestEntries,
    *rows: dict[str, object],
    rules: ConflictRules = APPEND,
    kind: CommitKind = CommitKind.COMPACT,
) -> None:
    check_conflicts(live, Changes(entries=entries(*rows)), NO_INDEX, kind=kind, rules=rules)


def gone(name: str, **values: object) -> dict[str, object]:
    return entry(name, kind=1, **values)


def test_replacing_files_that_are_still_there_fits() -> None:
    run(entries(entry("a"), entry("b")), gone("a"), gone("b"), entry("c"))


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ("b", "Data file b, which this commit removes, is no longer"),
        ("bd", "Data file b and 1 other data file that this commit removes are no longer"),
        ("bde", "Data file b and 2 other data files that this commit removes are no longer"),
    ],
)
def test_a_file_that_another_commit_removed_is_a_conflict(names: str, told: str) -> None:
    with pytest.raises(CommitConflictError, match=f"^{told}"):
        run(entries(entry("a")), gone("a"), *map(gone, names), entry("c"))


def test_a_file_of_another_level_is_another_file() -> None:
    with pytest.raises(CommitConflictError, match="no longer"):
        run(entries(entry("a", level=1)), gone("a", level=0))


def test_a_file_added_twice_is_a_conflict() -> None:
    with pytest.raises(CommitConflictError, match="already"):
        run(entries(entry("a")), entry("a"))
    with pytest.raises(CommitConflictError, match=r"adds file .* twice"):
        run(entries(), entry("a"), entry("a"))


@pytest.mark.parametrize(
    ("acts", "conflicts"), [("a", False), ("o", True), ("oa", True), ("ao", True), ("aoa", True)]
)
def test_writers_from_before_any_overwrite_must_have_the_buckets_of_now(
    tmp_path: Path, acts: str, *, conflicts: bool
) -> None:
    table = replaced_rows(plain_table(tmp_path), 1)
    store, since = table._store, SeenSnapshot.of(table.snapshot)
    for act in acts:
        (table.append if act == "a" else table.overwrite)([{"k": 1, "v": "x"}])
    new, live = entries(entry("b", total_buckets=3)), entries(entry("a", total_buckets=2))
    with pytest.raises(CommitConflictError) if conflicts else nullcontext():
        check_rescaled(store, store.snapshots.latest(), since, new, lambda: live)


def test_writers_from_before_a_rollback_must_have_the_buckets_of_now(tmp_path: Path) -> None:
    """Later commits have taken the ids of the snapshots that the writers have seen."""
    table = plain_table(tmp_path)
    for _ in range(3):
        table.append([{"k": 1, "v": "x"}])
    store, since = table._store, SeenSnapshot.of(table.snapshot)
    table.rollback_to(1)
    table.overwrite([{"k": 1, "v": "x"}])
    for _ in range(3):
        table.append([{"k": 1, "v": "x"}])
    new, live = entries(entry("b", total_buckets=3)), entries(entry("a", total_buckets=2))
    with pytest.raises(CommitConflictError, match="with 2 buckets"):
        check_rescaled(store, store.snapshots.latest(), since, new, lambda: live)


def test_other_numbers_of_buckets_in_a_partition_are_a_conflict() -> None:
    live = entries(entry("a", total_buckets=2))
    with pytest.raises(CommitConflictError, match=r"with 2 buckets, and .* with 3 buckets"):
        run(live, entry("b", total_buckets=3), rules=KEYED)
    run(live, gone("a", total_buckets=2), entry("b", total_buckets=3), kind=CommitKind.OVERWRITE)


def keyed(name: str, low: int, high: int, level: int = 5) -> dict[str, object]:
    return entry(name, level=level, min_key=int_row(low), max_key=int_row(high))


def test_overlapping_files_of_one_level_are_a_conflict() -> None:
    live = entries(keyed("a", 0, 10))
    run(live, keyed("b", 11, 20), rules=KEYED)
    run(live, keyed("b", 5, 20, level=4), rules=KEYED)
    run(live, keyed("b", 5, 20, level=0), rules=KEYED)
    with pytest.raises(CommitConflictError, match="two compactions"):
        run(live, keyed("b", 10, 20), rules=KEYED)


KINDS = pytest.mark.parametrize(
    "rules", [APPEND, KEYED, BUCKETS], ids=["append", "keyed", "buckets"]
)


def vectors(
    added: IndexEntries,
    deleted: IndexEntries,
    before: IndexEntries,
    *changed: dict[str, object],
    rules: ConflictRules = APPEND,
) -> None:
    changes = Changes(entries=entries(*changed), added_index=added, deleted_index=deleted)
    live = entries(entry("f"), entry("g"))
    check_conflicts(live, changes, before, kind=CommitKind.OVERWRITE, rules=rules)


@KINDS
def test_a_vector_of_a_file_that_is_gone_is_a_conflict(rules: ConflictRules) -> None:
    new = index(vector_row("v", "f", "other"))
    with pytest.raises(CommitConflictError, match="Data file other, whose rows"):
        vectors(new, NO_INDEX, NO_INDEX, rules=rules)
    with pytest.raises(CommitConflictError, match="Data file f, whose rows"):
        vectors(index(vector_row("v", "f")), NO_INDEX, NO_INDEX, gone("f"), rules=rules)
    vectors(new, NO_INDEX, NO_INDEX, entry("other"), rules=rules)


@KINDS
def test_a_file_that_goes_without_the_vector_that_it_got_is_a_conflict(
    rules: ConflictRules,
) -> None:
    old = index(vector_row("v", "f"))
    with pytest.raises(CommitConflictError, match="deleted rows of data file f, which"):
        vectors(NO_INDEX, NO_INDEX, old, gone("f"), rules=rules)
    vectors(NO_INDEX, old, old, gone("f"), rules=rules)
    vectors(NO_INDEX, NO_INDEX, old, gone("g"), rules=rules)
    vectors(NO_INDEX, NO_INDEX, old, gone("f"), entry("f", level=5), rules=rules)


def test_a_file_that_goes_without_the_index_that_it_got_is_a_conflict() -> None:
    found = {"row_range_start": 0, "row_range_end": 0, "index_field_id": 1, "source_meta": b"-f-"}
    empty = {"extra_field_ids": None, "index_meta": None}
    old = index(index_row("i", index_type="btree", global_index={**found, **empty}))
    with pytest.raises(CommitConflictError, match=r"added an index of type .* for data file f"):
        vectors(NO_INDEX, NO_INDEX, old, gone("f"), rules=KEYED)
    vectors(NO_INDEX, old, old, gone("f"), rules=KEYED)
    vectors(NO_INDEX, NO_INDEX, old, gone("g"), rules=KEYED)


@KINDS
def test_a_deletion_vector_that_changed_meanwhile_is_a_conflict(rules: ConflictRules) -> None:
    old, new = index(vector_row("v1", "f")), index(vector_row("v2", "f"))
    vectors(new, old, old, rules=rules)
    with pytest.raises(CommitConflictError, match="changed the deletion vectors of data file f:"):
        vectors(new, old, index(vector_row("v3", "f")), rules=rules)
    with pytest.raises(CommitConflictError, match=r"data file f[:,]"):
        vectors(new, NO_INDEX, index(vector_row("v3", "f")), rules=rules)


def test_columns_for_rows_that_moved_to_other_files_are_a_conflict() -> None:
    rules = ConflictRules(keys=None, is_bucketed=False, data_evolution=True)
    live = entries(entry("a", first_row_id=0, row_count=10))
    run(live, entry("b", first_row_id=0, row_count=10), rules=rules)
    run(live, entry("b", row_count=10), rules=rules)
    with pytest.raises(CommitConflictError, match="rows with ids 5 to 9"):
        run(live, entry("b", first_row_id=5, row_count=5), rules=rules)


EVOLVING = ConflictRules(
    keys=None,
    is_bucketed=False,
    data_evolution=True,
    indexable={"v": 1, "w": 2},
    planned_on=5,
    planned_index=NO_INDEX,
)
FIRST_ROWS = {"a": 0, "b": 10, "c": 20}
NUMBERS = {"a": 3, "b": 5, "c": 4}
"""Sequence numbers of files, none above that of the planned snapshot."""
IN_THE_WAY = {
    "v": {"v", "delete", "index"},
    "w": {"w", "delete"},
    "delete": {"v", "w", "delete"},
    "index": {"v", "w"},
    "compact": {"v", "w", "delete"},
    "remove": {"v", "w", "delete", "index"},
}
"""For each change of rows, the changes of the same rows by other commits that it conflicts with;
`v` and `w` write that column, `index` indexes column v."""


def rows_of(file: str, name: str, **values: object) -> dict[str, object]:
    return entry(name, first_row_id=FIRST_ROWS[file], row_count=10, **values)


def act(kind: str, files: str, by: str, sequence: int) -> Changes:
    changed, indexes = [], []
    for file in files:
        name = f"{by}-{file}"
        if kind in "vw":
            written = {"write_cols": [kind], "max_sequence_number": sequence}
            changed.append(rows_of(file, name, **written))
        elif kind in {"compact", "remove"}:
            number = {"max_sequence_number": NUMBERS[file]}
            changed.append(rows_of(file, file, kind=1, **number))
            if kind == "compact":
                changed.append(rows_of(file, name, file_source=1, **number))
        elif kind == "delete":
            indexes.append(vector_row(name, file))
        else:
            first = FIRST_ROWS[file]
            covered = {"row_range_start": first, "row_range_end": first + 9, "index_field_id": 1}
            empty = {"extra_field_ids": None, "index_meta": None, "source_meta": None}
            covering = {**covered, **empty}
            indexes.append(index_row(name, index_type="btree", global_index=covering))
    return Changes(entries=entries(*changed), added_index=index(*indexes))


@pytest.mark.parametrize("theirs", ["v", "w", "delete", "index"])
@pytest.mark.parametrize("ours", IN_THE_WAY)
def test_changes_of_the_same_rows_conflict_where_one_would_undo_the_other(
    ours: str, theirs: str
) -> None:
    """Of several files, it is enough that both change the rows of one."""
    before = entries(*[rows_of(f, f, max_sequence_number=number) for f, number in NUMBERS.items()])
    for our_files, their_files in product(("a", "b", "ab", "cb", "abc"), repeat=2):
        other = act(theirs, their_files, "their", 6)
        live = ManifestEntries.concat([before, other.entries])
        own = act(ours, our_files, "our", 0)
        conflicts = theirs in IN_THE_WAY[ours] and not set(our_files).isdisjoint(their_files)
        with pytest.raises(CommitConflictError) if conflicts else nullcontext():
            check_conflicts(live, own, other.added_index, kind=CommitKind.COMPACT, rules=EVOLVING)


def test_files_whose_rows_have_new_ids_are_a_conflict() -> None:
    for first, expected in ((0, nullcontext()), (100, pytest.raises(CommitConflictError))):
        live = entries(entry("a", first_row_id=first, row_count=10), rows_of("b", "b"))
        own = Changes(entries=entries(rows_of("a", "a", kind=1), rows_of("b", "b", kind=1)))
        with expected:
            check_conflicts(live, own, NO_INDEX, kind=CommitKind.OVERWRITE, rules=EVOLVING)


RANGES = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 6)), max_size=5)


@given(removed=RANGES, added=RANGES, remaining=RANGES)
def test_rows_are_gone_when_no_file_has_columns_of_them(
    removed: list[tuple[int, int]],
    added: list[tuple[int, int]],
    remaining: list[tuple[int, int]],
) -> None:
    def files(
        name: str, ranges: list[tuple[int, int]], kind: int, number: int
    ) -> list[dict[str, object]]:
        more = {"kind": kind, "max_sequence_number": number}
        return [
            entry(f"{name}{at}", first_row_id=first, row_count=rows, **more)
            for at, (first, rows) in enumerate(ranges)
        ]

    changed = entries(*files("r", removed, 1, 5), *files("a", added, 0, 5))
    after = entries(*files("a", added, 0, 5), *files("m", remaining, 0, 4))
    ids = {row for first, rows in (*added, *remaining) for row in range(first, first + rows)}
    assert check_removed_ranges(after, changed) == [
        (first, first + rows)
        for first, rows in removed
        if ids.isdisjoint(range(first, first + rows))
    ]
