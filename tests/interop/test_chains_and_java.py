"""Chain tables whose first partition columns tell chains apart, read and kept as by Java."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

from oracle import ROW_KIND, SNAPSHOT, JavaPaimon, JavaPaimonError
from oracle.values import Filter
from paimon_explore import Table, open_table
from paimon_explore.errors import InvalidInputError
from support.chain_machine import CHAIN_KINDS, ChainMachine
from support.depth import DEEP, some
from support.rows import difference
from support.table_machine import run_histories

pytestmark = pytest.mark.interop

Row = tuple[str, str, int]
"""Group, time and key."""

Acts = tuple[Callable[[], object], Callable[[], object]]
"""What Java and we do."""

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
    for branch in ("snapshot", "delta"):
        open_table(table.path, branch=branch).compact()
    assert difference(before, java.read(table.path)) == ""
    changes = open_table(table.path, branch="delta").to_arrow().select(keys).to_pylist()
    for values in changes[::2]:
        table.maintenance.compact_chain_table(values)
    assert difference(before, table.to_arrow()) == ""
    assert difference(before, java.read(table.path)) == ""
    assert open_table(table.path, branch="snapshot").count() > len(WHOLE)


PARTITIONS = {
    branch: [{"region": g, "dt": day} for g, day in sorted({(g[0], t[:8]) for g, t, _ in rows})]
    for branch, rows in (("snapshot", WHOLE), ("delta", CHANGES))
}


def dropped(java: JavaPaimon, path: Path, branch: str, spec: Mapping[str, str]) -> Acts:
    own = open_table(path, branch=branch)
    if not spec:
        return partial(java.truncate, f"{path}$branch_{branch}"), own.truncate
    drop = partial(java.drop_partitions, f"{path}$branch_{branch}")
    return partial(drop, spec), partial(own.drop_partitions, spec)


def overwritten(java: JavaPaimon, path: Path, branch: str, spec: Mapping[str, str]) -> Acts:
    rows = [{**spec, "k": 90, "v": "new", "n": 999}]
    write = partial(java.write, path, rows, branch=branch, overwrite=spec)
    return write, partial(open_table(path, branch=branch).overwrite, rows, partition=spec)


CASES = [
    *((dropped, branch, spec) for branch, specs in PARTITIONS.items() for spec in specs),
    *((dropped, branch, {"region": own}) for branch in PARTITIONS for own in "abcde"),
    *((dropped, branch, {}) for branch in PARTITIONS),
    *((overwritten, branch, spec) for branch, specs in PARTITIONS.items() for spec in specs),
]


def outcome(act: Callable[[], object], path: Path) -> object:
    """The partitions and rows after an act, or that it was refused."""
    try:
        act()
    except (JavaPaimonError, InvalidInputError) as error:
        return "refused" if "cannot be dropped" in str(error) else str(error)
    branches = [open_table(path, branch=branch).to_arrow() for branch in ("snapshot", "delta")]
    return [sorted(map(str, rows.to_pylist())) for rows in (*branches, open_table(path).to_arrow())]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("merges", ["true", "false"])
def test_a_stream_starts_with_the_rows_of_java(
    java: JavaPaimon, tmp_path: Path, layout: str, merges: str
) -> None:
    table = chains(java, tmp_path, layout)
    options = {"chain-table.streaming.merge-snapshot": merges}
    group, chain = LAYOUTS[layout]
    values = table.to_arrow().select([*group, *chain]).to_pylist()
    stream = table.follow(timeout=0)
    for compacted in (None, values[len(values) // 2]):
        if compacted is not None:
            table.maintenance.compact_chain_table(compacted)
        expected = java.stream(table.path, options=options | {"scan.mode": "latest-full"})
        stream = open_table(table.path, options=options).follow(timeout=0)
        batches = list(stream)
        assert {batch.snapshot_id for batch in batches} == {*expected[SNAPSHOT].to_pylist()} == {2}
        found = pa.concat_tables([batch.rows for batch in batches])
        names = [ROW_KIND, *found.column_names[1:]]
        assert difference(expected.drop_columns([SNAPSHOT]), found.rename_columns(names)) == ""
    later = [("a x", "20260301 00", 77), ("f z", "20260302 05", 78)]
    java.write(table.path, rows_of(layout, later, 5), branch="delta")
    assert sorted(row["k"] for batch in stream for row in batch.rows.to_pylist()) == [77, 78]
    assert stream.position == 4


@pytest.mark.slow
def test_whole_partitions_are_dropped_and_kept_as_by_java(java: JavaPaimon, tmp_path: Path) -> None:
    original = Path(chains(java, tmp_path).path)
    refused = 0
    for number, (act, branch, spec) in enumerate(CASES):
        found = []
        for who in (0, 1):
            copy = tmp_path / f"{number}_{who}.db" / "t"
            shutil.copytree(original, copy)
            found.append(outcome(act(java, copy, branch, spec)[who], copy))
        assert found[1] == found[0], (act, branch, spec)
        refused += found[0] == "refused"
    assert 0 < refused < len(CASES) / 2


@pytest.mark.parametrize(
    ("branch", "day", "count", "expected"),
    [
        (None, 4, "100", 1),
        ("snapshot", 6, "100", 4),
        ("delta", 300, "1", 4),
        (None, 300, "100", 9),
    ],
)
def test_partitions_expire_as_by_java(
    java: JavaPaimon, tmp_path: Path, branch: str | None, day: int, count: str, expected: int
) -> None:
    table = chains(java, tmp_path)
    for later in (1, 5, 9):
        rows = rows_of("days", [("a x", f"202603{later:02d} 05", later)], 4)
        java.write(table.path, rows, branch="snapshot")
    copy = tmp_path / "copy.db" / "t"
    shutil.copytree(table.path, copy)
    age = (datetime.now() - datetime(2026, 1, 1)).days - day + 1  # noqa: DTZ001, DTZ005 - local
    options = {"partition.expiration-max-num": count, "partition.expiration-time": f"{age} d"}
    name = copy if branch is None else f"{copy}$branch_{branch}"
    theirs = java.expire_partitions(name, options)
    own = open_table(table.path, branch=branch, options=options)
    preview = own.what_if.expire_partitions()
    gone = own.maintenance.expire_partitions()
    assert len(gone) == expected
    assert sorted(map(str, gone)) == sorted(map(str, theirs))
    assert len(preview.expiring) == len({str(one) for one in gone})
    assert outcome(lambda: None, copy) == outcome(lambda: None, Path(table.path))


@pytest.mark.parametrize("name", some(list(CHAIN_KINDS), 2))
def test_java_reads_what_any_acts_leave(name: str, java: JavaPaimon, tmp_path: Path) -> None:
    class Machine(ChainMachine):
        options = CHAIN_KINDS[name]

        def warehouse(self, space: str) -> str:
            return f"file://{tmp_path}/{space}"

        def teardown(self) -> None:
            super().teardown()
            table = self.open("main")
            assert difference(java.read(table.path), table.to_arrow()) == ""

    assert run_histories(Machine, *((10, 40) if DEEP else (2, 20)))
