"""BLOB columns of references to other tables (`blob-view-field`)."""

import pickle
from pathlib import Path

import pytest

from paimon_explore import Catalog, Table, open_table
from paimon_explore.encoding.blob.blob_descriptor import decode_descriptor
from paimon_explore.encoding.blob.blob_view import BlobView, decode_view, encode_view
from paimon_explore.errors import (
    CorruptFileError,
    InvalidInputError,
    NotFoundError,
    UnsupportedFeatureError,
)
from support.compacting import live
from support.small_tables import new_catalog

EVOLVED = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
VIEWING = {**EVOLVED, "blob-view-field": "b", "compaction.min.file-num": "2"}


@pytest.fixture(name="catalog")
def make_catalog(tmp_path: Path) -> Catalog:
    """A catalog with a table `db.photos` of the columns `k` and `photo`."""
    catalog = new_catalog(tmp_path)
    photos = catalog.create_table("db.photos", {"k": "INT", "photo": "BLOB"}, options=EVOLVED)
    photos.append([{"k": k, "photo": value} for k, value in enumerate((b"zero", None, b"two"))])
    photos.append([{"k": 3, "photo": b"three"}])
    return catalog


def view(row_id: int, field_id: int = 1, table: str = "db.photos") -> bytes:
    return encode_view(BlobView(table=table, field_id=field_id, row_id=row_id))


def viewing(catalog: Catalog, *values: bytes | None) -> Table:
    table = catalog.create_table("db.t", {"k": "INT", "b": "BLOB"}, options=VIEWING)
    table.append([{"k": k, "b": value} for k, value in enumerate(values)])
    return table


def test_references_are_stored_and_read_as_the_blobs_of_other_tables(catalog: Catalog) -> None:
    table = viewing(catalog, view(3), view(0), None, view(1), view(0))
    assert [str(found["file_name"]).rpartition(".")[2] for found in live(table)] == ["parquet"]
    assert table.to_arrow().column("b").to_pylist() == [b"three", b"zero", None, None, b"zero"]
    found = table.scan(["b"], "k = 1").to_arrow()
    assert found.to_pylist() == [{"b": b"zero"}]
    parts = pickle.loads(pickle.dumps(table.scan(["b"]).parts()))  # noqa: S301 - our own
    assert sum(part.to_batches().read_all().num_rows for part in parts) == 5
    stored = catalog.table("db.t", {"blob-view.resolve.enabled": "false"})
    assert stored.to_arrow().column("b").to_pylist()[0] == view(3)


def test_references_are_read_as_descriptors_of_the_other_table(catalog: Catalog) -> None:
    viewing(catalog, view(2), None)
    found = catalog.table("db.t", {"blob-as-descriptor": "true"}).to_arrow().column("b").to_pylist()
    assert found[0] is not None
    place = decode_descriptor(found[0])
    assert "/photos/" in place.uri
    assert Path(place.uri).read_bytes()[place.offset :][: place.length] == b"two"
    assert found[1] is None


def test_references_follow_changes_of_the_other_table(catalog: Catalog) -> None:
    table = viewing(catalog, view(0), view(3))
    catalog.table("db.photos").update({"photo": b"newer"}, where="k = 3")
    assert table.to_arrow().column("b").to_pylist() == [b"zero", b"newer"]
    table.update({"k": "k + 10"}, where="k = 0")
    table.update({"b": view(2)}, where="k = 1")
    table.append([{"k": 2, "b": view(3)}])
    table.compact(full=True)
    rows = {row["k"]: row["b"] for row in table.to_arrow().to_pylist()}
    assert rows == {10: b"zero", 1: b"two", 2: b"newer"}


def test_a_reference_to_a_branch_or_another_reference_is_followed(catalog: Catalog) -> None:
    viewing(catalog, view(0), view(2))
    columns = {"k": "INT", "b": "BLOB"}
    second = catalog.create_table("db.second", columns, options=VIEWING)
    values = [view(1, table="db.t"), view(0, table="db.photos$branch_old")]
    second.append([{"k": k, "b": value} for k, value in enumerate(values)])
    with pytest.raises(NotFoundError, match="old"):
        second.to_arrow()
    catalog.table("db.photos").create_tag("first")
    catalog.table("db.photos").create_branch("old", tag="first")
    assert second.to_arrow().column("b").to_pylist() == [b"two", b"zero"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (view(9), "Row id 9 does not exist in table db.photos"),
        (view(0, field_id=7), "Field id 7"),
        (view(0, table="db.none"), "none' does not exist"),
    ],
)
def test_what_does_not_exist_is_told(catalog: Catalog, value: bytes, message: str) -> None:
    table = viewing(catalog, value)
    with pytest.raises(NotFoundError, match=message):
        table.to_arrow()
    assert table.scan(["k"]).to_arrow().num_rows == 1


def test_a_table_outside_of_a_catalog_has_no_other_tables(catalog: Catalog) -> None:
    path = viewing(catalog, view(0), None).path
    with pytest.raises(UnsupportedFeatureError, match="refers to other tables") as caught:
        open_table(path).to_arrow()
    assert "options={'blob-view.resolve.enabled': 'false'}" in str(caught.value)
    assert open_table(path).scan(where="b IS NULL").to_arrow().num_rows == 1


def test_other_values_than_references_are_not_written(catalog: Catalog) -> None:
    table = viewing(catalog, view(0))
    with pytest.raises(InvalidInputError, match="Row 1 of column 'b' is no reference"):
        table.append([{"k": 1, "b": view(0)}, {"k": 2, "b": b"contents"}])
    with pytest.raises(InvalidInputError, match="no reference"):
        table.update({"b": b"contents"})


def test_stored_bytes_that_are_no_reference_are_damaged(catalog: Catalog) -> None:
    photos = catalog.table("db.photos", {"blob-view-field": "photo"})
    with pytest.raises(CorruptFileError, match="must be a BLOB reference"):
        photos.to_arrow()


@pytest.mark.parametrize("data", [b"", b"\1", view(0)[:-1], view(0) + b"\0", b"\2" + view(0)[1:]])
def test_bytes_that_are_no_reference(data: bytes) -> None:
    with pytest.raises(ValueError, match="must"):
        decode_view(data)
