"""Rows that a merge chooses: first the columns that decide, then the others of these rows."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa
import pytest
from pyroaring import BitMap

from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.encoding import data_file_reader
from paimon_explore.encoding.parquet import reader
from paimon_explore.encoding.parquet.reader import ParquetDataFile
from paimon_explore.fileio.memory import MemoryFileIO
from paimon_explore.merge.first_rows import FirstBound, FirstRows
from paimon_explore.merge.key_records import RowKind
from paimon_explore.merge.merge_spec import deciding_columns, merge_spec
from paimon_explore.metadata.schema.table_schema import TableSchema
from paimon_explore.read.data_file import DataFileSource, ReadRequest, SystemColumn
from paimon_explore.read.row_selection import FilesOfRun, LateMerge, RowLimits, read_selected_rows
from paimon_explore.scan.predicate.binder import bind
from paimon_explore.scan.predicate.builder import Term, col, expression_of
from support.files import orc_bytes, parquet_bytes
from support.merging import schema_of

TYPES = {"k": "INT NOT NULL", "t": "STRING", "n": "BIGINT", "added": "INT"}
SMALL = RowLimits(window=3, deciding=1, later=5)
Record = tuple[int, int, str, int]
"""Key, row kind, text, number."""


@dataclass
class Runs:
    """Runs of a table in memory, oldest first; sequence numbers ascend from run to run."""

    schema: TableSchema = field(default_factory=lambda: schema_of(TYPES))
    files: list[FilesOfRun] = field(default_factory=list)
    by_run_order: bool = True
    suffix: str = "parquet"
    rows_per_group: int = 4
    rows_per_page: int | None = None
    where: Term | None = None
    first: FirstRows | None = None

    def add(self, *files: Sequence[Record], deleted: Sequence[int] = ()) -> "Runs":
        """A run of some files, which lack the column `added`; of each some rows are deleted."""
        self.files.append([self._file(rows, deleted) for rows in files])
        return self

    def _file(
        self, rows: Sequence[Record], deleted: Sequence[int]
    ) -> tuple[DataFileSource, ReadRequest]:
        first = 1000 * len(self.files)
        keys, kinds, texts, numbers = zip(*rows, strict=True)
        columns: dict[str, Column] = {
            "_KEY_k": pa.array(keys, pa.int32()),
            "_SEQUENCE_NUMBER": pa.array(range(first, first + len(rows)), pa.int64()),
            "_VALUE_KIND": pa.array(kinds, pa.int8()),
            "k": pa.array(keys, pa.int32()),
            "t": pa.array(texts, pa.string()),
            "n": pa.array(numbers, pa.int64()),
        }
        data = (
            orc_bytes(columns)
            if self.suffix == "orc"
            else parquet_bytes(columns, self.rows_per_group, self.rows_per_page)
        )
        file_io = MemoryFileIO(name="data files")
        path = f"/t/bucket-0/data-{len(self.files)}-{keys[0]}.{self.suffix}"
        file_io.replace(path, data)
        written = TableSchema(
            id=0, fields=self.schema.fields[:3], highest_field_id=2, primary_keys=("k",)
        )
        system: tuple[SystemColumn, ...] = (SystemColumn.VALUE_KIND,)
        if not self.by_run_order:
            system = (SystemColumn.SEQUENCE_NUMBER, *system)
        deciding = self.schema.project(self._deciding())
        request = ReadRequest(
            fields=deciding.fields,
            system_columns=system,
            from_keys=True,
            deleted=BitMap(deleted) if deleted else None,
            omit_insert_kinds=True,
            predicate=None if self.where is None else bind(expression_of(self.where), deciding),
        )
        return DataFileSource(file_io=file_io, path=path, schema=written), request

    def _deciding(self) -> tuple[str, ...]:
        names = deciding_columns(merge_spec(self.schema))
        assert names is not None
        return names if self.first is None else (*names, self.first.column)

    def batches(self, *columns: str, limits: RowLimits = SMALL) -> list[pa.RecordBatch]:
        """The rows that are chosen, in batches of the wanted columns."""
        late = LateMerge(
            spec=merge_spec(self.schema, columns),
            fields=self.schema.project(columns).fields,
            deciding=self.schema.project(self._deciding()).fields,
            by_run_order=self.by_run_order,
            first=None if self.first is None else FirstBound(self.first),
            limits=limits,
        )
        batches = list(read_selected_rows(self.files, late))
        for batch in batches:
            assert batch.schema.names == list(columns)
            assert 0 < batch.num_rows <= limits.window
        return batches

    def read(self, *columns: str, limits: RowLimits = SMALL) -> list[dict[str, object]]:
        """The rows that are chosen, by all wanted columns."""
        batches = self.batches(*columns, limits=limits)
        found = [row for batch in batches for row in batch.to_pylist()]
        return sorted(found, key=lambda row: [str(value).zfill(4) for value in row.values()])


def inserts(keys: Sequence[int], text: str) -> list[Record]:
    return [(key, 0, f"{text}{key}", key) for key in keys]


def test_deleted_keys_are_gone_whether_or_not_the_key_is_wanted() -> None:
    runs = Runs().add(inserts([1, 2, 3], "a")).add([(2, 3, "", 0), (3, 0, "b", 3)])
    assert runs.read("t") == [{"t": "b"}, {"t": "a1"}]
    assert runs.read("t", "k") == [{"t": "b", "k": 3}, {"t": "a1", "k": 1}]


def test_keys_alone_take_no_other_column() -> None:
    runs = Runs().add(inserts([1, 2], "a")).add(inserts([2, 5], "b"))
    assert runs.read("k") == [{"k": 1}, {"k": 2}, {"k": 5}]


def test_a_column_that_files_lack_is_null() -> None:
    runs = Runs().add(inserts([1, 2], "a")).add(inserts([2], "b"))
    assert runs.read("k", "added") == [{"k": 1, "added": None}, {"k": 2, "added": None}]
    assert runs.read("added", "t") == [{"added": None, "t": "a1"}, {"added": None, "t": "b2"}]


def test_a_sequence_field_decides_over_runs() -> None:
    schema = schema_of(TYPES, {"sequence.field": "n"})
    runs = Runs(schema=schema, by_run_order=False)
    runs.add([(1, 0, "late", 9), (2, 0, "early", 1)]).add([(1, 0, "x", 3), (2, 0, "y", 3)])
    assert runs.read("k", "t") == [{"k": 1, "t": "late"}, {"k": 2, "t": "y"}]
    assert runs.read("n", "k") == [{"n": 3, "k": 2}, {"n": 9, "k": 1}]


def test_the_first_row_of_a_key_stays() -> None:
    runs = Runs(schema=schema_of(TYPES, {"merge-engine": "first-row"}))
    runs.add(inserts([1, 3], "a")).add(inserts([1, 2], "b"))
    assert runs.read("k", "t") == [{"k": 1, "t": "a1"}, {"k": 2, "t": "b2"}, {"k": 3, "t": "a3"}]


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int, int]]:
    """The columns that are decoded without pages: names, first rows and numbers of rows."""
    found: list[tuple[str, int, int]] = []
    plain = ParquetDataFile.batches

    def noted(
        self: ParquetDataFile,
        columns: Sequence[data_file_reader.StoredColumn],
        spans: Sequence[int],
        batch_rows: int,
    ) -> Iterator[data_file_reader.PositionedBatch]:
        for batch in plain(self, columns, spans, batch_rows):
            found.extend((column.name, batch.first, batch.rows) for column in columns)
            yield batch

    monkeypatch.setattr(ParquetDataFile, "batches", noted)
    return found


def test_spans_without_chosen_rows_are_not_decoded(decoded: list[tuple[str, int, int]]) -> None:
    runs = Runs().add(inserts(range(12), "a")).add(inserts(range(4, 12), "b"))
    assert len(runs.read("k", "t")) == 12
    assert [first for name, first, _ in decoded if name == "t"] == [0, 0, 4]


def test_rows_after_the_last_selected_one_are_not_decoded(
    decoded: list[tuple[str, int, int]],
) -> None:
    runs = Runs(rows_per_group=100).add(inserts(range(60), "a")).add(inserts(range(20, 80), "b"))
    found = runs.read("k", "t", limits=RowLimits(later=1000))
    assert [row["t"] for row in found] == [f"{'a' if k < 20 else 'b'}{k}" for k in range(80)]
    assert [rows for name, *rows in decoded if name == "t"] == [[0, 20], [0, 60]]


@pytest.mark.parametrize("size", [10, 100, 400, 600, 999])
@pytest.mark.parametrize("begin", [0, 1, 500])
@pytest.mark.parametrize("deleted", [(), (3, 700)])
def test_rows_that_lie_together_do_not_keep_the_others_in_memory(
    size: int, begin: int, deleted: Sequence[int]
) -> None:
    runs = Runs(rows_per_group=1000).add(inserts(range(1000), "a" * 100), deleted=deleted)
    others = [key for key in range(1000) if not begin <= key < begin + size]
    runs.add(inserts(others, "b" * 100))
    limits = RowLimits(window=1000, deciding=1000, later=1000)
    batches = runs.batches("k", "t", "n", limits=limits)
    kept = [batch for batch in batches if batch["t"][0].as_py()[0] == "a"]
    assert [key for batch in kept for key in batch["k"].to_pylist()] == [
        key for key in range(begin, min(begin + size, 1000)) if key not in deleted
    ]
    used = sum(batch.nbytes for batch in kept)
    assert all(batch.get_total_buffer_size() <= 2.5 * used for batch in kept)


@pytest.mark.parametrize("seed", range(40))
def test_any_runs_give_what_a_dictionary_gives(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - no secret
    runs = Runs(
        rows_per_group=rng.choice([1, 3, 100]),
        by_run_order=rng.random() < 0.5,
        suffix=rng.choice(["parquet", "orc"]),
    )
    expected: dict[int, tuple[str, int]] = {}
    for run in range(rng.randint(1, 5)):
        keys = sorted(rng.sample(range(60), rng.randint(1, 40)))
        if rng.random() < 1 / 3:  # consecutive keys
            keys = list(range(keys[0], keys[-1] + 1))
        rows = [(key, rng.choice([0, 0, 0, 3]), f"{run}.{key}", run) for key in keys]
        cut = rng.randint(1, len(rows))
        files = [part for part in (rows[:cut], rows[cut:]) if part]
        deleted = rng.sample(range(40), rng.choice([0, 10]))
        runs.add(*files, deleted=deleted)
        for part in files:
            for at, (key, kind, text, number) in enumerate(part):
                if at not in deleted:
                    expected.pop(key, None)
                    if kind == 0:
                        expected[key] = (text, number)
    limits = RowLimits(window=rng.choice([1, 4, 100]), deciding=1, later=rng.choice([1, 7, 50]))
    found = {row["k"]: (row["t"], row["n"]) for row in runs.read("k", "t", "n", limits=limits)}
    assert found == expected


@pytest.fixture
def pages_of_a_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small pages count as large ones."""
    monkeypatch.setattr(reader, "_PAGED_BYTES", 0)
    monkeypatch.setattr(data_file_reader, "_PAGE_ROWS", 20)


@pytest.mark.usefixtures("pages_of_a_few_rows")
def test_a_few_keys_decode_only_their_pages(decoded: list[tuple[str, int, int]]) -> None:
    runs = Runs(rows_per_group=1000, rows_per_page=20, where=col("k").isin([7, 150, 151]))
    runs.add(inserts(range(400), "a")).add(inserts(range(100, 300), "b"))
    assert runs.read("k", "t", "n", "added") == [
        {"k": k, "t": f"{run}{k}", "n": k, "added": None}
        for k, run in ((7, "a"), (150, "b"), (151, "b"))
    ]
    assert {"t", "n"}.isdisjoint(name for name, *_ in decoded)


@pytest.mark.usefixtures("pages_of_a_few_rows")
@pytest.mark.parametrize("seed", range(30))
def test_some_keys_of_any_runs_give_what_a_dictionary_gives(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - no secret
    low, some = rng.randrange(380), rng.sample(range(400), rng.choice([1, 3, 60]))
    wanted = set(rng.choice([some, [*range(low, low + 20)]]))
    runs = Runs(
        rows_per_group=rng.choice([90, 1000]),
        rows_per_page=20,
        where=col("k").isin(sorted(wanted)),
        by_run_order=rng.random() < 0.5,
    )
    expected: dict[int, tuple[str, int]] = {}
    for run in range(rng.randint(1, 4)):
        keys = sorted(rng.sample(range(400), rng.randint(100, 400)))
        rows = [(key, rng.choice([0, 0, 0, 3]), f"{run}.{key}", run) for key in keys]
        deleted = rng.sample(range(len(rows)), rng.choice([0, 40]))
        runs.add(rows, deleted=deleted)
        for at, (key, kind, text, number) in enumerate(rows):
            if at not in deleted and key in wanted:
                expected.pop(key, None)
                if kind == 0:
                    expected[key] = (text, number)
    limits = RowLimits(window=rng.choice([4, 100]), deciding=1, later=rng.choice([7, 50, 1000]))
    found = {row["k"]: (row["t"], row["n"]) for row in runs.read("k", "t", "n", limits=limits)}
    assert found == expected


@pytest.mark.usefixtures("pages_of_a_few_rows")
def test_the_first_rows_of_an_order_decode_only_their_pages(
    decoded: list[tuple[str, int, int]],
) -> None:
    first = FirstRows(column="n", count=2, descending=True, nulls_first=False)
    runs = Runs(rows_per_group=1000, rows_per_page=20, first=first)
    runs.add(inserts(range(400), "a"))
    runs.add([*inserts(range(100, 399), "b"), (399, RowKind.DELETE, "", 0)])
    found = runs.read("k", "t", "n", limits=RowLimits())
    before, last = [98, 99], [397, 398]  # the first ones of run a, which is complete before run b
    assert [row["t"] for row in found] == [f"a{k}" for k in before] + [f"b{k}" for k in last]
    assert {name for name, *_ in decoded}.isdisjoint(["t"])


def test_files_are_closed_when_the_reader_stops_early() -> None:
    runs = Runs().add(inserts(range(9), "a")).add(inserts(range(3), "b"))
    spec = merge_spec(runs.schema, ("k", "t"))
    fields = runs.schema.project(("k", "t")).fields
    late = LateMerge(spec=spec, fields=fields, deciding=fields[:1], by_run_order=True)
    batches = read_selected_rows(runs.files, late)
    assert next(batches).num_rows > 0
    batches.close()  # type: ignore[attr-defined]  # a generator
    assert list(batches) == []
