from datetime import UTC, datetime

import pyarrow as pa
import pytest

from paimon_explore import Table, open_table
from paimon_explore.errors import (
    InvalidInputError,
    NotFoundError,
    SnapshotExpiredError,
    UnsupportedFeatureError,
)
from paimon_explore.metadata.consumer import Consumer
from support.small_tables import append_table, columns, keyed_table, rows_of

COLUMNS = columns(k=pa.int32(), v=pa.string())


def changed(**options: str) -> Table:
    """Two inserts, one change and one new row, one deletion."""
    return keyed_table(
        COLUMNS,
        [{"k": 1, "v": "a"}, {"k": 2, "v": "b"}],
        [{"k": 2, "v": "B"}, {"k": 3, "v": "c"}],
        [{"k": 1, "v": "a", "_ROW_KIND": "-D"}],
        primary_key=["k"],
        options={key.replace("__", ".").replace("_", "-"): value for key, value in options.items()},
    )


def told(table: Table, *span: int) -> list[tuple[int, list[tuple[object, ...]]]]:
    return [
        (change.snapshot.id, [tuple(row.values()) for row in change.rows.to_pylist()])
        for change in table.changes(*span)
    ]


EXPECTED: list[tuple[int, list[tuple[object, ...]]]] = [
    (1, [("+I", 1, "a"), ("+I", 2, "b")]),
    (2, [("+I", 2, "B"), ("+I", 3, "c")]),
    (3, [("-D", 1, "a")]),
]


@pytest.mark.parametrize("producer", ["none", "input"])
def test_changes_tell_commit_by_commit_what_was_written(producer: str) -> None:
    table = changed(changelog_producer=producer)
    assert told(table) == EXPECTED
    assert told(table, 2) == EXPECTED[1:]
    assert told(table, 2, 2) == EXPECTED[1:2]
    assert told(table, 4) == []


@pytest.mark.parametrize("producer", ["none", "input"])
def test_changes_tell_what_an_overwrite_replaced(producer: str) -> None:
    table = changed(changelog_producer=producer)
    table.overwrite([{"k": 2, "v": "new"}])
    replaced: list[tuple[object, ...]] = [("-U", 2, "B"), ("+U", 2, "new"), ("-D", 3, "c")]
    assert told(table) == [*EXPECTED, (4, replaced)]


def test_the_option_of_overwrites_keeps_the_meaning_that_it_has_in_java() -> None:
    table = changed()
    table.overwrite([{"k": 2, "v": "new"}])
    replaced: list[tuple[object, ...]] = [("-D", 2, "B"), ("-D", 3, "c"), ("+I", 2, "new")]
    for value, expected in {"true": [*EXPECTED, (4, replaced)], "false": EXPECTED}.items():
        options = {"streaming-read-overwrite": value}
        assert told(open_table(table.path, options=options)) == expected


def test_javas_modes_leave_out_what_other_commits_changed() -> None:
    table = changed(changelog_producer="input")
    table.overwrite([{"k": 2, "v": "new"}])
    for mode in ("delta", "changelog"):
        found = [(c.snapshot.id, c.rows.num_rows) for c in table.changes(mode=mode)]
        assert found == [(1, 2), (2, 2), (3, 1)]
    with pytest.raises(InvalidInputError, match="two snapshots"):
        table.changes(mode="diff")
    with pytest.raises(InvalidInputError, match="sideways"):
        table.changes(mode="sideways")


@pytest.mark.parametrize(
    "options",
    [{}, {"deletion-vectors.enabled": "true"}, {"row-tracking.enabled": "true"}],
    ids=["files", "vectors", "row tracking"],
)
def test_updates_deletes_and_merges_of_rows_without_a_key_are_told(
    options: dict[str, str],
) -> None:
    rows = [{"k": 1, "v": "a"}, {"k": 1, "v": "a"}, {"k": 2, "v": "b"}, {"k": 3, "v": "c"}]
    table = append_table(COLUMNS, rows, options=options)
    table.update({"v": "'B'"}, "k = 2")
    table.delete("k = 3")
    merge = table.merge([{"k": 2, "v": "new"}, {"k": 9, "v": "z"}], on="k")
    merge.when_matched_update({"v": "source.v"}).when_not_matched_insert().execute()
    table.compact()
    assert [(number, sorted(found)) for number, found in told(table)] == [
        (1, [("+I", 1, "a"), ("+I", 1, "a"), ("+I", 2, "b"), ("+I", 3, "c")]),
        (2, [("+I", 2, "B"), ("-D", 2, "b")]),
        (3, [("-D", 3, "c")]),
        (4, [("+I", 2, "new"), ("+I", 9, "z"), ("-D", 2, "B")]),
    ]
    for mode in ("auto", "diff"):
        found = table.between(1, 4, mode=mode, row_kinds=True).to_arrow().to_pylist()
        assert sorted(tuple(row.values()) for row in found) == [
            ("+I", 2, "new"),
            ("+I", 9, "z"),
            ("-D", 2, "b"),
            ("-D", 3, "c"),
        ]


def test_columns_written_beside_old_rows_are_told_as_changed_rows() -> None:
    options = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
    table = append_table(COLUMNS, [{"k": 1, "v": "a"}], [{"k": 2, "v": "b"}], options=options)
    table.update({"v": "'B'"}, "k = 2")
    assert told(table) == [
        (1, [("+I", 1, "a")]),
        (2, [("+I", 2, "b")]),
        (3, [("-D", 2, "b"), ("+I", 2, "B")]),
    ]


def test_values_of_a_merge_engine_are_told_merged() -> None:
    table = changed(merge_engine="partial-update", ignore_delete="true")
    table.upsert([{"k": 1, "v": None}, {"k": 2, "v": None}])
    table.upsert([{"k": 1, "v": "A"}])
    assert told(table) == [
        (1, [("+I", 1, "a"), ("+I", 2, "b")]),
        (2, [("-U", 2, "b"), ("+U", 2, "B"), ("+I", 3, "c")]),
        (4, [("-U", 1, "a"), ("+U", 1, "A")]),
    ]


@pytest.mark.parametrize("producer", ["lookup", "full-compaction"])
def test_compacted_changelogs_are_told_with_the_rest_of_what_is_not_compacted(
    producer: str,
) -> None:
    table = changed(changelog_producer=producer)  # write-only
    table.compact(full=True)
    whole: list[tuple[object, ...]] = [("+I", 2, "B"), ("+I", 3, "c")]
    assert [(number, sorted(rows)) for number, rows in told(table)] == [(4, whole)]
    table.upsert([{"k": 2, "v": "again"}])
    table.overwrite([{"k": 3, "v": "new"}])
    table.upsert([{"k": 3, "v": "newer"}])
    ended: list[tuple[int, list[tuple[object, ...]]]] = [
        (5, [("-U", 2, "B"), ("+U", 2, "again")]),
        (6, [("-U", 3, "c"), ("+U", 3, "new"), ("-D", 2, "again")]),
        (7, [("-U", 3, "new"), ("+U", 3, "newer")]),
    ]
    assert told(table, 5) == ended
    assert told(table)[1:] == ended
    table.compact(full=True)
    assert told(table, 8) == []  # the rows at snapshot 7 have it
    assert told(table, 5) == [*ended[:2], (8, ended[2][1])]  # the changelog tells it


def test_rows_that_leave_a_filter_are_taken_back() -> None:
    table = changed()
    table.upsert([{"k": 2, "v": "x"}])
    found = [
        tuple(row.values()) for c in table.changes(where="v < 'd'") for row in c.rows.to_pylist()
    ]
    assert found == [
        ("+I", 1, "a"),
        ("+I", 2, "b"),
        ("-U", 2, "b"),
        ("+U", 2, "B"),
        ("+I", 3, "c"),
        ("-D", 1, "a"),
        ("-D", 2, "B"),
    ]


def test_what_needs_an_expired_state_is_refused_unless_a_tag_keeps_it() -> None:
    table = append_table(COLUMNS, [{"k": 1, "v": "a"}, {"k": 2, "v": "b"}])
    table.create_tag("kept")
    table.delete("k = 1")
    table.append([{"k": 3, "v": "c"}])
    table.maintenance.expire_snapshots(retain_max=2, older_than=datetime.now().astimezone())
    assert told(table) == [(2, [("-D", 1, "a")]), (3, [("+I", 3, "c")])]
    table.delete_tag("kept")
    assert told(table) == [(3, [("+I", 3, "c")])]
    with pytest.raises(SnapshotExpiredError, match=r"snapshot 2 \(OVERWRITE\).*snapshot 1"):
        told(table, 2)
    with pytest.raises(SnapshotExpiredError, match="snapshot 1, which has expired"):
        table.between(1, 3).to_arrow()


def test_changes_of_several_branches_are_refused() -> None:
    table = append_table(COLUMNS, [{"k": 1, "v": "a"}])
    table.create_branch("other")
    both = open_table(table.path, options={"scan.fallback-branch": "other"})
    with pytest.raises(UnsupportedFeatureError, match="fallback branch"):
        told(both)
    assert both.between(0, 1).to_arrow().num_rows == 1


def test_rows_that_an_overwrite_replaced_are_not_told_when_they_were_deleted_before() -> None:
    table = changed(deletion_vectors__enabled="true", streaming_read_overwrite="true")
    table.compact()
    table.overwrite([{"k": 2, "v": "new"}])
    replaced: list[tuple[object, ...]] = [("-D", 2, "B"), ("-D", 3, "c"), ("+I", 2, "new")]
    assert told(table)[-1][1] == replaced


def test_an_overwrite_of_rows_without_a_key_is_told_in_javas_way_if_the_table_says_so() -> None:
    table = append_table(COLUMNS, [{"k": 1, "v": "a"}])
    table.overwrite([{"k": 2, "v": "b"}])
    first: tuple[int, list[tuple[object, ...]]] = (1, [("+I", 1, "a")])
    assert told(table) == [first, (2, [("-D", 1, "a"), ("+I", 2, "b")])]
    options = {"streaming-read-append-overwrite": "true"}
    assert told(open_table(table.path, options=options)) == [first, (2, [("+I", 2, "b")])]
    assert told(open_table(table.path, options=dict.fromkeys(options, "false"))) == [first]


def test_changes_are_cut_to_columns_and_rows() -> None:
    found = list(changed().changes(columns=["v"], where="k > 1"))
    assert [change.rows.to_pylist() for change in found] == [
        [{"rowkind": "+I", "v": "b"}],
        [{"rowkind": "+I", "v": "B"}, {"rowkind": "+I", "v": "c"}],
    ]


def test_a_consumer_goes_on_where_it_stopped() -> None:
    table = changed()
    reading = table.changes(consumer_id="me")
    assert next(reading).snapshot.id == 1
    assert "me" not in table.maintenance.consumers
    assert next(reading).snapshot.id == 2
    assert table.maintenance.consumers["me"] == Consumer(next_snapshot=2)
    again = [change.snapshot.id for change in table.changes(consumer_id="me")]
    assert again == [2, 3]
    assert table.maintenance.consumers["me"] == Consumer(next_snapshot=4)
    assert list(table.changes(consumer_id="me")) == []
    assert table.maintenance.consumers["me"] == Consumer(next_snapshot=4)
    table.upsert([{"k": 9, "v": "z"}])
    assert [change.snapshot.id for change in table.changes(consumer_id="me")] == [4]


def test_a_consumer_starts_anew_where_told_to() -> None:
    table = changed()
    table._store.consumers.save("me", Consumer(next_snapshot=3))
    assert [c.snapshot.id for c in table.changes(2, consumer_id="me")] == [2, 3]


def test_a_consumer_passes_commits_that_bring_no_rows() -> None:
    table = append_table(COLUMNS, [{"k": 1, "v": "a"}])
    table.maintenance.analyze()
    assert [c.snapshot.id for c in table.changes(consumer_id="me")] == [1]
    assert table.maintenance.consumers["me"] == Consumer(next_snapshot=3)


@pytest.mark.parametrize(
    ("mode", "rows"),
    [
        ("auto", [(2, "B"), (3, "c")]),
        ("delta", [(1, "a"), (2, "B"), (2, "b"), (3, "c")]),
        ("diff", [(2, "B"), (3, "c")]),
    ],
)
def test_between_gives_the_rows_that_came_after_a_snapshot(
    mode: str, rows: list[tuple[int, str]]
) -> None:
    found = changed().between(0, 3, mode=mode).to_arrow()
    assert [tuple(row.values()) for row in rows_of(found)] == rows


@pytest.mark.parametrize("partition_by", [[], ["v"]])
def test_between_gives_what_commits_added_in_their_order(partition_by: list[str]) -> None:
    commits = [[{"k": n, "v": "ab"[n % 2]}, {"k": 10 + n, "v": "a"}] for n in range(6)]
    table = append_table(COLUMNS, *commits[:4], partition_by=partition_by)
    table.add_column("w", "INT")
    table.append([{"k": 98, "v": "a", "w": 1}])
    changes = [row for change in table.changes(2) for row in change.rows.to_pylist()]
    found = table.between(1, 5, mode="delta", row_kinds=True).to_arrow().to_pylist()
    assert found == changes
    table.delete("k > 97")
    for rows in commits[4:]:
        table.append(rows)
    after = table.between(4, 8, mode="delta").to_arrow()
    assert after["k"].to_pylist() == [98, 4, 14, 5, 15]


def test_between_tells_retracted_rows_if_asked() -> None:
    table = changed()
    found = table.between(1, 3, mode="diff", row_kinds=True)
    assert found.name == "db.t, diff of (1, 3]"
    assert found.schema.names == ["rowkind", "k", "v"]
    assert rows_of(found.to_arrow()) == [
        {"rowkind": "+I", "k": 2, "v": "B"},
        {"rowkind": "+I", "k": 3, "v": "c"},
        {"rowkind": "-D", "k": 1, "v": "a"},
    ]
    some = table.between(2, 3, columns=["v"], where="k = 1", row_kinds=True).to_arrow()
    assert some.to_pylist() == [{"rowkind": "-D", "v": "a"}]


def test_between_tags_compares_the_two_states() -> None:
    table = changed()
    table.create_tag("a", 1)
    table.create_tag("c", 3)
    assert rows_of(table.between("a", "c").to_arrow()) == [
        {"k": 2, "v": "B"},
        {"k": 3, "v": "c"},
    ]
    assert table.between("c", "c").to_arrow().num_rows == 0


def test_between_times_compares_the_states_of_these_times() -> None:
    table = changed()
    first = datetime.fromtimestamp(table.snapshots[1].time_millis / 1000, UTC)
    start = table.at(first).snapshot
    assert start is not None
    for given in (first, first.isoformat()):
        found = table.between(given, "2100-01-01", row_kinds=True).to_arrow()
        assert rows_of(found) == rows_of(table.between(start.id, 3, row_kinds=True).to_arrow())
    assert table.between("2000-01-01", 3).to_arrow() == table.between(0, 3).to_arrow()
    table.create_tag("2100-01-01", 1)
    assert table.between(0, "2100-01-01").to_arrow() == table.between(0, 1).to_arrow()


def test_tags_are_compared_when_their_snapshots_have_expired() -> None:
    table = changed()
    table.create_tag("a", 1)
    table.create_tag("b", 2)
    table.maintenance.expire_snapshots(retain_max=1, older_than=datetime.now().astimezone())
    assert [snapshot.id for snapshot in table.snapshots] == [3]
    assert rows_of(table.between("a", "b").to_arrow()) == [{"k": 2, "v": "B"}, {"k": 3, "v": "c"}]
    gone = table.between("a", 3, mode="diff", row_kinds=True).to_arrow().to_pylist()
    assert {"rowkind": "-D", "k": 1, "v": "a"} in gone


def test_states_of_a_table_without_keys_are_compared_by_whole_rows() -> None:
    table = append_table(COLUMNS, [{"k": 1, "v": "a"}, {"k": 1, "v": "a"}], [{"k": 2, "v": "b"}])
    assert table.between(1, 2).to_arrow().to_pylist() == [{"k": 2, "v": "b"}]
    table.compact()
    assert table.between(2, 3, mode="diff", row_kinds=True).to_arrow().num_rows == 0
    table.overwrite([{"k": 1, "v": "a"}, {"k": 3, "v": "c"}])
    found = table.between(1, 4, mode="diff", row_kinds=True).to_arrow()
    assert rows_of(found) == [
        {"rowkind": "+I", "k": 3, "v": "c"},
        {"rowkind": "-D", "k": 1, "v": "a"},
    ]


def test_what_an_overwrite_brought_lies_between_the_tags_around_it() -> None:
    table = append_table(COLUMNS, [{"k": 1, "v": "a"}])
    table.create_tag("before")
    table.overwrite([{"k": 2, "v": "b"}])
    table.create_tag("behind")
    assert table.between("before", "behind").to_arrow().to_pylist() == [{"k": 2, "v": "b"}]


@pytest.mark.parametrize(
    ("start", "end", "mode", "error"),
    [
        (3, 1, "auto", InvalidInputError),
        (1, 9, "auto", NotFoundError),
        ("nothing", 3, "auto", NotFoundError),
        (1, 3, "sideways", InvalidInputError),
    ],
)
def test_points_and_modes_that_are_not_there_are_refused(
    start: int | str, end: int, mode: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        changed().between(start, end, mode=mode)


def test_changes_of_an_expired_snapshot_are_not_told() -> None:
    table = changed()
    table._store.file_io.delete(table._store.paths.snapshot(1))
    with pytest.raises(NotFoundError, match="earliest available snapshot is 2"):
        told(table, 1)
