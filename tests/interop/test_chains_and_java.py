"""Chain tables whose first partition columns tell chains apart, read and kept as by Java."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from oracle import ROW_KIND, JavaPaimon
from oracle.values import Filter
from paimon_explore import Table, open_table
from support.rows import difference

pytestmark = pytest.mark.interop

Row = tuple[str, str, int]
"""Group, time and key."""

LAYOUTS: Mapping[str, tuple[Sequence[str], Sequence[str]]] = {
    "days": (["region"], ["dt"]),
    "days of two columns": (["country", "city"], ["dt"]),
    "days and hours": (["region"], ["dt", "hour"]),
}
"""Columns of the group, and of the chain."""

WHOLE: Sequence[Row] = [
    *(("a x", "20260101 05", k) for k in range(4)),
    *(("a x", "20260105 05", k) for k in range(2, 6)),
    *(("b x", day, k) for day in ("20260101 05", "20260103 05") for k in range(3)),
    *(("d x", "20260103 05", k) for k in range(3)),
    ("e x", "20260102 05", 1),
]
CHANGES: Sequence[Row] = [
    *(("a x", "20260102 05", k) for k in (3, 7)),
    *(("a x", "20260103 23", k) for k in (0, 8)),
    *(("a x", "20260105 05", k) for k in (9,)),
    *(("a x", "20260201 00", k) for k in (2, 10)),
    *(("c x", day, k) for day in ("20260102 05", "20260104 07") for k in (1, 2)),
    *(("d x", day, k) for day in ("20260101 05", "20260103 05", "20260104 05") for k in (2, 3)),
    ("c y", "20260103 05", 5),
]
"""Groups: both branches with gaps, whole partitions only, changes only, changes before."""


def rows_of(
    layout: str, rows: Sequence[Row], turn: int, kind: str = "+I"
) -> list[dict[str, object]]:
    group, chain = LAYOUTS[layout]
    names = [*group, *chain]
    found = []
    for own, time, k in rows:
        texts = [*own.split()[: len(group)], *time.split()[: len(chain)]]
        n = turn * 100 + int(time[:8]) % 100
        values = dict(zip(names, texts, strict=True))
        found.append({**values, "k": k, "v": f"{turn} {own} {time}", "n": n, ROW_KIND: kind})
    return found


def chains(
    java: JavaPaimon, folder: Path, layout: str = "days", options: Mapping[str, str] | None = None
) -> Table:
    """A chain table of Java with chains of several kinds."""
    path = folder / "db.db" / "t"
    group, chain = LAYOUTS[layout]
    formatter = "yyyyMMdd HH" if len(chain) > 1 else "yyyyMMdd"
    every = {
        "bucket": "2",
        "sequence.field": "n",
        "partition.timestamp-pattern": " ".join(f"${name}" for name in chain),
        "partition.timestamp-formatter": formatter,
        "chain-table.enabled": "true",
        "chain-table.chain-partition-keys": ",".join(chain),
        "scan.fallback-snapshot-branch": "snapshot",
        "scan.fallback-delta-branch": "delta",
        **(options or {}),
    }
    java.create_table(
        path,
        [
            *((name, "STRING NOT NULL") for name in (*group, *chain)),
            *(("k", "INT NOT NULL"), ("v", "STRING"), ("n", "BIGINT")),
        ],
        partition_keys=[*group, *chain],
        primary_keys=[*group, *chain, "k"],
        options=every | {"chain-table.enabled": "false"},
    )
    for branch in ("snapshot", "delta"):
        java.create_branch(path, branch)
    for branch in ("", "$branch_snapshot", "$branch_delta"):
        enabled = {"change": "set_option", "key": "chain-table.enabled", "value": "true"}
        java.alter(Path(f"{path}{branch}"), enabled)
    java.write(path, rows_of(layout, WHOLE, 1), branch="snapshot")
    java.write(path, rows_of(layout, CHANGES, 2), branch="delta")
    gone = [("a x", "20260103 05", 1), ("d x", "20260104 05", 0)]
    java.write(path, rows_of(layout, gone, 3, "-D"), branch="delta")
    return open_table(path)


FILTERS: Sequence[tuple[Filter | None, str]] = [
    (None, "TRUE"),
    (("=", "dt", "20260103"), "dt = '20260103'"),
    (("=", "k", 2), "k = 2"),
    ((">", "dt", "20260103"), "dt > '20260103'"),
]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_chains_of_each_group_are_read_as_by_java(
    java: JavaPaimon, tmp_path: Path, layout: str
) -> None:
    table = chains(java, tmp_path, layout)
    group = LAYOUTS[layout][0][0]
    filters = [
        *FILTERS,
        (("=", group, "a"), f"{group} = 'a'"),
        (("!=", group, "a"), f"{group} <> 'a'"),
    ]
    for theirs, ours in filters:
        expected = java.read(table.path) if theirs is None else java.read(table.path, where=theirs)
        assert difference(expected, table.scan(where=ours).to_arrow()) == "", ours
        assert table.scan(where=ours).count() == len(expected) > 0


@pytest.mark.parametrize("layout", LAYOUTS)
def test_java_reads_the_same_rows_after_partitions_of_each_group_were_compacted(
    java: JavaPaimon, tmp_path: Path, layout: str
) -> None:
    table = chains(java, tmp_path, layout)
    before, keys = table.to_arrow(), table.schema.partition_keys
    changes = open_table(table.path, branch="delta").to_arrow().select(keys).to_pylist()
    for values in changes[::2]:
        table.maintenance.compact_chain_table(values)
    assert difference(before, table.to_arrow()) == ""
    assert difference(before, java.read(table.path)) == ""
    assert open_table(table.path, branch="snapshot").count() > len(WHOLE)
