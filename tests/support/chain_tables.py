"""A chain table whose regions have chains of days of their own."""

from paimon_explore import Catalog
from support.small_tables import new_catalog

WHOLE = [("eu", 1), ("eu", 4), ("us", 2), ("us", 3)]
CHANGES = [("asia", 1), ("asia", 3), ("eu", 2), ("eu", 5), ("us", 1), ("us", 4)]


def chains() -> Catalog:
    """A chain table with one row per partition: region and day."""
    catalog = new_catalog()
    table = catalog.create_table(
        "db.t",
        {"region": "STRING", "dt": "STRING", "k": "INT", "n": "INT"},
        partition_by=["region", "dt"],
        primary_key=["region", "dt", "k"],
        options={
            "bucket": "1",
            "sequence.field": "n",
            "partition.timestamp-pattern": "$dt",
            "partition.timestamp-formatter": "yyyyMMdd",
            "chain-table.enabled": "true",
            "chain-table.chain-partition-keys": "dt",
        },
    )
    for branch, partitions in (("snapshot", WHOLE), ("delta", CHANGES)):
        table.create_branch(branch)
        rows = [{**spec(*partition), "k": partition[1], "n": 1} for partition in partitions]
        catalog.table(f"db.t$branch_{branch}").upsert(rows)
    return catalog


def spec(region: str, day: int) -> dict[str, object]:
    return {"region": region, "dt": f"2026010{day}"}
