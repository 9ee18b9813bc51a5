"""Reads of one key of a primary-key table, which stop at the newest run that contains it."""

import random
from collections.abc import Mapping

import pyarrow as pa
import pytest

from paimon_explore import Table
from paimon_explore.errors import MissingFileError
from paimon_explore.read import small_files
from paimon_explore.scan.splits.data_split import DataSplit
from support.small_tables import columns, keyed_table, rows_of

KEYS = 12
SCHEMA = columns(a=pa.int32(), b=pa.string(), s=pa.int64(), v=pa.string())


@pytest.fixture(autouse=True)
def _large_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads files one by one, as large ones."""
    monkeypatch.setattr(small_files, "MAX_FILE_BYTES", 0)


def row(key: int, write: int, kind: str = "+I", s: int = 0) -> dict[str, object]:
    return {"a": key // 5, "b": f"k{key % 5}", "s": s, "v": f"{write}.{key}", "_ROW_KIND": kind}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sequence.field": "s"},
        {"sequence.field": "s", "sequence.field.sort-order": "descending"},
        {"ignore-delete": "true"},
        {"merge-engine": "first-row", "ignore-delete": "true"},
        {"merge-engine": "partial-update", "partial-update.remove-record-on-delete": "true"},
        {"merge-engine": "aggregation", "aggregation.remove-record-on-delete": "true"},
        {"deletion-vectors.enabled": "true"},
        {"file.format": "avro"},
        {"file.format": "orc"},
    ],
    ids=lambda options: " ".join(f"{key}={value}" for key, value in options.items()) or "none",
)
@pytest.mark.parametrize("seed", range(3))
def test_each_key_gives_the_row_of_the_whole_read(options: Mapping[str, str], seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - no secret
    writes = [
        [
            row(key, write, rng.choice(["+I", "+I", "-D"]), rng.randrange(9))
            for key in sorted(rng.sample(range(KEYS), rng.randint(1, KEYS)))
        ]
        for write in range(5)
    ]
    table = keyed_table(SCHEMA, *writes, primary_key=["a", "b"], options=options)
    if seed:
        table.compact(full=seed == 2)
        table.upsert([row(key, 9, s=4) for key in range(0, KEYS, 3)])
    expected = {(r["a"], r["b"]): r for r in rows_of(table.to_arrow())}
    for key in range(KEYS):
        a, b = key // 5, f"k{key % 5}"
        wanted = [expected[a, b]] if (a, b) in expected else []
        assert rows_of(table.scan(where=f"a = {a} AND b IN ('{b}')").to_arrow()) == wanted
        of_value = [found for found in wanted if str(found["v"]) > "2"]
        where = f"b = '{b}' AND v > '2' AND a = {a} AND a < 100"
        assert rows_of(table.scan(where=where).to_arrow()) == of_value


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_zeros_of_both_signs_are_two_keys(zero: float) -> None:
    rows = [[{"k": key, "v": write}] for write, key in enumerate((0.0, -0.0, zero))]
    table = keyed_table(columns(k=pa.float64(), v=pa.int64()), *rows, primary_key=["k"])
    found = table.scan(["v"], where="k = 0").to_arrow().sort_by("v")
    assert found == table.scan(["v"]).to_arrow().sort_by("v")


def _without_oldest_file(table: Table) -> None:
    (split,) = table.at(1).scan().plan().splits
    assert isinstance(split, DataSplit)
    table._store.file_io.delete(split.paths[0])


def test_older_runs_are_not_read() -> None:
    writes = [[row(key, write) for key in keys] for write, keys in enumerate([(1, 2, 3), (1, 3)])]
    table = keyed_table(SCHEMA, *writes, primary_key=["a", "b"])
    _without_oldest_file(table)
    assert rows_of(table.scan(["v"], where="a = 0 AND b = 'k1'").to_arrow()) == [{"v": "1.1"}]
    with pytest.raises(MissingFileError):
        table.scan(where="a = 0 AND b = 'k2'").to_arrow()
    with pytest.raises(MissingFileError):
        table.scan(where="a = 0").to_arrow()


def test_a_deleted_key_has_no_row_and_older_runs_are_not_read() -> None:
    writes = [[row(1, 0), row(3, 0)], [row(1, 1, "-D"), row(3, 1)]]
    table = keyed_table(SCHEMA, *writes, primary_key=["a", "b"])
    _without_oldest_file(table)
    assert table.scan(where="a = 0 AND b = 'k1'").to_arrow().num_rows == 0
