"""CHAR columns of ORC files: reads trim the values; keys, buckets and indexes have their spaces."""

from pathlib import Path

import pytest

from paimon_explore import Catalog, Table
from paimon_explore.errors import UnsupportedFeatureError

CONDITIONS = {
    "c = 'ab'": [1],
    "c IN ('x', 'y')": [2, 3],
    "c < 'q'": [1],
    "c <= 'q'": [1, 4],
    "c >= 'y'": [3],
    "c <> 'ab'": [2, 3, 4],
    "c LIKE 'ab'": [1],
    "NOT (c IN ('ab', 'q'))": [2, 3],
}
KINDS = {
    "bloom-filter": {"file-index.bloom-filter.columns": "c"},
    "bitmap": {"file-index.bitmap.columns": "c"},
    "range-bitmap": {"file-index.range-bitmap.columns": "c"},
    "primary key": {"bucket": "5"},
    "bucket key": {"bucket": "5", "bucket-key": "c"},
    "deletion vectors": {"bucket": "5", "deletion-vectors.enabled": "true"},
}


def written(folder: Path, kind: str) -> Table:
    key = "c" if kind in {"primary key", "deletion vectors"} else None
    catalog = Catalog(folder)
    catalog.create_database("d")
    columns = {"c": "CHAR(4) NOT NULL", "id": "INT"}
    options = {"file.format": "orc", **KINDS[kind]}
    table = catalog.create_table("d.t", columns, primary_key=key, options=options)
    rows = [{"c": c, "id": i} for i, c in enumerate(("ab  ", "x", "y ", "q   "), start=1)]
    (table.append if key is None else table.upsert)(rows)
    if key is not None:
        table.compact()
    return catalog.table("d.t")


def ids(table: Table, where: str) -> list[int]:
    return sorted(int(row["id"]) for row in table.scan(["id"], where).to_arrow().to_pylist())


@pytest.mark.parametrize("kind", KINDS)
def test_conditions_find_rows_whose_values_were_written_with_spaces(
    tmp_path: Path, kind: str
) -> None:
    table = written(tmp_path, kind)
    assert {where: ids(table, where) for where in CONDITIONS} == CONDITIONS


@pytest.mark.parametrize("options", [{"bucket": "1"}, {"bucket": "5"}, KINDS["deletion vectors"]])
def test_rows_with_padded_keys_are_updated_and_deleted(
    tmp_path: Path, options: dict[str, str]
) -> None:
    catalog = Catalog(tmp_path)
    catalog.create_database("d")
    columns = {"c": "CHAR(4) NOT NULL", "id": "INT"}
    options = {"file.format": "orc", **options}
    table = catalog.create_table("d.t", columns, primary_key="c", options=options)
    for number, text in enumerate(("ab  ", "x   ", "y   ", "full"), start=1):
        table.upsert([{"c": text, "id": number}])
    table.update({"id": 9}, where="c IN ('x', 'full')")
    table.delete(where="c = 'y'")
    table.compact()
    rows = catalog.table("d.t").to_arrow().sort_by("c").to_pylist()
    assert rows == [{"c": "ab", "id": 1}, {"c": "full", "id": 9}, {"c": "x", "id": 9}]


def test_rows_whose_bucket_does_not_follow_from_their_keys_are_not_changed(tmp_path: Path) -> None:
    table = written(tmp_path, "primary key")
    table.upsert([{"c": f"{letter} ", "id": 9} for letter in "cdefgh"])
    with pytest.raises(UnsupportedFeatureError, match="with some spaces at the end"):
        table.delete(where="id = 9")
    assert table.count() == 10
