from datetime import datetime

import pyarrow as pa
import pytest

from paimon_explore import Table, open_table
from paimon_explore.errors import InvalidInputError, NotFoundError
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
def test_changes_tell_what_an_overwrite_replaced_if_the_table_says_so(producer: str) -> None:
    table = changed(changelog_producer=producer)
    table.overwrite([{"k": 2, "v": "new"}])
    assert told(table) == EXPECTED
    table.maintenance.set_options({"streaming-read-overwrite": "true"})
    replaced: list[tuple[object, ...]] = [("-D", 2, "B"), ("-D", 3, "c"), ("+I", 2, "new")]
    assert told(open_table(table.path)) == [*EXPECTED, (4, replaced)]


def test_rows_that_an_overwrite_replaced_are_not_told_when_they_were_deleted_before() -> None:
    table = changed(deletion_vectors__enabled="true", streaming_read_overwrite="true")
    table.compact()
    table.overwrite([{"k": 2, "v": "new"}])
    replaced: list[tuple[object, ...]] = [("-D", 2, "B"), ("-D", 3, "c"), ("+I", 2, "new")]
    assert told(table)[-1][1] == replaced


def test_changes_of_a_table_without_keys_tell_the_new_rows_of_an_overwrite_alone() -> None:
    table = append_table(COLUMNS, [{"k": 1, "v": "a"}])
    table.overwrite([{"k": 2, "v": "b"}])
    first: tuple[int, list[tuple[object, ...]]] = (1, [("+I", 1, "a")])
    assert told(table) == [first]
    options = {"streaming-read-append-overwrite": "true"}
    assert told(open_table(table.path, options=options)) == [first, (2, [("+I", 2, "b")])]


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
    assert "me" not in table.consumers
    assert next(reading).snapshot.id == 2
    assert table.consumers["me"] == Consumer(next_snapshot=2)
    again = [change.snapshot.id for change in table.changes(consumer_id="me")]
    assert again == [2, 3]
    assert table.consumers["me"] == Consumer(next_snapshot=4)
    assert list(table.changes(consumer_id="me")) == []
    assert table.consumers["me"] == Consumer(next_snapshot=4)
    table.upsert([{"k": 9, "v": "z"}])
    assert [change.snapshot.id for change in table.changes(consumer_id="me")] == [4]


def test_a_consumer_starts_anew_where_told_to() -> None:
    table = changed()
    table.store.consumers.save("me", Consumer(next_snapshot=3))
    assert [c.snapshot.id for c in table.changes(2, consumer_id="me")] == [2, 3]


def test_a_consumer_passes_commits_that_bring_no_rows() -> None:
    table = append_table(COLUMNS, [{"k": 1, "v": "a"}])
    table.truncate()
    assert [c.snapshot.id for c in table.changes(consumer_id="me")] == [1]
    assert table.consumers["me"] == Consumer(next_snapshot=3)


@pytest.mark.parametrize(
    ("mode", "rows"),
    [
        ("auto", [(1, "a"), (2, "B"), (3, "c")]),
        ("delta", [(2, "B"), (3, "c")]),
        ("diff", [(2, "B"), (3, "c")]),
    ],
)
def test_between_gives_the_rows_that_came_after_a_snapshot(
    mode: str, rows: list[tuple[int, str]]
) -> None:
    start = 0 if mode == "auto" else 1
    wanted = rows if mode != "auto" else [(1, "a"), (2, "B"), (2, "b"), (3, "c")]
    found = changed().between(start, 3, mode=mode).to_arrow()
    assert [tuple(row.values()) for row in rows_of(found)] == wanted


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
    table.store.file_io.delete(table.store.paths.snapshot(1))
    with pytest.raises(NotFoundError, match="earliest that is kept is 2"):
        told(table, 1)
