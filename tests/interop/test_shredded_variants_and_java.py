"""Shredded variants, written by Java and by us, and read by both."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from oracle import JavaPaimon
from paimon_explore import open_table
from support.shredded_variants import SHREDDING, VALUES, texts, variant_of

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
