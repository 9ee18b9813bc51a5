"""Of a shredded VARIANT column only the parts that a query needs are read."""

import io
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import paimon_explore as pe
from paimon_explore.data_types.definitions import AtomicType, TypeRoot
from paimon_explore.encoding.data_file_reader import StoredColumn
from paimon_explore.encoding.parquet.reader import open_parquet
from paimon_explore.errors import CorruptFileError, InvalidInputError
from support.shredded_variants import X as INT_X
from support.shredded_variants import shredding

SHREDDING = shredding(("a", "BIGINT"), ("s", "STRING"), ("r", INT_X), ("m", "BIGINT"))
ROWS = 300
A = {"v.typed_value.a.value", "v.typed_value.a.typed_value"}
S = {"v.typed_value.s.value", "v.typed_value.s.typed_value"}
X = {"v.typed_value.r.typed_value.x.value", "v.typed_value.r.typed_value.x.typed_value"}
MIXED = {"v.typed_value.m.value", "v.typed_value.m.typed_value", "v.metadata"}
REST = {"v.value", "v.metadata"}


def value(row: int) -> object:
    """A variant whose largest part is not shredded."""
    if row % 50 == 0:
        return (None, [1], row)[row // 50 % 3]
    numbers = random.Random(row)  # noqa: S311 - not secret
    return {
        "a": row,
        "s": f"s{row % 7}",
        "r": {"x": row % 11, "y": [row]},
        "m": row if row % 2 else {"deep": [row]},
        "more": numbers.randbytes(1500),
        "last": row % 5,
    }


def new_table(folder: Path, **options: str) -> pe.Table:
    catalog = pe.Catalog(str(folder))
    catalog.create_database("d", if_not_exists=True)
    keys = ["id"] if "merge-engine" in options else []
    shredding = {"variant.shreddingSchema": json.dumps(SHREDDING), "file.compression": "none"}
    columns = {"id": "INT", "v": "VARIANT", "w": "VARIANT"}
    return catalog.create_table(
        "d.t", columns, options={**shredding, **options}, primary_key=keys or None
    )


Written = Callable[..., pe.Table]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Returns a copy of a filled table with options; each is written once."""
    originals: dict[str, Path] = {}

    def copied(folder: Path, **options: str) -> pe.Table:
        if str(options) not in originals:
            original = tmp_path_factory.mktemp("written")
            table = new_table(original, **options)
            rows = [{"id": i, "v": pe.Variant.of(value(i)), "w": None} for i in range(ROWS)]
            write = table.upsert if table.schema.primary_keys else table.append
            write([*rows, {"id": -1, "v": None, "w": None}])
            originals[str(options)] = original
        shutil.copytree(originals[str(options)], folder, dirs_exist_ok=True)
        return pe.open_table(folder / "d.db" / "t")

    return copied


def damage(table: pe.Table, kept: set[str]) -> None:
    """Overwrite the variants in all files, without some of their leaf columns."""
    for path in Path(table.path).rglob("data-*.parquet"):
        data = bytearray(path.read_bytes())
        metadata = pq.read_metadata(path)
        for group in range(metadata.num_row_groups):
            for leaf in range(metadata.num_columns):
                chunk = metadata.row_group(group).column(leaf)
                if not chunk.path_in_schema.startswith("v.") or chunk.path_in_schema in kept:
                    continue
                start = min(chunk.data_page_offset, chunk.dictionary_page_offset or 2**62)
                data[start : start + chunk.total_compressed_size] = bytes(
                    chunk.total_compressed_size
                )
        path.write_bytes(data)


READS = {
    "SELECT sum(variant_get(v, '$.a', 'bigint')) x FROM t": A,
    "SELECT count(*) x FROM t WHERE variant_get(v, '$.a', 'int') % 2 = 0 AND v IS NOT NULL": A,
    "SELECT v:s::string x, count(*) n FROM t GROUP BY 1 ORDER BY 1": S,
    "SELECT max(CAST(variant_get(v, '$.r.x', 'int') AS BIGINT)) x FROM t": X,
    "SELECT try_variant_get(v, '$.m', 'int') x FROM t ORDER BY id": MIXED,
    "SELECT to_json(variant_get(v, '$.m.deep[0]')) x FROM t ORDER BY id": MIXED,
    "SELECT id, v:last::int x FROM t WHERE v:a::int > 5 ORDER BY id": A | REST,
    "SELECT variant_get(v, '$.a') IS NULL x FROM t LIMIT 400": A,
    "WITH q AS (SELECT id, v:a::bigint a FROM t) SELECT sum(q.a) x FROM q JOIN t ON q.id = t.id": A,
    "SELECT sum(l.v:a::int + r.v:r.x::int) x FROM t l JOIN t r ON l.id = r.id": A | X,
    "SELECT id x FROM t WHERE id IN (SELECT variant_get(v, '$.a', 'int') FROM t) ORDER BY id": A,
}
"""Queries, and the leaf columns that they read of the column `v`."""


def result(query: str, rows: object) -> list[dict[str, object]]:
    found: list[dict[str, object]] = pe.sql(query, t=rows).to_arrow().to_pylist()
    return found


@pytest.mark.parametrize("query", READS)
def test_queries_read_only_the_parts_of_their_paths(
    tmp_path: Path, written: Written, query: str
) -> None:
    table = written(tmp_path)
    expected = result(query, table.to_arrow())

    damage(table, READS[query])

    assert result(query, table) == expected
    assert len(expected) > 0
    with pytest.raises((CorruptFileError, InvalidInputError)):
        table.to_arrow()


CONDITIONS = {
    "variant_get(v, '$.a', 'BIGINT') BETWEEN 10 AND 20": A,
    "variant_get(v, '$.s') IS NULL AND v IS NOT NULL": S,
    "try_variant_get(v, '$.m', 'INT') > 7 OR variant_get(v, '$.r.x', 'INT') = 3": MIXED | X,
    "variant_get(v, '$.last', 'INT') = 2": REST,
}
"""Conditions of scans, and the leaf columns that they read."""


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("engine", [None, "deduplicate", "first-row"])
def test_conditions_read_only_the_parts_of_their_paths(
    tmp_path: Path, written: Written, condition: str, engine: str | None
) -> None:
    options = {} if engine is None else {"merge-engine": engine, "bucket": "1"}
    if engine == "deduplicate":  # whose files are otherwise read at once, as they are small
        options |= {"sequence.snapshot-ordering": "true", "write-only": "true"}
    table = written(tmp_path, **options)
    if engine is not None:
        table.upsert([{"id": i, "v": pe.Variant.of(value(i + 1)), "w": None} for i in range(200)])
    query = f"SELECT id FROM t WHERE {condition} ORDER BY id"  # noqa: S608 - of constants
    expected = result(query, table.to_arrow())

    damage(table, CONDITIONS[condition])

    found = table.scan(["id"], condition).to_arrow().sort_by("id").to_pylist()
    assert found == expected
    assert len(expected) > 0
    assert table.count(where=condition) == len(expected)


WHOLE = (
    "SELECT to_json(v) x, variant_get(v, '$.a', 'int') y FROM t ORDER BY id",
    "SELECT *, v:a::int y FROM t ORDER BY id",
    "SELECT l.v:a::int x FROM t l JOIN t r USING (v) ORDER BY 1",
    "SELECT q.c:a::int x, q.c:more::binary y FROM (SELECT id, v AS c FROM t) q ORDER BY q.id",
    "SELECT variant_get(v, s, 'int') x FROM (SELECT v, id, '$.a' s FROM t) ORDER BY id",
    "SELECT try_variant_get(v, '$', 'map<string,variant>') IS NULL x, v:a::int FROM t ORDER BY id",
    "SELECT is_variant_null(v) x, v:a::int FROM t ORDER BY id",
    "SELECT to_json(variant_set(v, '$.b', v:a)) x FROM t WHERE v:a::int > 5 ORDER BY id",
    "SELECT count(DISTINCT v) x, max(v:a::int) y FROM t",
    "SELECT count(t) x, max(v:a::int) y FROM t",
    "SELECT to_json(max(v)) x, max(v:a::int) y FROM t",
    "SELECT v.value x, v:a::int y FROM t ORDER BY id",
    "SELECT t.v x, t.v:a::int y FROM t ORDER BY id",
    "SELECT transform(array(1), v -> v + 1) x, v:a::int y FROM t ORDER BY id",
    "SELECT v:a::int v FROM t GROUP BY v ORDER BY v",
    "SELECT to_json(V) x, v:a::int y FROM t ORDER BY id",
)


@pytest.mark.parametrize("query", WHOLE)
def test_queries_of_whole_values_get_them(tmp_path: Path, written: Written, query: str) -> None:
    table = written(tmp_path)

    assert result(query, table) == result(query, table.to_arrow())


@pytest.mark.parametrize("path", ["$.a", "$.r.x"])
def test_fewer_bytes_of_a_file_are_read(tmp_path: Path, written: Written, path: str) -> None:
    (file,) = Path(written(tmp_path).path).rglob("data-*.parquet")

    whole, part = bytes_read(file), bytes_read(file, path[2:].split("."))

    assert part < whole / 20


class _CountedFile(io.BytesIO):
    """A file that counts the bytes that are read from it."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.count = 0

    def read(self, size: int | None = -1, /) -> bytes:
        found = super().read(size)
        self.count += len(found)
        return found


def bytes_read(file: Path, *paths: list[str]) -> int:
    """Return how many bytes are read for the variants of a file, without its footer."""
    counted = _CountedFile(file.read_bytes())
    opened = open_parquet(pa.PythonFile(counted, mode="r"), str(file))
    footer = counted.count
    kind = AtomicType(root=TypeRoot.VARIANT)
    column = StoredColumn(name="v", type=kind, paths=tuple(map(tuple, paths)))
    assert sum(batch.rows for batch in opened.batches([column], [0], ROWS)) == ROWS + 1
    return counted.count - footer


def test_a_field_that_is_stored_twice_is_read_where_it_is_shredded(tmp_path: Path) -> None:
    table = new_table(tmp_path)
    table.append([{"id": 0, "v": pe.Variant.of({"a": 1, "z": 2}), "w": None}])
    (file,) = Path(table.path).rglob("data-*.parquet")
    rows = pq.read_table(file)
    twice = pe.Variant.of({"a": 7, "z": 2})
    (row,) = rows.to_pylist()
    stored = {**row["v"], "value": twice.value, "metadata": twice.metadata}
    column = pa.array([stored], rows.schema.field("v").type)
    pq.write_table(rows.set_column(1, rows.schema.field("v"), column), file)

    assert table.count(where="variant_get(v, '$.a', 'INT') = 1") == 1
    with pytest.raises(CorruptFileError, match="must not contain the shredded field 'a'"):
        table.to_arrow()
