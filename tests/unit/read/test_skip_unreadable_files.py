"""Scans of damaged tables that leave out what cannot be read."""

from pathlib import Path

import pyarrow as pa
import pytest

from paimon_explore import Table, open_table
from paimon_explore.errors import CorruptFileError, MissingFileError
from support.small_tables import new_catalog

COLUMNS = {"k": "INT NOT NULL", "v": "STRING"}
LOST, CORRUPT = "scan.ignore-lost-files", "scan.ignore-corrupt-files"


def damaged(folder: Path, *, keyed: bool, lost: bool) -> Table:
    """A table of two commits of which the second one's file is damaged."""
    options = {"bucket": "1", "write-only": "true"} if keyed else {}
    keys = ["k"] if keyed else []
    table = new_catalog(folder).create_table("db.t", COLUMNS, primary_key=keys, options=options)
    table.append([{"k": 1, "v": "a"}, {"k": 2, "v": "b"}])
    before = set(Path(table.path).rglob("data-*"))
    table.append([{"k": 2, "v": "c"}, {"k": 3, "v": "d"}])
    (file,) = set(Path(table.path).rglob("data-*")) - before
    file.unlink() if lost else file.write_bytes(file.read_bytes()[:-20])
    return table


@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize(
    ("lost", "option", "error"),
    [(True, LOST, MissingFileError), (False, CORRUPT, CorruptFileError)],
)
def test_a_damaged_file_is_left_out_if_the_reader_asks_for_that(
    tmp_path: Path,
    *,
    keyed: bool,
    lost: bool,
    option: str,
    error: type[Exception],
) -> None:
    table = damaged(tmp_path, keyed=keyed, lost=lost)
    with pytest.raises(error):
        table.to_arrow()
    mending = open_table(table.path, options={option: "true"})
    with pytest.warns(RuntimeWarning, match="The scan skips an unreadable file.*data-"):
        rows = mending.to_arrow()
    assert rows.sort_by("k").to_pylist() == [{"k": 1, "v": "a"}, {"k": 2, "v": "b"}]
    with pytest.warns(RuntimeWarning):
        assert mending.count() == 2
    other = CORRUPT if lost else LOST
    with pytest.raises(error):
        open_table(table.path, options={other: "true"}).to_arrow()


def test_a_compaction_never_leaves_a_file_out(tmp_path: Path) -> None:
    table = damaged(tmp_path, keyed=True, lost=True)
    table.set_options({LOST: "true"})
    with pytest.raises(MissingFileError):
        open_table(table.path).compact()


def test_columns_of_other_files_stay_when_a_file_of_their_rows_is_lost(tmp_path: Path) -> None:
    options = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
    table = new_catalog(tmp_path).create_table("db.t", COLUMNS, options=options)
    table.append(pa.table({"k": pa.array([1, 2], pa.int32()), "v": ["a", "b"]}))
    before = set(Path(table.path).rglob("data-*"))
    table.update({"v": "'new'"}, "k > 0")
    (file,) = set(Path(table.path).rglob("data-*")) - before
    file.unlink()
    with pytest.warns(RuntimeWarning, match="The scan skips an unreadable file"):
        rows = open_table(table.path, options={LOST: "true"}).to_arrow()
    assert rows.to_pylist() == [{"k": 1, "v": "a"}, {"k": 2, "v": "b"}]
