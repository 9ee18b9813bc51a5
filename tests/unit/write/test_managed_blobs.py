"""BLOB columns of primary-key tables: descriptors in the data files, contents in managed files."""

import os
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest

from paimon_explore import Catalog, Table, open_table
from paimon_explore.commit.committer import Committer
from paimon_explore.encoding.blob.blob_descriptor import (
    BlobDescriptor,
    decode_descriptor,
    encode_descriptor,
)
from paimon_explore.encoding.blob.blob_file import BlobFileWriter
from paimon_explore.encoding.blob.blob_references import decode_references
from paimon_explore.errors import (
    CommitConflictError,
    InvalidInputError,
    UnsupportedFeatureError,
)
from paimon_explore.write.blob_files import BlobFileSequence
from paimon_explore.write.buckets.bucket_writers import MAX_OPEN_FILES
from support.compacting import live
from support.small_tables import KEYED, new_catalog, rows_of

COLUMNS: Mapping[str, str] = {"k": "INT", "v": "INT", "b": "BLOB"}
PARTIAL = {"merge-engine": "partial-update"}
FIRST = {"merge-engine": "first-row"}
VECTORS = {"deletion-vectors.enabled": "true"}


def new_table(
    folder: Path,
    options: Mapping[str, str] | None = None,
    columns: Mapping[str, str] = COLUMNS,
    partition_by: str | None = None,
    primary_key: tuple[str, ...] = ("k",),
) -> Table:
    """`db.t` on the local disk."""
    return new_catalog(folder).create_table(
        "db.t",
        columns,
        primary_key=primary_key,
        partition_by=partition_by,
        options={**KEYED, **(options or {})},
    )


def rows(*found: tuple[int, int | None, bytes | None]) -> list[dict[str, object]]:
    return [{"k": k, "v": v, "b": b} for k, v, b in found]


def packs(table: Table) -> set[str]:
    """The managed files of the table."""
    return {str(path) for path in Path(table.path).rglob("*.managed.blob")}


def referenced(table: Table) -> list[set[str]]:
    """The managed files that each live file refers to."""
    found = []
    for row in live(table):
        names = row["extra_files"]
        assert names == [f"{row['file_name']}.blobref"]
        (path,) = Path(table.path).rglob(f"{row['file_name']}.blobref")
        found.append(set(decode_references(path.read_bytes(), str(path))))
    return found


def stored(table: Table) -> dict[object, bytes]:
    """Key to stored descriptor."""
    opened = open_table(table.path, options={"blob-as-descriptor": "true"})
    return {row["k"]: row["b"] for row in opened.to_arrow().to_pylist() if row["b"] is not None}


def test_contents_are_in_managed_files_and_descriptors_in_data_files(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    table.upsert(rows((1, 1, b"one"), (2, 2, b""), (3, 3, None)))
    (pack,) = packs(table)
    assert referenced(table) == [{pack}]
    descriptors = {k: decode_descriptor(value) for k, value in stored(table).items()}
    assert descriptors == {
        1: BlobDescriptor(uri=pack, offset=4, length=3),
        2: BlobDescriptor(uri=pack, offset=23, length=0),
    }
    assert rows_of(table.to_arrow()) == rows((1, 1, b"one"), (2, 2, b""), (3, 3, None))
    table.upsert(rows((3, 3, None)))
    assert referenced(table) == [{pack}, set()]
    assert table.maintenance.fsck(read_rows=True) == []


def test_arrays_and_maps_of_blobs(tmp_path: Path) -> None:
    columns = {"k": "INT", "a": "ARRAY<BLOB>", "m": "MAP<STRING NOT NULL, BLOB>"}
    table = new_table(tmp_path, columns=columns)
    written: list[dict[str, object]] = [
        {"k": 1, "a": [b"x", None, b""], "m": [("p", b"y"), ("q", None)]},
        {"k": 2, "a": [], "m": []},
        {"k": 3, "a": None, "m": None},
        {"k": 4, "a": [None], "m": [("r", b"z")]},
    ]
    table.upsert(written)
    assert rows_of(table.to_arrow()) == written
    assert len(packs(table)) == 2
    assert referenced(table) == [packs(table)]
    table.compact(full=True)
    assert rows_of(table.to_arrow()) == written
    assert referenced(table) == [packs(table)]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [(1, 1, b"a"), (2, None, b"B"), (3, 30, None), (4, 4, b"d")]),
        (VECTORS, [(1, 1, b"a"), (2, None, b"B"), (3, 30, None), (4, 4, b"d")]),
        (PARTIAL, [(1, 1, b"a"), (2, 2, b"B"), (3, 30, b"c"), (4, 4, b"d")]),
        (FIRST, [(1, 1, b"a"), (2, 2, b"b"), (3, 3, b"c"), (4, 4, b"d")]),
        (
            {**PARTIAL, "fields.v.sequence-group": "b"},
            [(1, 1, b"a"), (2, 2, b"b"), (3, 30, None), (4, 4, b"d")],
        ),
        (
            {
                **PARTIAL,
                "fields.v.sequence-group": "b",
                "fields.b.aggregate-function": "last_non_null_value",
                "fields.b.ignore-retract": "true",
            },
            [(1, 1, b"a"), (2, 2, b"b"), (3, 30, b"c"), (4, 4, b"d")],
        ),
    ],
)
def test_merge_engines_keep_the_descriptors_of_their_rows(
    tmp_path: Path, options: dict[str, str], expected: list[tuple[int, int, bytes]]
) -> None:
    table = new_table(tmp_path, options)
    table.upsert(rows((1, 1, b"a"), (2, 2, b"b"), (3, 3, b"c")))
    table.upsert(rows((2, None, b"B"), (3, 30, None), (4, 4, b"d")))
    before = packs(table)
    table.compact(full=True)
    assert rows_of(table.to_arrow()) == rows(*expected)
    assert packs(table) == before
    used = {decode_descriptor(value).uri for value in stored(table).values()}
    assert set().union(*referenced(table)) == used
    table.upsert(rows((1, 10, b"A")))
    table.compact(full=True)
    assert table.to_arrow().num_rows == 4
    assert table.maintenance.fsck(read_rows=True) == []


def test_updates_and_deletes_write_only_new_contents(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    table.upsert(rows((1, 1, b"a"), (2, 2, b"b"), (3, 3, b"c"), (4, 4, None)))
    before = packs(table)
    table.update({"v": "v + 1"}, where="k < 3")
    table.delete("k = 3")
    assert packs(table) == before
    table.update({"b": b"new"}, where="b IS NULL OR k = 1")
    assert len(packs(table)) == 2
    assert rows_of(table.to_arrow()) == rows((1, 2, b"new"), (2, 3, b"b"), (4, 4, b"new"))
    table.update({"b": None}, where="k = 4")
    table.compact(full=True)
    assert rows_of(table.to_arrow()) == rows((1, 2, b"new"), (2, 3, b"b"), (4, 4, None))
    assert len(packs(table)) == 2
    assert table.at(snapshot=1).to_arrow().num_rows == 4


def test_merges_keep_blobs_that_they_do_not_set(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    table.upsert(rows((1, 1, b"a"), (2, 2, b"b"), (3, 3, b"c"), (4, 4, b"d")))
    source = pa.table(
        {
            "k": pa.array([1, 2, 3, 9], pa.int32()),
            "v": pa.array([-1, 20, 30, 90], pa.int32()),
            "b": pa.array([b"s1", b"s2", b"s3", b"s9"], pa.large_binary()),
        }
    )
    merge = table.merge(source, on="k").when_matched_delete("source.v < 0")
    merge = merge.when_matched_update({"b": "source.b"}, "source.v = 20")
    merge.when_matched_update({"v": "source.v"}).when_not_matched_insert().execute()
    expected = rows((2, 2, b"s2"), (3, 30, b"c"), (4, 4, b"d"), (9, 90, b"s9"))
    assert rows_of(table.to_arrow()) == expected
    contents = sorted(
        Path(decode_descriptor(value).uri).read_bytes()[decode_descriptor(value).offset :][:2]
        for value in stored(table).values()
    )
    assert [value[:1] for value in contents] == [b"c", b"d", b"s", b"s"]


def test_contents_that_look_like_descriptors_stay_contents(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    table.upsert(rows((1, 1, b"a"), (2, 2, b"b")))
    own = stored(table)[1]
    table.upsert(rows((3, 3, own)))
    table.update({"b": own}, where="k = 2")
    source = pa.table({"k": pa.array([4], pa.int32()), "b": pa.array([own], pa.large_binary())})
    table.merge(source, on="k").when_not_matched_insert().execute()
    expected = rows((1, 1, b"a"), (2, 2, own), (3, 3, own), (4, None, own))
    assert rows_of(table.to_arrow()) == expected


def test_contents_of_descriptors_are_copied_if_asked_for(tmp_path: Path) -> None:
    (tmp_path / "photo").write_bytes(b"0123456789")
    table = new_table(tmp_path / "w", {"blob-as-descriptor": "true"})
    found = encode_descriptor(BlobDescriptor(uri=str(tmp_path / "photo"), offset=2, length=3))
    table.upsert(rows((1, 1, found), (2, 2, b"plain")))
    (tmp_path / "photo").unlink()
    plain = open_table(table.path, options={"blob-as-descriptor": "false"})
    assert rows_of(plain.to_arrow()) == rows((1, 1, b"234"), (2, 2, b"plain"))


def test_descriptor_columns_are_kept_by_changes_of_rows(tmp_path: Path) -> None:
    (tmp_path / "photo").write_bytes(b"0123456789")
    columns = {**COLUMNS, "d": "BLOB"}
    table = new_table(tmp_path / "w", {"blob-descriptor-field": "d"}, columns)
    photo = encode_descriptor(BlobDescriptor(uri=str(tmp_path / "photo"), offset=2, length=3))
    table.upsert([{"k": 1, "v": 1, "b": b"a", "d": photo}])
    table.update({"v": "2"})
    assert rows_of(table.to_arrow()) == [{"k": 1, "v": 2, "b": b"a", "d": b"234"}]
    with pytest.raises(InvalidInputError, match="is no descriptor"):
        table.upsert([{"k": 1, "d": b"contents"}])
    with pytest.raises(UnsupportedFeatureError, match="the contents of the descriptors in 'd'"):
        table.update({"b": "d"})


def test_large_contents_get_several_managed_files(tmp_path: Path) -> None:
    table = new_table(tmp_path, {"blob.target-file-size": "100 b"})
    table.upsert(rows(*((k, k, b"x" * 40) for k in range(5))))
    assert len(packs(table)) == 3
    assert referenced(table) == [packs(table)]
    assert rows_of(table.to_arrow()) == rows(*((k, k, b"x" * 40) for k in range(5)))


def test_few_managed_files_are_open_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = {**COLUMNS, "p": "INT"}
    table = new_table(tmp_path, columns=columns, partition_by="p", primary_key=("k", "p"))
    open_files: list[int] = []
    found: set[BlobFileSequence] = set()
    current = BlobFileSequence.current

    def counted(self: BlobFileSequence) -> BlobFileWriter:
        found.add(self)
        open_files.append(sum(one.is_open for one in found))
        return current(self)

    monkeypatch.setattr(BlobFileSequence, "current", counted)
    written = [{**row, "p": row["k"]} for row in rows(*((k, k, b"%d" % k) for k in range(90)))]
    table.upsert(written)
    assert max(open_files) == MAX_OPEN_FILES + 1
    assert table.to_arrow().sort_by("k").to_pylist() == written


@pytest.mark.parametrize("file_format", ["avro", "orc", "parquet"])
def test_file_formats_and_thin_mode(tmp_path: Path, file_format: str) -> None:
    table = new_table(tmp_path, {"file.format": file_format, "data-file.thin-mode": "true"})
    table.upsert(rows((1, 1, b"a"), (2, 2, b"b")))
    table.upsert(rows((2, 3, b"c")))
    table.compact(full=True)
    assert rows_of(table.to_arrow()) == rows((1, 1, b"a"), (2, 3, b"c"))
    assert referenced(table) == [packs(table)]


def test_buckets_are_changed_without_the_contents(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    table.upsert(rows(*((k, k, b"%d" % k) for k in range(9))))
    before = packs(table)
    table.maintenance.rescale(3)
    assert packs(table) == before
    assert len(live(table)) == 3
    assert rows_of(table.to_arrow()) == rows(*((k, k, b"%d" % k) for k in range(9)))
    assert table.maintenance.fsck(read_rows=True) == []


def test_postponed_rows_keep_their_contents(tmp_path: Path) -> None:
    table = new_table(tmp_path, {"bucket": "-2", "postpone.default-bucket-num": "2"})
    table.upsert(rows(*((k, k, b"%d" % k) for k in range(9))))
    table.delete("k = 3")
    before = packs(table)
    assert {Path(path).parent.name for path in before} == {"bucket-postpone"}
    table.compact()
    assert packs(table) == before
    assert {path.parent.name for path in Path(table.path).rglob("*.blobref")} >= {
        "bucket-0",
        "bucket-1",
    }
    expected = rows(*((k, k, b"%d" % k) for k in range(9)))
    assert rows_of(table.to_arrow()) in (expected, [r for r in expected if r["k"] != 3])


def test_keys_move_between_partitions(tmp_path: Path) -> None:
    columns = {**COLUMNS, "p": "STRING"}
    table = new_table(tmp_path, {"bucket": "-1"}, columns, partition_by="p")
    table.upsert([{**row, "p": "x"} for row in rows((1, 1, b"a"), (2, 2, b"b"))])
    table.upsert([{"k": 1, "v": 3, "b": b"c", "p": "y"}])
    table.update({"p": "'z'"}, where="k = 2")
    assert rows_of(table.to_arrow().select(["k", "v", "b"])) == rows((1, 3, b"c"), (2, 2, b"b"))
    table.maintenance.expire_snapshots(retain_max=1)
    assert rows_of(table.to_arrow().select(["k", "v", "b"])) == rows((1, 3, b"c"), (2, 2, b"b"))


def aged(table: Table) -> None:
    """Make all files of a table old."""
    for path in Path(table.path).rglob("*"):
        os.utime(path, (0.001, 1))


def test_expiry_and_orphan_clean_up_keep_what_descriptors_refer_to(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    table.upsert(rows((1, 1, b"a"), (2, 2, b"b")))
    table.create_tag("one")
    table.create_branch("side", "one")
    side = open_table(table.path, branch="side")
    side.upsert(rows((3, 3, b"side")))
    table.upsert(rows((2, 20, b"B")))
    table.compact(full=True)
    table.delete("k = 1")
    table.compact(full=True)
    before = packs(table)
    table.maintenance.expire_snapshots(retain_max=1)
    stray = Path(table.path) / "bucket-0" / "data-x-0.parquet.blobref"
    stray.write_bytes(b"stray")
    aged(table)
    report = table.maintenance.remove_orphan_files(older_than=timedelta(0), dry_run=False)
    assert report.files == (str(stray),)
    assert packs(table) == before
    assert rows_of(table.to_arrow()) == rows((2, 20, b"B"))
    assert rows_of(table.at(tag="one").to_arrow()) == rows((1, 1, b"a"), (2, 2, b"b"))
    assert rows_of(side.to_arrow()) == rows((1, 1, b"a"), (2, 2, b"b"), (3, 3, b"side"))
    assert table.maintenance.fsck(read_rows=True) == []
    table.rollback_to(tag="one")
    assert rows_of(open_table(table.path).to_arrow()) == rows((1, 1, b"a"), (2, 2, b"b"))


def test_dropped_partitions_leave_their_managed_files(tmp_path: Path) -> None:
    columns = {**COLUMNS, "p": "STRING"}
    table = new_table(tmp_path, columns=columns, partition_by="p", primary_key=("k", "p"))
    table.upsert([{**row, "p": "x"} for row in rows((1, 1, b"a"))])
    table.upsert([{**row, "p": "y"} for row in rows((2, 2, b"b"))])
    before = packs(table)
    table.drop_partitions({"p": "x"})
    table.maintenance.expire_snapshots(retain_max=1)
    assert packs(table) == before
    assert table.to_arrow().column("b").to_pylist() == [b"b"]


def test_fsck_finds_missing_managed_files_and_damaged_references(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    table.upsert(rows((1, 1, b"a")))
    table.compact(full=True)
    table.upsert(rows((2, 2, b"b")))
    assert table.maintenance.fsck() == []
    ((new,),) = [referenced(table)[0]]
    contents = Path(new).read_bytes()
    Path(new).unlink()
    assert [found.what for found in table.maintenance.fsck()] == [f"{new} is missing"]
    Path(new).write_bytes(contents)
    references = Path(table.path) / "bucket-0" / f"{live(table)[0]['file_name']}.blobref"
    references.write_bytes(references.read_bytes()[:-1])
    (found,) = table.maintenance.fsck()
    assert found.path == str(references)
    assert "checksum" in found.what


def test_a_failed_write_leaves_no_files(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    parts: list[dict[str, object]] = [{"k": 1, "b": b"x"}, {"k": "no number"}]
    with pytest.raises(InvalidInputError):
        table.upsert(parts)
    assert not [path for path in Path(table.path).rglob("*") if path.parent.name == "bucket-0"]


def test_a_failed_commit_leaves_no_managed_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = new_table(tmp_path, {"commit.max-retries": "1", "commit.max-retry-wait": "1 ms"})
    table.upsert(rows((1, 1, b"a")))
    before = packs(table)

    def lose(*_: object, **__: object) -> None:
        raise CommitConflictError("lost")

    monkeypatch.setattr(Committer, "commit", lose)
    with pytest.raises(CommitConflictError):
        table.upsert(rows((2, 2, b"b")))
    assert packs(table) == before


def test_transactions_keep_the_contents_of_their_rows(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    table.upsert(rows((1, 1, b"a")))
    before = packs(table)
    with table.transaction() as tx:
        tx.upsert(rows((2, 2, b"b"), (3, 3, b"c")))
        tx.update({"v": "v + 1"}, where="k = 2")
        tx.delete("k = 3")
    assert rows_of(table.to_arrow()) == rows((1, 1, b"a"), (2, 3, b"b"))
    committed = packs(table)

    def roll_back() -> None:
        with table.transaction() as tx:
            tx.upsert(rows((4, 4, b"d")))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        roll_back()
    assert before < committed == packs(table)


def test_an_overwrite_replaces_rows_and_contents(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    table.upsert(rows((1, 1, b"a"), (2, 2, b"b")))
    table.overwrite(rows((3, 3, b"c")))
    assert rows_of(table.to_arrow()) == rows((3, 3, b"c"))
    assert len(packs(table)) == 2


def test_deleted_rows_of_a_column_without_nulls(tmp_path: Path) -> None:
    table = new_table(tmp_path, columns={**COLUMNS, "b": "BLOB NOT NULL"})
    table.upsert(rows((1, 1, b"a"), (2, 2, b"b")))
    table.delete("k = 1")
    table.compact(full=True)
    assert rows_of(table.to_arrow()) == rows((2, 2, b"b"))


def test_columns_are_added_and_dropped(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    table.upsert(rows((1, 1, b"a"), (2, 2, b"b")))
    table.add_column("c", "BLOB")
    table.upsert([{"k": 2, "v": 2, "b": b"B", "c": b"C"}])
    table.compact(full=True)
    expected = [{"k": 1, "v": 1, "b": b"a", "c": None}, {"k": 2, "v": 2, "b": b"B", "c": b"C"}]
    assert rows_of(table.to_arrow()) == expected
    table.drop_column("b")
    table.upsert([{"k": 1, "v": 9}])
    table.compact(full=True)
    assert rows_of(table.to_arrow()) == [{"k": 1, "v": 9, "c": None}, {"k": 2, "v": 2, "c": b"C"}]
    assert len(referenced(table)[0]) == 1
    assert table.maintenance.fsck(read_rows=True) == []


Act = Callable[[Table], object]
WRITES: Mapping[str, Act] = {
    "upsert": lambda table: table.upsert(rows((1, 1, b"x"))),
    "overwrite": lambda table: table.overwrite(rows((1, 1, b"x"))),
    "update": lambda table: table.update({"v": "1"}),
    "delete": lambda table: table.delete("k = 0"),
    "compact": lambda table: table.compact(full=True),
}


@pytest.mark.parametrize("act", list(WRITES))
@pytest.mark.parametrize(
    ("option", "value", "reason"),
    [
        ("changelog-producer", "input", "needs 'changelog-producer' = 'none'"),
        ("changelog-producer", "lookup", "needs 'changelog-producer' = 'none'"),
        ("changelog-producer", "full-compaction", "needs 'changelog-producer' = 'none'"),
        ("data-file.external-paths", "file:///x", "combined with 'data-file.external-paths'"),
    ],
)
def test_what_java_refuses_is_refused_before_a_file_is_made(
    tmp_path: Path, act: str, option: str, value: str, reason: str
) -> None:
    table = new_table(tmp_path)
    table.upsert(rows((0, 0, b"x")))
    table.upsert(rows((0, 0, b"y")))
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    opened = open_table(table.path, options={option: value})
    with pytest.raises(UnsupportedFeatureError, match=reason):
        WRITES[act](opened)
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == before


def test_files_are_not_copied_to_another_table(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    table.upsert(rows((1, 1, b"a")))
    with pytest.raises(UnsupportedFeatureError, match="descriptors refer to files of this table"):
        Catalog(tmp_path).sql("CALL sys.copy('db.t', 'db.u')")


def test_a_table_whose_rows_name_its_files_is_not_moved(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    table.upsert(rows((1, 1, b"one")))
    table.create_tag("old")
    table.drop_column("b")
    catalog = Catalog(tmp_path)
    for rename in (
        lambda: catalog.rename_table("db.t", "db.u"),
        lambda: catalog.rename_database("db", "shop"),
        lambda: catalog.sql("ALTER TABLE db.t RENAME TO db.u"),
    ):
        with pytest.raises(UnsupportedFeatureError, match=r"BLOB column 'b'.*INSERT INTO"):
            rename()
    assert table.at(tag="old").to_arrow().to_pylist() == rows((1, 1, b"one"))
