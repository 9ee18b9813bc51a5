"""Few manifests instead of many, with the same live files."""

from paimon_explore.commit.manifest_merge import MergeRules, merge_candidates
from paimon_explore.commit.manifest_merge import merge_manifests as merge_weighed
from paimon_explore.commit.manifest_writer import ManifestWriter
from paimon_explore.metadata.manifest.entry_cancellation import live_entries
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from support.entries import entries, entry, int_row, names
from support.new_tables import new_table

LARGE = 8 * 1024 * 1024


def writer(target_bytes: int = LARGE) -> ManifestWriter:
    store, schema = new_table({"p": "INT", "v": "INT"}, partition_keys=["p"])
    return ManifestWriter(
        store=store,
        partition_type=schema.partition_type,
        codec="zstandard",
        target_bytes=target_bytes,
    )


def added(name: str, partition: int = 0) -> dict[str, object]:
    return entry(name, partition=int_row(partition))


def gone(name: str, partition: int = 0) -> dict[str, object]:
    return entry(name, kind=1, partition=int_row(partition))


def manifests(to: ManifestWriter, *groups: list[dict[str, object]]) -> ManifestFiles:
    return ManifestFiles.concat([to.entries(entries(*group)) for group in groups])


def merge_manifests(before: ManifestFiles, to: ManifestWriter, rules: MergeRules) -> ManifestFiles:
    return merge_weighed(before, merge_candidates(before, rules), to, rules)


def held(to: ManifestWriter, files: ManifestFiles) -> list[list[str]]:
    return [names(to.store.manifests.read(name)) for name in files.names]


RULES = MergeRules(target_bytes=LARGE, full_bytes=16 * 1024 * 1024, min_count=3)


def test_few_small_manifests_stay_as_they_are() -> None:
    to = writer()
    before = manifests(to, [added("a")], [added("b")])
    assert merge_manifests(before, to, RULES).names == before.names


def test_many_small_manifests_become_one() -> None:
    to = writer()
    before = manifests(to, [added("a", 3)], [added("b", 1)], [added("c", 2)])
    after = merge_manifests(before, to, RULES)
    assert held(to, after) == [["+a", "+b", "+c"]]
    row = after.rows()[0]
    assert (row["num_added_files"], row["num_deleted_files"]) == (3, 0)
    assert (row["partition_min"], row["partition_max"]) == (int_row(1), int_row(3))
    assert row["partition_null_counts"] == [0]
    assert (row["min_bucket"], row["max_level"], row["schema_id"]) == (0, 0, 0)


def test_a_minor_merge_cancels_what_meets_and_keeps_other_deletions() -> None:
    to = writer()
    before = manifests(to, [added("a"), added("b")], [gone("a"), gone("x")], [added("c")])
    assert held(to, merge_manifests(before, to, RULES)) == [["+b", "-x", "+c"]]


def test_manifests_that_reach_the_target_together_are_merged_at_once() -> None:
    to = writer()
    before = manifests(to, [added("a")], [added("b")], [added("c")])
    sizes = [int(str(row["file_size"])) for row in before.rows()]
    rules = MergeRules(target_bytes=sizes[0] + 1, full_bytes=2**40, min_count=30)
    assert held(to, merge_manifests(before, to, rules)) == [["+a", "+b"], ["+c"]]


def test_a_full_merge_carries_deletions_out() -> None:
    to = writer()
    before = manifests(to, [added("a"), added("b")], [gone("a")], [added("c"), gone("b")])
    rules = MergeRules(target_bytes=LARGE, full_bytes=1, min_count=30)
    assert held(to, merge_manifests(before, to, rules)) == [["+c"]]


def test_a_full_merge_keeps_large_manifests_that_lose_nothing() -> None:
    to = writer()
    before = manifests(to, [added(f"a{i}") for i in range(50)], [added("b")], [gone("b")])
    size = int(str(before.rows()[0]["file_size"]))
    rules = MergeRules(target_bytes=size, full_bytes=1, min_count=30)
    after = merge_manifests(before, to, rules)
    assert after.names == before.names[:1]


def test_a_full_merge_without_deletions_reads_only_small_manifests() -> None:
    to = writer()
    large = [[added(f"{part}{i}") for i in range(50)] for part in "ab"]
    before = manifests(to, [added("c")], large[0], [added("d")], large[1])
    size = int(str(before.rows()[1]["file_size"]))
    rules = MergeRules(target_bytes=size, full_bytes=1, min_count=30)
    after = merge_manifests(before, to, rules)
    assert after.names[:2] == [before.names[1], before.names[3]]
    assert held(to, after)[2:] == [["+c", "+d"]]


def test_a_full_merge_of_one_manifest_is_none() -> None:
    to = writer()
    before = manifests(to, [added("a")])
    rules = MergeRules(target_bytes=LARGE, full_bytes=1, min_count=30)
    assert merge_manifests(before, to, rules).names == before.names


def test_nothing_is_left_when_everything_was_deleted() -> None:
    to = writer()
    before = manifests(to, [added("a")], [gone("a")])
    rules = MergeRules(target_bytes=LARGE, full_bytes=1, min_count=30)
    assert len(merge_manifests(before, to, rules)) == 0


def test_entries_beyond_the_target_size_are_spread_over_manifests() -> None:
    to = writer(target_bytes=4000)
    found = to.entries(entries(*[added(f"data-{i:08d}") for i in range(2000)]))
    assert len(found) == 2
    read = to.store.manifests.read_many(found.names)
    assert names(read) == [f"+data-{i:08d}" for i in range(2000)]
    assert sum(int(str(row["num_added_files"])) for row in found.rows()) == 2000


def test_large_manifests_are_merged_without_decoding_them() -> None:
    to = writer()
    big = [
        [added(f"{part}-{i:06d}-{i * 7919 % 10007}", i % 3) for i in range(4000)] for part in "ab"
    ]
    before = manifests(to, big[0], [added("x", 5)], [added("y")], big[1])
    rules = MergeRules(target_bytes=2**40, full_bytes=2**50, min_count=3)
    after = merge_manifests(before, to, rules)
    assert len(after) == 1
    read = to.store.manifests.read(after.names[0])
    expected = [row["file_name"] for row in [*big[0], added("x"), added("y"), *big[1]]]
    assert [name[1:] for name in names(read)] == expected
    assert len(live_entries(read)) == 8002
    assert after.rows()[0]["partition_max"] == int_row(5)
