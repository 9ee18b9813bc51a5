import re
from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa
import pytest

from paimon_explore import Table, open_table
from paimon_explore.data_types.formatter import type_text
from paimon_explore.errors import CorruptFileError, InvalidInputError
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.read import run_order, small_files
from paimon_explore.read.data_file import SystemColumn
from paimon_explore.read.split_reader import SplitReader
from paimon_explore.scan.splits.data_split import DataSplit, Splits
from support.golden import GoldenTables
from support.small_tables import append_table, columns, keyed_table, rows_of

COLUMNS = columns(k=pa.int32(), v=pa.string(), n=pa.int64())


def row(k: int, v: str, n: int = 0, kind: str = "+I") -> dict[str, object]:
    return {"k": k, "v": v, "n": n, "_ROW_KIND": kind}


def read(table: Table, *names: str, batch_rows: int) -> list[pa.RecordBatch]:
    scan = table.scan()
    reader = SplitReader(
        target=table._target(),
        columns=names,
        batch_rows=batch_rows,
    )
    return [batch for split in scan.plan().splits for batch in reader.read(split)]


@pytest.mark.parametrize("engine", ["deduplicate", "partial-update"])
def test_writes_whose_keys_move_on_are_merged_in_their_order(engine: str) -> None:
    """Fewest runs would put the first and the last write into one."""
    writes = [[row(k, f"{n}.{k}") for k in range(2 * n, 2 * n + 4)] for n in range(20)]
    options = {"merge-engine": engine, "write-only": "true"}
    for count in (5, 20):
        table = keyed_table(COLUMNS, *writes[:count], primary_key=["k"], options=options)
        found = {r["k"]: r["v"] for r in rows_of(table.scan(["k", "v"]).to_arrow())}
        wanted = {k: f"{n}.{k}" for n in range(count) for k in range(2 * n, 2 * n + 4)}
        assert found == wanted


def test_a_predicate_on_values_does_not_bring_back_an_older_row() -> None:
    table = keyed_table(COLUMNS, [row(1, "a")], [row(1, "b")], primary_key=["k"])
    assert table.scan(where="v = 'a'").to_arrow().num_rows == 0
    assert table.scan(["n"], where="v = 'b' AND k = 1").to_arrow().to_pylist() == [{"n": 0}]


MERGES: dict[str, dict[str, str]] = {
    "deduplicate": {},
    "with a sequence field": {"sequence.field": "n"},
    "partial-update": {
        "merge-engine": "partial-update",
        "partial-update.remove-record-on-delete": "true",
    },
    "aggregation": {
        "merge-engine": "aggregation",
        "fields.n.aggregate-function": "sum",
        "fields.v.aggregate-function": "last_non_null_value",
        "aggregation.remove-record-on-delete": "true",
    },
}


@pytest.mark.parametrize("merge", MERGES)
@pytest.mark.parametrize("key", [("k",), ("v",), ("v", "k")])
@pytest.mark.parametrize("file_format", ["parquet", "orc"])
def test_predicates_on_keys_keep_every_version_of_the_keys_they_match(
    merge: str, key: tuple[str, ...], file_format: str
) -> None:
    """Rows are filtered before the merge: deletes and older versions of a key stay together."""
    commits = [
        [row(k, f"v{k}", n=k * (-1) ** commit) for k in range(commit, 40, commit + 1)]
        + [row(k, f"v{k}", kind="-D") for k in range(commit, 40, 7) if k % (commit + 1)]
        for commit in range(4)
    ]
    options = {**MERGES[merge], "file.format": file_format}
    table = keyed_table(COLUMNS, *commits, primary_key=key, options=options)
    rows = rows_of(table.to_arrow())
    assert 0 < len(rows) <= 40
    tests: dict[str, Callable[[int], bool]] = {
        "k = 12": lambda k: k == 12,
        "k between 5 and 21": lambda k: 5 <= k <= 21,
        "k in (0, 3, 39, 77)": lambda k: k in {0, 3, 39},
        "v = 'v12'": lambda k: k == 12,
        "v >= 'v12' and v < 'v3'": lambda k: "v12" <= f"v{k}" < "v3",
        "v like '%7'": lambda k: k % 10 == 7,
        "k % 3 = 1 and v <> 'v4'": lambda k: k % 3 == 1 and k != 4,
    }
    for where, matches in tests.items():
        wanted = [r for r in rows if matches(int(str(r["k"])))]
        assert rows_of(table.scan(where=where).to_arrow()) == wanted, where
        found = rows_of(table.scan(["n"], where=where).to_arrow())
        assert found == sorted(({"n": r["n"]} for r in wanted), key=repr), where


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
def test_a_predicate_may_fail_on_a_key_that_is_deleted(file_format: str) -> None:
    table = keyed_table(
        COLUMNS,
        [row(k, "a") for k in (1, 5, 2**31 - 1)],
        [row(2**31 - 1, "a", kind="-D"), row(7, "b")],
        primary_key=["k"],
        options={"file.format": file_format},
    )
    where = "k * 4611686018427387903 > 4611686018427387903"
    with pytest.raises(InvalidInputError):
        table.scan(where=where).to_arrow()
    table.upsert([row(k, "a", kind="-D") for k in (5, 7)])
    assert table.scan(where=where).to_arrow().num_rows == 0
    assert table.scan(where=f"not ({where})").to_arrow().to_pylist() == [{"k": 1, "v": "a", "n": 0}]


def test_a_file_that_deletes_is_merged_even_alone() -> None:
    table = keyed_table(COLUMNS, [row(1, "a"), row(1, "a", kind="-D")], primary_key=["k"])
    assert table.to_arrow().num_rows == 0


def test_batches_hold_at_most_the_wanted_rows() -> None:
    table = append_table(COLUMNS, [{"k": i, "v": "x", "n": i} for i in range(10)])
    sizes = [batch.num_rows for batch in read(table, "k", batch_rows=4)]
    assert sum(sizes) == 10
    assert max(sizes) <= 4


def test_system_columns_come_behind_and_tell_deleted_rows() -> None:
    table = keyed_table(
        COLUMNS, [row(1, "a"), row(2, "b")], [row(1, "a", kind="-D")], primary_key=["k"]
    )
    scan = table.scan()
    reader = SplitReader(
        target=table._target(),
        columns=("k",),
        system_columns=(SystemColumn.SEQUENCE_NUMBER, SystemColumn.VALUE_KIND),
    )
    found = [b for split in scan.plan().splits for b in reader.read(split)]
    assert pa.Table.from_batches(found).to_pylist() == [
        {"k": 1, "_SEQUENCE_NUMBER": 2, "_VALUE_KIND": 3},
        {"k": 2, "_SEQUENCE_NUMBER": 1, "_VALUE_KIND": 0},
    ]


READ = [
    "append_dv",
    "chain_table",
    "data_evolution",
    "dv_pk",
    "dv_pk_l0",
    "fi_bitmap",
    "fi_bloom_embedded",
    "fi_bloom_external",
    "fi_more",
    "se_pk",
    "seq_snapshot",
]


@pytest.mark.parametrize("name", READ)
@pytest.mark.parametrize("where", ["{0} < 10", "{0} IN (1, 5, 50)", "{0} IS NULL", "{0} = -77"])
def test_whatever_skips_rows_agrees_with_a_filter_over_all_rows(
    name: str, where: str, golden: GoldenTables
) -> None:
    table = open_table(golden.table("java200", name).folder)
    first = next(f.name for f in table.schema.fields if type_text(f.type).startswith("INT"))
    tests: dict[str, Callable[[object], bool]] = {
        "{0} < 10": lambda value: isinstance(value, int) and value < 10,
        "{0} IN (1, 5, 50)": lambda value: value in {1, 5, 50},
        "{0} IS NULL": lambda value: value is None,
        "{0} = -77": lambda value: value == -77,
    }
    wanted = [r for r in rows_of(table.to_arrow()) if tests[where](r[first])]
    assert rows_of(table.scan(where=where.format(first)).to_arrow()) == wanted


@pytest.mark.parametrize("where", [None, "color = 'blue, as of 1'", "color IS NULL"])
def test_texts_that_files_hold_as_dictionaries_are_those_that_were_written(
    where: str | None,
) -> None:
    """More rows than are read at once, each write with words of its own."""
    columns_ = columns(k=pa.int32(), color=pa.string())
    count, words = 70_000, ("red, as of 0", "blue, as of 1", None)
    table = keyed_table(columns_, primary_key=["k"], options={"write-only": "true"})
    kept: dict[int, str | None] = {}
    for write, step in enumerate((1, 3)):
        rows = {k: words[(k + write) % 3] for k in range(0, count, step)}
        table.upsert(pa.table({"k": pa.array(rows, pa.int32()), "color": list(rows.values())}))
        kept |= rows
    wanted = {None: words, "color IS NULL": (None,)}.get(where, (words[1],))
    found = table.scan(where=where).to_arrow()
    assert found.schema.field("color").type == pa.string()
    assert dict(zip(*(found.column(n).to_pylist() for n in ("k", "color")), strict=True)) == {
        k: color for k, color in kept.items() if color in wanted
    }


@pytest.mark.parametrize("writes", [3, 16, 17, 40, 64, 65])
@pytest.mark.parametrize("step", [10, 25])
def test_writes_that_overlap_their_neighbours_give_the_newest_rows(
    writes: int, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(small_files, "MAX_FILE_BYTES", 0)
    monkeypatch.setattr(run_order, "_LATE_ROWS", 0)
    commits = [
        [row(key, f"{write}", key) for key in range(write * step, write * step + 30)]
        for write in range(writes)
    ]
    table = keyed_table(COLUMNS, *commits, primary_key=["k"], options={"write-only": "true"})
    wanted = {record["k"]: record for commit in commits for record in commit}
    found = table.to_arrow().to_pylist()
    assert sorted((r["k"], r["v"], r["n"]) for r in found) == sorted(
        (r["k"], r["v"], r["n"]) for r in wanted.values()
    )


@pytest.mark.parametrize("threshold", ["1 b", "1 mb"])
def test_the_error_of_a_damaged_file_index_names_the_file(threshold: str) -> None:
    options = {
        "file-index.bloom-filter.columns": "k",
        "file-index.in-manifest-threshold": threshold,
    }
    table = append_table(COLUMNS, [{"k": 1, "v": "a", "n": 0}], options=options)
    scan = table.scan(where="k = 1")
    (split,) = scan.plan().splits
    assert isinstance(split, DataSplit)
    (path,) = split.paths
    is_embedded = threshold == "1 mb"
    if is_embedded:
        columns_of = split.of.files.entries.table
        at = columns_of.schema.get_field_index("embedded_file_index")
        damaged = pa.array([b"\0" * 40], pa.binary())
        columns_of = columns_of.set_column(at, columns_of.schema.field(at), damaged)
        entries = ManifestEntries(columns_of)
        split = Splits.one(replace(split.of.files, entries=entries))
    else:
        path += ".index"
        table._store.file_io.replace(path, b"\0" * 40)
    reader = SplitReader(target=scan.target, columns=("k",), predicate=scan.where)
    with pytest.raises(CorruptFileError, match=re.escape(path)):
        list(reader.read(split))
