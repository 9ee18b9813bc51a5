"""Consumers of tables whose BLOB columns are in files of their own."""

from support.small_tables import new_catalog
from support.table_model import LATER


def test_an_expiry_keeps_what_tells_whether_the_rows_of_partial_files_are_new() -> None:
    table = new_catalog().create_table(
        "db.t",
        {"k": "INT", "b": "BLOB"},
        options={"row-tracking.enabled": "true", "data-evolution.enabled": "true"},
    )
    table.append([{"k": 1, "b": b"one"}])
    list(table.follow(consumer="job", until="now", timeout=0))
    table.append([{"k": 2, "b": b"two"}])
    table.maintenance.expire_snapshots(retain_min=1, retain_max=1, older_than=LATER)
    assert list(table.snapshots.keys()) == [1, 2]
    [batch] = table.follow(consumer="job", until="now", timeout=0)
    assert batch.rows.to_pylist() == [{"rowkind": "+I", "k": 2, "b": b"two"}]
