"""Tables that are hard to print: wide, with many snapshots, empty, broken, hostile."""

from collections.abc import Callable, Mapping
from pathlib import Path

from paimon_explore import Catalog
from paimon_explore.store.manifests import shared_cache
from support.small_tables import new_catalog

HOSTILE = (
    "a\x1b[31m\x1b]0;title\x07\x9b2J\x7f\u202eb\u200b\u2028\U000e0041<b>[bold red]x[bold]&amp;"
)
LONG = "long_name_" * 20
WIDE = "日本語の列名前がとても長い"
KEYED = {"id": "BIGINT NOT NULL", "v": "STRING", "dt": "STRING NOT NULL"}
_KEEPS_ALL: dict[str, str | int | float | bool] = {
    "bucket": 1,
    "write-only": "true",
    "snapshot.num-retained.min": 5000,
}
_TYPES = ("STRING", "INT", "DOUBLE", "TIMESTAMP(3)", "DECIMAL(20,4)")


def wide_table(catalog: Catalog, columns: int) -> None:
    """`db.wide`: many columns, whose names begin alike."""
    types = {f"column_number_{i:04d}": _TYPES[i % 5] for i in range(1, columns)}
    made = catalog.create_table(
        "db.wide", {"id": "BIGINT NOT NULL", **types}, primary_key="id", options={"bucket": 1}
    )
    for number in range(2):
        made.upsert(
            [{"id": 1, "column_number_0005": "some text " * 20, "column_number_0001": number}]
        )


def long_table(catalog: Catalog, snapshots: int) -> None:
    """`db.long`: many snapshots."""
    made = catalog.create_table(
        "db.long", {"id": "BIGINT NOT NULL", "v": "STRING"}, primary_key="id", options=_KEEPS_ALL
    )
    for number in range(snapshots):
        made.upsert([{"id": number % 7, "v": f"v{number}"}])
    made.create_tag("v1", 3)


def empty_table(catalog: Catalog) -> None:
    """`db.empty`: no snapshot."""
    keys = ["dt", "id"]
    options = {"bucket": 1}
    catalog.create_table("db.empty", KEYED, primary_key=keys, partition_by="dt", options=options)


def hostile_table(catalog: Catalog) -> None:
    """`db.hostile`: names, values and options with control characters, markup, and great length."""
    value = f"v{HOSTILE}"
    made = catalog.create_table(
        "db.hostile",
        {
            "id": "INT NOT NULL",
            value: "STRING",
            LONG: "STRING",
            WIDE: "STRING",
            "dt": "STRING NOT NULL",
        },
        primary_key=["id", "dt"],
        partition_by="dt",
        options={f"my.{HOSTILE}": HOSTILE, "bucket": 1, "long": LONG * 5},
        comment=HOSTILE,
    )
    for _ in range(2):
        made.upsert(
            [
                {"id": 1, value: f"{HOSTILE}\r\n", LONG: LONG, WIDE: "東京都" * 20, "dt": HOSTILE},
                {"id": 2, value: "b", "dt": "日" * 30},
                {"id": 3, value: "x" * 5000, "dt": "d"},
            ]
        )
    made.create_tag(f"t{HOSTILE}")
    made.create_branch("b" + "r" * 60, f"t{HOSTILE}")


def broken_tables(catalog: Catalog, folder: Path) -> None:
    """A table for each of `BROKEN`, with files lost or overwritten."""
    for name, damage in BROKEN.items():
        made = catalog.create_table(
            f"db.{name}", KEYED, primary_key=["dt", "id"], partition_by="dt", options={"bucket": 1}
        )
        for number in range(2):
            made.upsert([{"id": i, "v": f"v{number}", "dt": f"d{i % 2}"} for i in range(4)])
        damage(folder / "db.db" / name)
    shared_cache().clear()  # which has the manifests as they were written


def _each(*patterns: str, content: bytes | None = None) -> Callable[[Path], None]:
    """Remove or overwrite the files of some patterns."""

    def damage(table: Path) -> None:
        found = [path for pattern in patterns for path in table.glob(pattern)]
        assert found
        for path in found:
            path.unlink() if content is None else path.write_bytes(content)

    return damage


BROKEN: Mapping[str, Callable[[Path], None]] = {
    "missing_manifest": _each("manifest/manifest-[0-9a-f]*"),
    "corrupt_manifest": _each("manifest/manifest-[0-9a-f]*", content=b"\x1b[31mgarbage"),
    "missing_manifest_list": _each("manifest/manifest-list-*"),
    "missing_data_file": _each("dt=*/bucket-0/*"),
    "corrupt_data_file": _each("dt=*/bucket-0/*", content=b"PAR1xxPAR1"),
    "missing_schema": _each("schema/*"),
    "corrupt_schema": _each("schema/*", content=b'{"id": 0}'),
    "corrupt_snapshot": _each("snapshot/snapshot-2", content=b"{\x1b"),
}
"""Damage by the name of its table."""


def shown_tables(folder: Path, columns: int, snapshots: int) -> Mapping[str, str]:
    """A warehouse of these tables; the path of each by name."""
    catalog = new_catalog(folder)
    wide_table(catalog, columns)
    long_table(catalog, snapshots)
    empty_table(catalog)
    hostile_table(catalog)
    broken_tables(catalog, folder)
    return {name: f"{folder}/db.db/{name}" for name in NAMES}


NAMES = ("wide", "long", "empty", "hostile", *BROKEN)
"""The names of the tables."""
