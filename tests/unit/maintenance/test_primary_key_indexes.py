"""Primary-key indexes that compactions build, replace and drop."""

from collections.abc import Mapping
from typing import Any

import pytest

from paimon_explore import Table, col, open_table
from paimon_explore.commit.committer import Committer
from paimon_explore.encoding.global_index.index_sources import IndexSources, decode_sources
from paimon_explore.errors import CommitConflictError, UnsupportedFeatureError
from paimon_explore.maintenance.compaction.compact import compact_table
from paimon_explore.metadata.options.table_options import TableOptions
from support.global_indexes import TYPES, given
from support.small_tables import new_catalog

VECTORS = {"bucket": "1", "deletion-vectors.enabled": "true"}
BOTH = {"pk-btree.index.columns": "n", "pk-bitmap.index.columns": "v"}


def table_of(
    options: Mapping[str, str] | None = None, columns: Mapping[str, str] | None = None
) -> Table:
    return new_catalog().create_table(
        "db.t",
        {"k": "INT", **(columns or {"v": "STRING", "n": "INT"})},
        primary_key="k",
        options={**VECTORS, **(BOTH if options is None else options)},
    )


def rows(keys: range, v: str = "a") -> list[dict[str, object]]:
    return [{"k": k, "v": v, "n": k // 10} for k in keys]


def compacted(options: Mapping[str, str] | None = None) -> Table:
    """A table with 40 rows of value `a` and 60 of value `x`."""
    table = table_of(options)
    table.upsert(rows(range(50)))
    table.upsert(rows(range(40, 100), "x"))
    table.compact()
    return table


def indexes(table: Table) -> list[dict[str, Any]]:
    """The entries of btree and bitmap indexes."""
    snapshot = table._store.snapshots.latest()
    assert snapshot is not None
    return [
        row
        for row in table._store.manifests.index_of(snapshot).rows()
        if row["global_index"] is not None
    ]


def sources(table: Table) -> dict[str, IndexSources]:
    return {
        row["index_type"]: decode_sources(row["global_index"]["source_meta"], path="")
        for row in indexes(table)
    }


def test_a_compaction_indexes_the_files_that_it_writes() -> None:
    table = table_of()
    table.upsert(rows(range(50)))
    assert indexes(table) == []
    table.upsert(rows(range(40, 100), "x"))
    table.compact()
    (file,) = table.inspect.system_table("files").to_arrow().to_pylist()
    found = sources(table)
    assert found.keys() == {"btree", "bitmap"}
    for one in found.values():
        (source,) = one.files
        assert (one.level, one.row_count) == (5, 100)
        assert file["file_path"].endswith(source.name)
    assert table.explain(where="v = 'a'").notes == (
        "Primary-key index (bitmap of 'v'): 40 of 100 rows are read; 0 of them have no index.",
    )
    assert table.scan(where="v = 'a' AND n = 3").count() == 10


def test_files_that_were_only_moved_have_no_index() -> None:
    table = table_of()
    table.upsert(rows(range(50)))
    table.compact()
    assert indexes(table) == []
    assert table.explain(where="v = 'a'").notes == ()
    assert table.scan(where="v = 'a'").count() == 50


def test_deleted_rows_and_newer_files_are_right_and_indexes_stay() -> None:
    table = compacted()
    before = indexes(table)
    table.upsert(rows(range(10), "new"))
    table.delete("k = 20")
    assert indexes(table) == before
    assert table.scan(where="v = 'a'").count() == 29
    assert table.scan(where="v = 'new'").count() == 10
    (note,) = table.explain(where="v = 'new'").notes
    assert note.endswith("rows are read; 10 of them have no index.")


def test_a_later_compaction_replaces_the_indexes_of_its_files() -> None:
    table = table_of()
    for v in ("a", "b", "c"):
        table.upsert(rows(range(50), v))
        table.compact(full=True)
    assert [row["row_count"] for row in indexes(table)] == [50, 50]
    assert table.scan(where="v = 'b'").count() == 0
    table.maintenance.expire_snapshots(retain_max=1, retain_min=1, older_than="0 s")
    assert len(table._store.file_io.list(table._store.paths.index_dir)) == 2
    assert list(table.maintenance.fsck(read_rows=True)) == []


def test_a_minor_compaction_indexes_its_level_and_keeps_the_others() -> None:
    table = table_of(
        {**BOTH, "write-only": "true", "num-sorted-run.compaction-trigger": "3"},
    )
    table.upsert(rows(range(1000)))
    table.upsert(rows(range(400, 1000), "x"))
    table.compact()
    before = {row["file_name"] for row in indexes(table)}
    for v in ("b", "c"):
        table.upsert(rows(range(5), v))
    table.compact(full=False)
    after = {row["file_name"]: row["row_count"] for row in indexes(table)}
    assert before < after.keys()
    assert sorted(after.values()) == [5, 5, 1000, 1000]
    assert table.scan(where="v = 'c'").count() == 5
    assert table.scan(where="v = 'b'").count() == 0
    assert table.scan(where="v = 'a'").count() == 395


def test_indexes_that_the_options_no_longer_name_go_with_their_files() -> None:
    table = compacted()
    table.set_options({"pk-btree.index.columns": None})
    table = open_table(table.path)
    assert table.explain(where="n = 3").notes == ()
    table.upsert(rows(range(50), "y"))
    table.compact()
    assert [row["index_type"] for row in indexes(table)] == ["bitmap"]
    table.set_options({"pk-bitmap.index.columns": None})
    table = open_table(table.path)
    table.upsert(rows(range(50), "z"))
    table.compact()
    assert indexes(table) == []


def test_a_full_compaction_builds_the_indexes_that_files_lack() -> None:
    table = compacted({})
    assert table.compact() is None
    table.set_options(BOTH)
    table = open_table(table.path)
    assert table.compact(full=False) is None
    assert table.what_if.compact().to_arrow().num_rows == 0
    snapshot = table.compact()
    assert snapshot is not None
    assert snapshot.commit_kind.value == "COMPACT"
    assert snapshot.total_record_count == 100
    assert [row["row_count"] for row in indexes(table)] == [100, 100]
    assert table.scan(where="v = 'a'").count() == 40
    assert table.compact() is None


def test_an_index_over_files_that_are_gone_is_a_conflict() -> None:
    table = compacted({})
    table.set_options(BOTH)
    schema = table._store.schemas.latest()
    assert schema is not None
    waiting = compact_table(table._store, schema, TableOptions(schema.options))
    table.maintenance.rescale(2)
    with pytest.raises(CommitConflictError, match=r"deletes or indexes, is no longer in the table"):
        Committer(table._store, schema).commit(waiting)


def test_the_removal_of_a_missing_file_drops_its_indexes() -> None:
    table = compacted({**BOTH, "bucket": "2"})
    assert len(indexes(table)) == 4
    lost, kept = table.inspect.system_table("files").to_arrow().to_pylist()
    table._store.file_io.delete(lost["file_path"])
    assert table.maintenance.remove_unexisting_files(dry_run=False).records == lost["record_count"]
    assert [row["row_count"] for row in indexes(table)] == [kept["record_count"]] * 2
    assert table.scan(where="v = 'x' OR v = 'a'").count() == kept["record_count"]


def test_checks_find_indexes_that_do_not_have_the_rows_of_their_files() -> None:
    table = compacted()
    assert list(table.maintenance.fsck(read_rows=True)) == []
    files = {
        row["index_type"]: table._store.paths.index(row["file_name"]) for row in indexes(table)
    }
    other = table_of()
    other.upsert(rows(range(50)))
    other.upsert(
        [
            {**row, "n": {40: 5, 50: 4}.get(k, row["n"])}
            for k, row in enumerate(rows(range(40, 100), "x"), 40)
        ]
    )
    other.compact()
    for row in indexes(other):
        data = other._store.file_io.read(other._store.paths.index(row["file_name"]))
        if row["index_type"] == "btree":
            table._store.file_io.replace(files["btree"], data)
    (wrong,) = open_table(table.path).maintenance.fsck(read_rows=True)
    assert wrong.what == "2 of 100 rows are not found, or by other values"
    assert wrong.path == files["btree"]


def test_a_rescale_drops_the_indexes_of_the_files_that_it_replaces() -> None:
    table = compacted()
    table.maintenance.rescale(2)
    assert indexes(table) == []
    assert table.scan(where="v = 'a'").count() == 40


@pytest.mark.parametrize("kind", ["btree", "bitmap"])
def test_every_type_is_indexed(kind: str) -> None:
    table = table_of({f"pk-{kind}.index.columns": ",".join(TYPES)}, TYPES)
    given_rows = [{"k": k, **row} for k, row in enumerate(given())]
    table.upsert(given_rows[:20])
    table.upsert(given_rows[10:])
    table.compact()
    for column in TYPES:
        value = given_rows[9][column]
        matching = sum(row[column] == value for row in given_rows)
        (note,) = table.explain(where=col(column) == value).notes
        assert note == (
            f"Primary-key index ({kind} of {column!r}): {matching} of {len(given_rows)} rows are "
            "read; 0 of them have no index."
        )
        assert table.scan(where=col(column) == value).to_arrow().num_rows == matching
        nulls = table.scan(where=col(column).is_null()).to_arrow()
        assert nulls.num_rows == sum(row[column] is None for row in given_rows)


def test_char_columns_get_no_index() -> None:
    table = table_of({"pk-btree.index.columns": "c"}, {"c": "CHAR(3)"})
    for _ in range(2):
        table.upsert([{"k": 1, "c": "ab"}, {"k": 2, "c": "abc"}])
    table.compact()
    assert indexes(table) == []
    assert table.scan(where="c = 'abc'").count() == 1


def test_global_indexes_are_for_tables_with_data_evolution() -> None:
    with pytest.raises(UnsupportedFeatureError, match="without data evolution"):
        table_of().maintenance.create_global_index("n")
