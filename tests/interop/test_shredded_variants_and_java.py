"""Shredded variants, written by Java and by us, and read by both."""

import datetime as dt
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from oracle import JavaPaimon
from paimon_explore import open_table
from support.shredded_variants import INFERRED, NULL, SHREDDING, VALUES, texts, variant_of

pytestmark = pytest.mark.interop


def test_java_and_we_write_and_read_the_same_variants(java: JavaPaimon, tmp_path: Path) -> None:
    options = {"variant.shreddingSchema": json.dumps(SHREDDING), "bucket": "-1"}
    fields = [("id", "INT"), ("v", "VARIANT")]
    paths = [tmp_path / "ours", tmp_path / "java"]
    for path in paths:
        java.create_table(path, fields, options=options)
    ours, theirs = paths
    variants = [*map(variant_of, VALUES), None]
    table = open_table(ours)
    table.append([{"id": i, "v": value} for i, value in enumerate(variants)])
    java.write(theirs, table.to_arrow())
    schemas = []
    for path in paths:
        for found in (java.read(path), open_table(path).to_arrow()):
            assert texts(found.sort_by("id").column("v").to_pylist()) == texts(variants)
        (file,) = path.rglob("data-*.parquet")
        schemas.append(str(pq.ParquetFile(file).schema).split("\n", 2)[2])
    assert schemas[0] == schemas[1]
    table.append([{"id": 100, "v": variant_of({"a": 5})}])
    assert java.append_compact(ours, options={"compaction.min.file-num": "2"}) == 1
    again = table.to_arrow().sort_by("id").column("v").to_pylist()
    assert texts(again) == texts([*variants, variant_of({"a": 5})])


@pytest.mark.parametrize("case", INFERRED)
def test_java_and_we_infer_the_same_columns(java: JavaPaimon, tmp_path: Path, case: str) -> None:
    values, options = INFERRED[case]
    given = {"variant.inferShreddingSchema": "true", "bucket": "-1", **options}
    inner = {"type": "ROW", "fields": [{"id": 3, "name": "v", "type": "VARIANT"}]}
    members: dict[str, object] = {"n": "INT", "w": inner, "x": "VARIANT"}
    outer = [{"id": 4 + i, "name": n, "type": kind} for i, (n, kind) in enumerate(members.items())]
    fields: list[tuple[str, str | dict[str, object]]] = [("id", "INT"), ("v", "VARIANT")]
    fields.append(("r", {"type": "ROW", "fields": outer}))
    paths = [tmp_path / "ours", tmp_path / "java"]
    for path in paths:
        java.create_table(path, fields, options=given)
    ours, theirs = paths
    variants = [None if value is NULL else variant_of(value) for value in values]
    nested = [None if i % 3 == 2 else v for i, v in enumerate(variants)]
    rows: list[dict[str, object]] = [
        {"id": i, "v": v, "r": None if i % 3 == 2 else {"n": i, "w": {"v": v}, "x": None}}
        for i, v in enumerate(variants)
    ]
    table = open_table(ours)
    table.append(rows)
    java.write(theirs, table.to_arrow())
    schemas = [str(pq.ParquetFile(next(path.rglob("data-*.parquet"))).schema) for path in paths]
    assert schemas[0].split("\n", 2)[2] == schemas[1].split("\n", 2)[2]
    for path in paths:
        for found in (java.read(path), open_table(path).to_arrow()):
            found_rows = found.sort_by("id").to_pylist()
            assert texts([row["v"] for row in found_rows]) == texts(variants)
            inner_found = [None if row["r"] is None else row["r"]["w"]["v"] for row in found_rows]
            assert texts(inner_found) == texts(nested)


def test_java_reads_what_it_would_fail_to_shred(java: JavaPaimon, tmp_path: Path) -> None:
    moments = {"d": dt.date(2020, 1, 2), "t": dt.datetime(2020, 1, 2, tzinfo=dt.UTC), "b": b"x"}
    given = {"variant.inferShreddingSchema": "true", "bucket": "-1"}
    folder = tmp_path / "t"
    java.create_table(folder, [("v", "VARIANT")], options=given)
    table = open_table(folder)
    table.append([{"v": variant_of({"a": 1, **moments})}])
    rows = java.read(folder).to_pylist()
    assert texts([row["v"] for row in rows]) == texts([variant_of({"a": 1, **moments})])
    (file,) = folder.rglob("data-*.parquet")
    typed = pq.read_table(file).column("v").type.field("typed_value").type
    assert [field.name for field in typed if field.type.num_fields == 2] == ["a"]
