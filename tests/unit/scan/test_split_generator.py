import pickle

import pyarrow as pa
import pytest

from paimon_explore.encoding.binary_row.row_encoder import encode_rows
from paimon_explore.scan.manifest_arrays import byte_array
from paimon_explore.scan.splits.data_split import (
    DeletionFile,
    KnownPaths,
    LayeredSplit,
    LocatedFiles,
    Splits,
)
from paimon_explore.scan.splits.split_generator import (
    SplitRules,
    files_as_splits,
    make_splits,
    whole_buckets,
)
from support.arrow import column_of
from support.decoding import with_arity
from support.entries import entries, entry
from support.predicates import row_type_of

KEYS = row_type_of({"k": "INT"})
K = KEYS.fields[0].type


def key(value: int) -> bytes:
    rows = encode_rows([column_of([value], K)], [K])
    found: bytes = with_arity(rows, 1)[0].as_py()
    return found


def file(name: str, low: int = 0, high: int = 0, **values: object) -> dict[str, object]:
    return entry(name, min_key=key(low), max_key=key(high), **values)


def placed(*rows: dict[str, object], **vectors: DeletionFile) -> LocatedFiles:
    found = entries(*rows)
    paths = pa.array([f"/t/{row['file_name']}" for row in rows], pa.string())
    known = {(bytes(12), bucket): vectors for bucket in range(4)}
    return LocatedFiles(
        entries=found, paths_of=KnownPaths(paths), deletion_files=known, snapshot_id=7
    )


def rules(*, keyed: bool, disjoint: bool = False, shares: bool = False) -> SplitRules:
    return SplitRules(
        keys=KEYS if keyed else None,
        levels_disjoint=disjoint,
        shares_rows=shares,
        target_bytes=250,
        open_cost_bytes=10,
    )


def shown(splits: Splits) -> list[tuple[str, bool]]:
    return [
        ("".join(path.rpartition("/")[2] for path in split.paths), split.raw_convertible)
        for split in splits
    ]


def test_no_files_make_no_splits() -> None:
    assert list(make_splits(placed(), rules(keyed=False))) == []
    assert list(make_splits(placed(), rules(keyed=True))) == []
    assert list(whole_buckets(placed())) == []


def test_append_files_are_packed_by_age_up_to_the_target_size() -> None:
    files = placed(
        entry("c", min_sequence_number=3),
        entry("a", min_sequence_number=1),
        entry("b", min_sequence_number=2),
    )
    assert shown(make_splits(files, rules(keyed=False))) == [("ab", True), ("c", True)]


def test_partitions_and_buckets_are_not_mixed_and_keep_their_order() -> None:
    files = placed(
        entry("a", bucket=1),
        entry("b", bucket=0),
        entry("c", bucket=1),
        entry("d", bucket=1, partition=key(1)),
    )
    assert shown(make_splits(files, rules(keyed=False))) == [
        ("ac", True),
        ("b", True),
        ("d", True),
    ]


def test_files_with_common_keys_are_merged_together() -> None:
    files = placed(file("a", 0, 5), file("b", 3, 9), file("c", 10, 12, delete_row_count=1))
    assert shown(make_splits(files, rules(keyed=True))) == [("ab", False), ("c", False)]


def test_a_file_alone_in_its_keys_is_read_as_it_is_unless_it_deletes() -> None:
    alone = file("a", 0, 5, file_size=300)
    deletes = file("b", 6, 7, delete_row_count=2)
    found = make_splits(placed(alone, deletes), rules(keyed=True))
    assert shown(found) == [("a", True), ("b", False)]


@pytest.mark.parametrize("disjoint", [True, False])
@pytest.mark.parametrize("level", [0, 5])
@pytest.mark.parametrize("count", [1, 3])
def test_files_that_state_no_delete_count_are_never_read_raw(
    level: int,
    count: int,
    disjoint: bool,  # noqa: FBT001 - a case
) -> None:
    keyed = rules(keyed=True, disjoint=disjoint)
    files = [
        file(str(n), n * 10, n * 10 + 5, level=level, delete_row_count=None, file_size=200)
        for n in range(count)
    ]
    names = "012"[:count]
    assert shown(make_splits(placed(*files), keyed)) == [(name, False) for name in names]
    known = [{**row, "delete_row_count": 0} for row in files]
    assert shown(make_splits(placed(*known), keyed)) == [(name, True) for name in names]
    mixed = make_splits(placed(*known[1:], files[0]), keyed)
    assert [raw for _, raw in shown(mixed)] == [False, True, True][:count]


@pytest.mark.parametrize(("disjoint", "raw"), [(True, True), (False, False)])
def test_files_of_several_levels_are_read_as_they_are_if_keys_live_once(
    disjoint: bool,  # noqa: FBT001 - a case
    raw: bool,  # noqa: FBT001 - a case
) -> None:
    files = placed(file("a", 0, 5, level=4), file("b", 3, 9, level=5))
    assert shown(make_splits(files, rules(keyed=True, disjoint=disjoint))) == [("ab", raw)]


def test_files_of_one_compacted_level_are_read_as_they_are() -> None:
    files = placed(file("a", 0, 5, level=5), file("b", 6, 9, level=5))
    assert shown(make_splits(files, rules(keyed=True))) == [("ab", True)]


def test_changes_are_read_as_they_were_written() -> None:
    files = placed(file("a", 0, 5), file("b", 3, 9, delete_row_count=1))
    assert shown(files_as_splits(files, rules(keyed=True))) == [("ab", True)]


def test_files_of_the_same_rows_stay_together() -> None:
    files = placed(
        entry("a", first_row_id=0, row_count=10),
        entry("c", first_row_id=10, row_count=5),
        entry("b", first_row_id=0, row_count=10, min_sequence_number=9),
    )
    found = make_splits(files, rules(keyed=False, shares=True))
    assert shown(found) == [("ab", True), ("c", True)]
    assert [split.same_rows for split in found] == [(0, 0), (1,)]


def test_a_split_knows_its_place_and_its_deletion_vectors() -> None:
    vector = DeletionFile(path="/t/index/i", offset=1, length=20, cardinality=2)
    files = placed(entry("a", bucket=3, total_buckets=4, row_count=9), entry("b"), a=vector)
    split = make_splits(files, rules(keyed=False))[0]
    assert (split.snapshot_id, split.bucket, split.total_buckets) == (7, 3, 4)
    assert (split.partition, split.branch, split.row_count) == (bytes(12), "main", 9)
    assert split.deletion_files == {"a": vector}
    assert make_splits(files, rules(keyed=False))[1].deletion_files == {}


def test_a_split_crosses_process_borders() -> None:
    split = make_splits(placed(entry("a")), rules(keyed=False))[0]
    copy = pickle.loads(pickle.dumps(split))  # noqa: S301 - our own bytes
    assert copy.paths == ("/t/a",)
    assert copy.files.rows() == split.files.rows()


def test_layers_count_as_one_split_that_is_merged() -> None:
    layers = whole_buckets(placed(entry("a", row_count=2), entry("b", bucket=1, row_count=3)))
    split = LayeredSplit(layers=tuple(layers), partition=bytes(12))
    assert (split.row_count, split.raw_convertible, split.snapshot_id) == (5, False, None)
    assert len(split.files) == 2


def test_bytes_become_a_binary_array() -> None:
    assert byte_array([b"a", b"", b"bc"]).to_pylist() == [b"a", b"", b"bc"]


def test_splits_are_made_when_they_are_looked_at() -> None:
    splits = make_splits(placed(file("a"), file("b", bucket=1)), rules(keyed=True))
    assert (len(splits), repr(splits)) == (2, "<2 splits of 2 files>")
    assert splits[-1].paths == ("/t/b",)
    assert [split.paths for split in splits[:1]] == [("/t/a",)]
    with pytest.raises(IndexError):
        splits[2]


def test_one_file_of_a_split_is_a_split_of_its_own() -> None:
    (split,) = make_splits(placed(entry("a"), entry("b", row_count=5)), rules(keyed=False))
    assert [split.file(row).paths for row in (0, 1)] == [("/t/a",), ("/t/b",)]
    assert split.file(1).row_count == 5
    assert split.file(1).same_rows == ()


def test_buckets_of_all_kinds_are_packed_side_by_side() -> None:
    files = placed(
        file("a", 0, 5, bucket=0),
        file("z", 7, 9, bucket=2, delete_row_count=3),
        file("b", 5, 9, bucket=0),
        file("x", 0, 1, bucket=1, level=5, file_size=200),
        file("y", 2, 3, bucket=1, level=5),
        file("c", 11, 12, bucket=0, file_size=240),
        file("d", 12, 13, bucket=0, file_size=240),
    )
    assert shown(make_splits(files, rules(keyed=True))) == [
        ("ab", False),
        ("cd", False),
        ("z", False),
        ("x", True),
        ("y", True),
    ]
