"""How the index files of a table combine with those of a commit."""

import pytest

from paimon_explore.commit.file_changes import Changes
from paimon_explore.commit.index_files import combine_index
from paimon_explore.errors import CommitConflictError
from paimon_explore.metadata.manifest.index_manifest import IndexEntries
from support.entries import index, index_row, int_row, vector_row


def combined(
    before: IndexEntries,
    added: IndexEntries | None = None,
    gone: IndexEntries | None = None,
    *,
    is_bucketed: bool = True,
) -> list[object]:
    changes = Changes(
        added_index=added or IndexEntries.empty(), deleted_index=gone or IndexEntries.empty()
    )
    return [
        row["file_name"] for row in combine_index(before, changes, is_bucketed=is_bucketed).rows()
    ]


def test_a_new_hash_index_replaces_that_of_its_bucket() -> None:
    before = index(index_row("a"), index_row("b", bucket=1))
    replaced = index(index_row("b", bucket=1))
    assert combined(before, index(index_row("c", bucket=1)), replaced) == ["a", "c"]
    assert combined(before, index(index_row("c", bucket=2))) == ["a", "b", "c"]


def test_a_hash_index_that_has_not_seen_the_keys_of_another_job_is_a_conflict() -> None:
    before = index(index_row("b", bucket=1))
    with pytest.raises(CommitConflictError, match="added keys to bucket 1"):
        combined(before, index(index_row("c", bucket=1)))
    with pytest.raises(CommitConflictError, match="added keys to bucket 1"):
        combined(before, index(index_row("c", bucket=1)), index(index_row("a", bucket=1)))


def test_vectors_of_a_bucket_are_replaced_as_a_whole() -> None:
    before = index(vector_row("a", "f1"), index_row("h"))
    replaced = index(vector_row("a", "f1"))
    assert combined(before, index(vector_row("b", "f1", "f2")), replaced) == ["b", "h"]
    assert combined(before, gone=index(vector_row("a", "f1"))) == ["h"]


def test_vectors_of_a_bucket_that_another_commit_has_replaced_are_a_conflict() -> None:
    before, new = index(vector_row("a", "f1")), index(vector_row("c", "f1", "f2"))
    with pytest.raises(CommitConflictError, match="changed the deletion vectors of data file f1:"):
        combined(before, new)
    with pytest.raises(CommitConflictError, match="changed the deletion vectors of data file f1:"):
        combined(before, new, index(vector_row("b", "f1")))
    with pytest.raises(CommitConflictError, match="changed the deletion vectors of data file f1:"):
        combined(index(), new, index(vector_row("a", "f1")))


@pytest.mark.parametrize("kind", ["HASH", "DELETION_VECTORS", "btree"])
@pytest.mark.parametrize("is_bucketed", [True, False])
def test_an_index_file_that_goes_is_the_one_that_the_change_was_planned_on(
    kind: str, *, is_bucketed: bool
) -> None:
    before = index(index_row("a", index_type=kind))
    assert combined(before, gone=before, is_bucketed=is_bucketed) == []
    with pytest.raises(CommitConflictError):
        combined(before, gone=index(index_row("b", index_type=kind)), is_bucketed=is_bucketed)
    with pytest.raises(CommitConflictError):
        combined(
            before, gone=index(index_row("a", index_type=kind, bucket=9)), is_bucketed=is_bucketed
        )


def test_without_buckets_vector_files_come_and_go_by_name() -> None:
    before = index(vector_row("a", "f1"), vector_row("b", "f2"))
    after = combined(
        before, index(vector_row("c", "f1")), index(vector_row("a", "f1")), is_bucketed=False
    )
    assert after == ["b", "c"]


def test_a_vector_file_that_is_gone_already_is_a_conflict() -> None:
    with pytest.raises(CommitConflictError, match="changed the deletion vectors of data file f1:"):
        combined(index(), gone=index(vector_row("a", "f1")), is_bucketed=False)


def test_two_vectors_of_one_data_file_are_a_conflict() -> None:
    with pytest.raises(CommitConflictError, match="deleted rows of data file f1, whose rows"):
        combined(index(vector_row("a", "f1")), index(vector_row("c", "f1")), is_bucketed=False)
    with pytest.raises(
        CommitConflictError, match="f1 has deletion vectors in the index files a and c"
    ):
        combined(index(), index(vector_row("a", "f1"), vector_row("c", "f1")), is_bucketed=False)
    apart = index(vector_row("a", "f1"), vector_row("c", "f1", partition=int_row(1)))
    assert combined(index(), apart, is_bucketed=False) == ["a", "c"]


def ranged(name: str, low: int, high: int, field: int = 1) -> dict[str, object]:
    found = {"row_range_start": low, "row_range_end": high, "index_field_id": field}
    empty = {"extra_field_ids": None, "index_meta": None, "source_meta": None}
    return index_row(name, index_type="btree", global_index={**found, **empty})


def test_global_indexes_of_one_field_cover_disjoint_rows() -> None:
    before = index(ranged("a", 0, 9))
    assert combined(before, index(ranged("b", 10, 19))) == ["a", "b"]
    assert combined(before, index(ranged("b", 5, 19, field=2))) == ["a", "b"]
    assert combined(before, index(ranged("b", 5, 19)), index(ranged("a", 0, 9))) == ["b"]
    for other in (ranged("b", 9, 19), ranged("b", -5, 0), ranged("b", 3, 4)):
        with pytest.raises(CommitConflictError, match=r"covers rows .* covers, too"):
            combined(before, index(other))
    divided = index(ranged("c", 10, 19), ranged("b", 10, 19), ranged("d", 20, 29))
    assert combined(before, divided) == ["a", "c", "b", "d"]
    for low, high in ((10, 18), (19, 20)):
        with pytest.raises(CommitConflictError, match="covers, too"):
            combined(before, index(ranged("b", 10, 19), ranged("c", low, high)))


def test_a_file_that_is_there_already_is_a_conflict() -> None:
    with pytest.raises(CommitConflictError, match="already"):
        combined(index(ranged("a", 0, 9)), index(ranged("a", 20, 29)))
