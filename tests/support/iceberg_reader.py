"""A small reader of Iceberg tables: from a metadata file to rows, without a line of the package.

It reads what the specification says: metadata, manifest list, manifests, Parquet files by field
ids, and deletion vectors.
"""

import json
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
from pyroaring import BitMap64

Read = Callable[[str], bytes]
_VECTOR_MAGIC = bytes.fromhex("d1d33964")


class IcebergReader:
    """One version of an Iceberg table.

    Args:
        read: returns the bytes of a file.
        folder: the folder of the metadata.
        version: the version; by default the one that the hint names.
        metadata: the metadata of a catalog, in place of that in the folder.
    """

    def __init__(
        self,
        read: Read,
        folder: str,
        version: int | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        self._read = read
        if metadata is None:
            number = version or int(read(f"{folder}/version-hint.text"))
            metadata = json.loads(read(f"{folder}/v{number}.metadata.json"))
        self.metadata: dict[str, Any] = dict(metadata or {})
        assert self.metadata["last-sequence-number"] == self.metadata["current-snapshot-id"]

    @property
    def snapshots(self) -> dict[int, dict[str, Any]]:
        return {one["snapshot-id"]: one for one in self.metadata["snapshots"]}

    @property
    def tags(self) -> dict[str, int]:
        refs = self.metadata["refs"].items()
        return {name: ref["snapshot-id"] for name, ref in refs if ref["type"] == "tag"}

    def manifests(self, snapshot: int | None = None) -> list[dict[str, Any]]:
        number = snapshot or self.metadata["current-snapshot-id"]
        return self.records(self.snapshots[number]["manifest-list"])

    def records(self, path: str) -> list[dict[str, Any]]:
        return [dict(one) for one in fastavro.reader(BytesIO(self._read(path)))]  # type: ignore[arg-type]

    def files(self, snapshot: int | None = None) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """Live files, data and deletion vectors, each with its manifest."""
        for manifest in self.manifests(snapshot):
            for entry in self.records(manifest["manifest_path"]):
                if entry["status"] != 2:
                    yield entry["data_file"], manifest

    def row_ids(self, snapshot: int | None = None) -> dict[str, tuple[int, int]]:
        """The first id of the rows of each live data file, and its end, as readers find them."""
        found: dict[str, tuple[int, int]] = {}
        for manifest in self.manifests(snapshot):
            if manifest["content"]:
                assert manifest["first_row_id"] is None
                continue
            free = manifest["first_row_id"]
            for entry in self.records(manifest["manifest_path"]):
                file = entry["data_file"]
                if entry["status"] == 2:
                    continue
                first = file["first_row_id"]
                if first is None:
                    first, free = free, free + file["record_count"]
                found[file["file_path"]] = (first, first + file["record_count"])
        return found

    def rows(self, snapshot: int | None = None) -> list[dict[str, Any]]:
        """The rows of a snapshot in the current schema, in a fixed order."""
        files = list(self.files(snapshot))
        vectors = {
            file["referenced_data_file"]: self._deleted(file)
            for file, _ in files
            if file["content"]
        }
        found: list[dict[str, Any]] = []
        for file, _ in files:
            if not file["content"]:
                rows = self._file_rows(file["file_path"])
                assert len(rows) == file["record_count"]
                gone = vectors.get(file["file_path"], BitMap64())
                found += [row for number, row in enumerate(rows) if number not in gone]
        return sorted(found, key=repr)

    def _schema(self) -> Sequence[Mapping[str, Any]]:
        wanted = self.metadata["current-schema-id"]
        (schema,) = [one for one in self.metadata["schemas"] if one["schema-id"] == wanted]
        return list(schema["fields"])

    def _names_without_ids(self) -> dict[str, int]:
        """Ids by the names of columns in files that have no ids; Java's metadata has none."""
        mapping = json.loads(self.metadata["properties"].get("schema.name-mapping.default", "[]"))
        found = [(name, one["field-id"]) for one in mapping for name in one["names"]]
        assert len(dict(found)) == len(found)
        return dict(found)

    def _file_rows(self, path: str) -> list[dict[str, Any]]:
        table = pq.read_table(pa.BufferReader(self._read(path)))
        known = self._names_without_ids()
        ids: dict[int, str] = {}
        for field in table.schema:
            number = (field.metadata or {}).get(b"PARQUET:field_id")
            ids[known[field.name] if number is None else int(number)] = field.name
        columns = {
            field["name"]: (
                table[ids[field["id"]]].to_pylist()
                if field["id"] in ids
                else [None] * table.num_rows
            )
            for field in self._schema()
        }
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def _deleted(self, file: Mapping[str, Any]) -> BitMap64:
        """The deleted rows of a deletion vector, whose blob is checked."""
        start = file["content_offset"]
        blob = self._read(file["file_path"])[start : start + file["content_size_in_bytes"]]
        (size,) = struct.unpack(">i", blob[:4])
        assert size == len(blob) - 8
        assert blob[4:8] == _VECTOR_MAGIC
        found = BitMap64.deserialize(blob[8:-4])
        assert len(found) == file["record_count"]
        return found
