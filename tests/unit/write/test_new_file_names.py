"""Data files outside of the table."""

from pathlib import Path

import pytest

from paimon_explore.errors import InvalidInputError
from paimon_explore.metadata.options.table_options import TableOptions
from paimon_explore.write.new_file_names import ExternalFolders, external_folders
from support.compacting import live, numbered_table

KEY = "data-file.external-paths"


def test_new_files_take_turns_among_external_folders(tmp_path: Path) -> None:
    roots = [tmp_path / "one", tmp_path / "two"]
    options = {
        KEY: ",".join(f"file://{root}" for root in roots),
        f"{KEY}.strategy": "round-robin",
        "target-file-row-num": "1",
        "file-index.bloom-filter.columns": "k",
    }
    table = numbered_table(tmp_path / "w", options, keyed=False)
    table.append([{"k": k, "v": 1, "s": 1} for k in range(4)])
    paths = sorted(str(row["external_path"]) for row in live(table))
    assert [path.startswith(f"file:{roots[0]}/bucket-0/data-") for path in paths] == [True] * 2 + [
        False
    ] * 2
    assert all(path.startswith(f"file:{roots[1]}/bucket-0/data-") for path in paths[2:])
    assert len(list((roots[0] / "bucket-0").iterdir())) == 4  # with an index beside each
    assert sorted(table.to_arrow().column("k").to_pylist(), key=str) == [0, 1, 2, 3]
    table.compact()
    assert str(live(table)[0]["external_path"]).startswith("file:")
    assert table.to_arrow().num_rows == 4
    assert table.maintenance.fsck() == []


def test_without_a_strategy_files_lie_in_the_table(tmp_path: Path) -> None:
    table = numbered_table(tmp_path, {KEY: f"file://{tmp_path}/x"}, keyed=False)
    table.append([{"k": 1, "v": 1, "s": 1}])
    assert live(table)[0]["external_path"] is None


def folders(**options: str) -> ExternalFolders:
    texts = {KEY: "oss://a,s3://b/c/", **{f"{KEY}.{k}": v for k, v in options.items()}}
    found = external_folders(TableOptions(texts))
    assert found is not None
    return found


def test_a_strategy_may_choose_by_file_system_or_weight() -> None:
    chosen = folders(strategy="specific-fs", **{"specific-fs": "S3"})
    assert (chosen.roots, chosen.path("dt=1/bucket-0", "f", 9)) == (
        ("s3://b/c",),
        "s3://b/c/dt=1/bucket-0/f",
    )
    weighted = folders(strategy="weight-robin", weights="1,1000000")
    paths = {weighted.path("b", "f", i) for i in range(20)}
    assert "s3://b/c/b/f" in paths


def test_entropy_goes_between_bucket_and_name() -> None:
    found = folders(strategy="entropy-inject").path("bucket-0", "data-1", 0)
    root, *bits, name = found.removeprefix("oss://").split("/")
    assert (root, bits[0], name) == ("a", "bucket-0", "data-1")
    assert [len(part) for part in bits[1:]] == [4, 4, 4, 8]


@pytest.mark.parametrize(
    "options",
    [
        {"strategy": "specific-fs"},
        {"strategy": "specific-fs", "specific-fs": "gs"},
        {"strategy": "weight-robin", "weights": "1"},
        {"strategy": "weight-robin", "weights": "1,-2"},
    ],
)
def test_options_that_do_not_fit_together_are_refused(options: dict[str, str]) -> None:
    with pytest.raises(InvalidInputError):
        folders(**options)


def test_an_external_path_needs_a_scheme() -> None:
    with pytest.raises(InvalidInputError, match="scheme"):
        external_folders(TableOptions({KEY: "x/y", f"{KEY}.strategy": "round-robin"}))
