"""fsck decodes Avro metadata with fastavro as well, within a number of records."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from paimon_explore import Table
from paimon_explore.encoding.avro.container import read_header, write_long
from paimon_explore.errors import InvalidInputError
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.manifest.manifest_list import ManifestFiles
from paimon_explore.store.manifests import shared_cache
from support.lifecycle import plain_table, replaced_rows

AGREES = "fastavro and paimon_explore decode the same values"


def names(table: Table) -> tuple[str, str]:
    """The newest delta manifest list, and its manifest."""
    snapshot = table.snapshot
    assert snapshot is not None
    return snapshot.delta_manifest_list, table._store.manifests.delta(snapshot).names[0]


def test_a_table_in_order_agrees(tmp_path: Path) -> None:
    report = replaced_rows(plain_table(tmp_path), 2).maintenance.fsck()
    assert report == []
    assert repr(report) == (
        "no findings\nfastavro decoded 6 records of Avro metadata a second time: 6 whole files"
    )


class _NeverCleared:
    def clear(self) -> None: ...


@pytest.fixture
def wrongly_decoded(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a test puts into the cache stands for what our decoder would return."""
    monkeypatch.setattr("paimon_explore.maintenance.checks.fsck.shared_cache", _NeverCleared)
    yield
    shared_cache().clear()


@pytest.mark.usefixtures("wrongly_decoded")
def test_a_manifest_entry_that_was_decoded_wrongly_is_found(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 2)
    _, manifest = names(table)
    rows = list(table._store.manifests.read(manifest).rows())
    rows[-1]["max_sequence_number"] = 77
    table._store.manifests.cache_written(manifest, ManifestEntries.from_rows(rows))
    (found,) = table.maintenance.fsck()
    assert (found.rule, found.path) == (AGREES, table._store.paths.manifest(manifest))
    assert found.what == (
        "record 1, field _FILE._MAX_SEQUENCE_NUMBER: paimon_explore reads 77, fastavro reads 0"
    )
    shared_cache().clear()
    assert table.maintenance.fsck() == []


@pytest.mark.usefixtures("wrongly_decoded")
def test_a_manifest_list_that_was_decoded_wrongly_is_found(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 1)
    name, _ = names(table)
    rows = [{**row, "max_level": 3} for row in table._store.manifests.list(name).rows()]
    table._store.manifests.cache_written(name, ManifestFiles.from_rows(rows))
    assert [found.what for found in table.maintenance.fsck()] == [
        "record 0, field _MAX_LEVEL: paimon_explore reads 3, fastavro reads 0"
    ]


def test_a_file_that_only_fastavro_refuses_is_found(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 1)
    _, manifest = names(table)
    path = Path(table._store.paths.manifest(manifest))
    data = path.read_bytes()
    schema = json.loads(read_header(data).schema)
    record = next(f for f in schema["fields"] if f["name"] == "_FILE")["type"]
    record["name"] = schema["name"].rpartition(".")[2]  # two types of one name
    record["namespace"] = schema.get("namespace", "")
    changed = json.dumps(schema).encode()
    old = read_header(data).schema
    shared_cache().clear()
    path.write_bytes(_with_schema(data, old, changed))
    found = [one for one in table.maintenance.fsck() if one.rule == AGREES]
    assert [one.path for one in found] == [str(path)]
    assert "fastavro cannot use the schema: redefined named type" in found[0].what
    shared_cache().clear()


def _with_schema(data: bytes, old: bytes, new: bytes) -> bytes:
    return data.replace(write_long(len(old)) + old, write_long(len(new)) + new)


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (None, "17 records of Avro metadata a second time: 12 whole files"),
        (100_000, "17 records of Avro metadata a second time: 12 whole files"),
        (
            0,
            "0 records of Avro metadata a second time: 0 whole files, 0 files in part; 12 files",
        ),
    ],
)
def test_a_limit_is_shared_out_and_told(tmp_path: Path, limit: int | None, said: str) -> None:
    table = replaced_rows(plain_table(tmp_path), 4)
    report = table.maintenance.fsck(cross_check_records=limit)
    assert report == []
    assert said in str(report.avro)


def test_large_files_get_what_small_ones_leave(tmp_path: Path) -> None:
    table = plain_table(tmp_path, partition_by=("k",))
    table.append([{"k": number, "v": "x"} for number in range(20)])
    report = table.maintenance.fsck(
        cross_check_records=11
    )  # lists of 0 and 1 records, a manifest of 20
    assert report == []
    assert (report.avro.records, report.avro.files, report.avro.partial_files) == (11, 2, 1)


def test_a_limit_below_zero_is_refused(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 1)
    with pytest.raises(InvalidInputError, match="cross_check_records must be an integer of at"):
        table.maintenance.fsck(cross_check_records=-1)


def test_orc_manifests_are_not_compared(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path, {"manifest.format": "orc"}), 1)
    report = table.maintenance.fsck()
    assert report == []
    assert report.avro.records == 0


def test_a_manifest_in_generic_avro_is_a_finding(tmp_path: Path) -> None:
    table = replaced_rows(plain_table(tmp_path), 1)
    _, manifest = names(table)
    path = Path(table._store.paths.manifest(manifest))
    data = path.read_bytes()
    old = read_header(data).schema
    changed = json.loads(old)
    kind = next(field for field in changed["fields"] if field["name"] == "_KIND")
    kind["type"] = {"type": "enum", "name": "kind", "symbols": ["ADD", "DELETE"]}
    shared_cache().clear()
    path.write_bytes(_with_schema(data, old, json.dumps(changed).encode()))
    found = table.maintenance.fsck()
    said = "avro.schema._KIND must be a type that Paimon uses, not the Avro enum 'kind'"
    assert any(said in one.what for one in found)
    shared_cache().clear()
