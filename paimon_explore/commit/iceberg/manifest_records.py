"""Entries of Iceberg manifests and manifest lists as values.

In format version 3, rows have ids. A manifest list gives each new data manifest the first id of its
rows; files without an id of their own follow each other from there. So a file has the same ids in
all snapshots, also after its entry was written to another manifest, then with its own first id.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from enum import IntEnum

from paimon_explore.commit.iceberg.avro_schemas import FIRST_ROW_ID
from paimon_explore.commit.iceberg.schema_json import SPEC_ID
from paimon_explore.errors import CorruptFileError
from paimon_explore.frozen_dataclass import dataclass

Record = Mapping[str, object]


class Status(IntEnum):
    """What a snapshot did with a file."""

    EXISTING = 0
    ADDED = 1
    DELETED = 2


class Content(IntEnum):
    """What the files of a manifest contain."""

    DATA = 0
    DELETES = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class IcebergEntry:
    """An entry of a manifest.

    Attributes:
        status: what the snapshot did with the file.
        snapshot_id: the snapshot that added or deleted the file.
        sequence_number: the snapshot since which the rows of the file are visible.
        file_sequence_number: the snapshot that added the file.
        file: the record `data_file`.
    """

    status: Status
    snapshot_id: int
    sequence_number: int
    file_sequence_number: int
    file: Record

    @property
    def is_live(self) -> bool:
        """Whether the file is part of the snapshot."""
        return self.status is not Status.DELETED

    @property
    def path(self) -> str:
        """The path of the file."""
        return str(self.file["file_path"])

    @property
    def rows(self) -> int:
        """The number of rows of the file."""
        return _integer(self.file, "record_count")

    @property
    def size(self) -> int:
        """The size of the file in bytes."""
        return _integer(self.file, "file_size_in_bytes")

    @property
    def partition(self) -> Record:
        """The partition of the file, by column."""
        found = self.file["partition"]
        return found if isinstance(found, Mapping) else {}

    def as_record(self) -> Record:
        """Return the record of a manifest."""
        return {
            "status": int(self.status),
            "snapshot_id": self.snapshot_id,
            "sequence_number": self.sequence_number,
            "file_sequence_number": self.file_sequence_number,
            "data_file": self.file,
        }


def added_entry(file: Record, snapshot_id: int) -> IcebergEntry:
    """Return the entry of a file that a snapshot adds."""
    return IcebergEntry(
        status=Status.ADDED,
        snapshot_id=snapshot_id,
        sequence_number=snapshot_id,
        file_sequence_number=snapshot_id,
        file=file,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class IcebergManifest:
    """An entry of a manifest list: a manifest.

    Attributes:
        path: its path.
        length: its size in bytes.
        content: what its files contain.
        sequence_number: the snapshot that added the manifest.
        min_sequence_number: the smallest sequence number of its files.
        snapshot_id: the snapshot that added the manifest.
        files: the numbers of added, existing and deleted files.
        rows: their numbers of rows.
        partitions: a summary per partition column.
        first_row_id: the id of the first row whose file has none of its own, if rows have ids.
    """

    path: str
    length: int
    content: Content
    sequence_number: int
    min_sequence_number: int
    snapshot_id: int
    files: tuple[int, int, int]
    rows: tuple[int, int, int]
    partitions: tuple[Record, ...]
    first_row_id: int | None = None

    @property
    def live_files(self) -> int:
        """The number of files that are part of the snapshot."""
        return self.files[0] + self.files[1]

    @property
    def live_rows(self) -> int:
        """The number of their rows."""
        return self.rows[0] + self.rows[1]

    def as_record(self, *, legacy_names: bool) -> Record:
        """Return the record of a manifest list."""
        names = _counts(legacy=legacy_names)
        return {
            "manifest_path": self.path,
            "manifest_length": self.length,
            "partition_spec_id": SPEC_ID,
            "content": int(self.content),
            "sequence_number": self.sequence_number,
            "min_sequence_number": self.min_sequence_number,
            "added_snapshot_id": self.snapshot_id,
            **dict(zip(names, self.files, strict=True)),
            **dict(zip(_ROW_COUNTS, self.rows, strict=True)),
            "partitions": [dict(summary) for summary in self.partitions],
            FIRST_ROW_ID: self.first_row_id,
        }


_KINDS = ("added", "existing", "deleted")
_ROW_COUNTS = tuple(f"{kind}_rows_count" for kind in _KINDS)


def _counts(*, legacy: bool) -> tuple[str, ...]:
    files = "data_files" if legacy else "files"
    return tuple(f"{kind}_{files}_count" for kind in _KINDS)


def manifest_of(record: Record, path: str) -> IcebergManifest:
    """Return the manifest of a record of a manifest list.

    Args:
        record: the record.
        path: the manifest list, for messages.

    Raises:
        CorruptFileError: the record is not complete.
    """
    try:
        names = _counts(legacy="added_data_files_count" in record)
        sequence_number = _integer(record, "sequence_number")
        snapshot_id, first_row_id = record.get("added_snapshot_id"), record.get(FIRST_ROW_ID)
        return IcebergManifest(
            path=str(record["manifest_path"]),
            length=_integer(record, "manifest_length"),
            content=Content(_integer(record, "content")),
            sequence_number=sequence_number,
            min_sequence_number=_integer(record, "min_sequence_number"),
            snapshot_id=snapshot_id if isinstance(snapshot_id, int) else sequence_number,
            files=_three(record, names),
            rows=_three(record, _ROW_COUNTS),
            partitions=tuple(_records(record.get("partitions"))),
            first_row_id=first_row_id if isinstance(first_row_id, int) else None,
        )
    except (LookupError, TypeError, ValueError) as error:
        raise CorruptFileError(path, "a manifest", f"must be complete ({error})") from error


def entry_of(record: Record, manifest: IcebergManifest) -> IcebergEntry:
    """Return the entry of a record of a manifest; missing numbers are those of the manifest.

    Raises:
        CorruptFileError: the record is not complete.
    """
    try:
        status = Status(_integer(record, "status"))
        file = _mapping(record, "data_file")
        found = IcebergEntry(
            status=status,
            snapshot_id=_inherited(record, "snapshot_id", manifest.snapshot_id),
            sequence_number=_inherited(record, "sequence_number", manifest.sequence_number),
            file_sequence_number=_inherited(
                record, "file_sequence_number", manifest.sequence_number
            ),
            file=file,
        )
        _check_numbers(found)
    except (LookupError, TypeError, ValueError) as error:
        rule = f"must be complete ({error})"
        raise CorruptFileError(manifest.path, "a manifest entry", rule) from error
    return found


def with_row_ids(
    manifests: Iterable[IcebergManifest], first: int
) -> tuple[list[IcebergManifest], int]:
    """Return manifests with the first row id of each data manifest, and the number of new ids.

    Args:
        manifests: the manifests of a new snapshot.
        first: the first id that is free.
    """
    found, free = list[IcebergManifest](), first
    for manifest in manifests:
        if manifest.content is Content.DATA and manifest.first_row_id is None:
            found.append(replace(manifest, first_row_id=free))
            free += manifest.live_rows
        else:
            found.append(manifest)
    return found, free - first


def with_own_row_ids(
    entries: Iterable[IcebergEntry], manifest: IcebergManifest
) -> list[IcebergEntry]:
    """Return the entries of a manifest with the row ids that live files inherit from it."""
    found, free = list[IcebergEntry](), manifest.first_row_id
    for entry in entries:
        if free is None or not entry.is_live or entry.file.get(FIRST_ROW_ID) is not None:
            found.append(entry)
        else:
            found.append(replace(entry, file={**entry.file, FIRST_ROW_ID: free}))
            free += entry.rows
    return found


def deleted_or_existing(
    entry: IcebergEntry, deleted: frozenset[str], snapshot_id: int
) -> IcebergEntry:
    """Return a live entry as a later snapshot lists it.

    Args:
        entry: the entry.
        deleted: the paths of the files that the snapshot deletes.
        snapshot_id: the snapshot.
    """
    if entry.path in deleted:
        return replace(entry, status=Status.DELETED, snapshot_id=snapshot_id)
    return replace(entry, status=Status.EXISTING)


def _check_numbers(entry: IcebergEntry) -> None:
    _ = entry.rows, entry.size, entry.path, entry.partition


def _three(record: Record, names: Sequence[str]) -> tuple[int, int, int]:
    first, second, third = (_integer(record, name) for name in names)
    return first, second, third


def _integer(record: Record, name: str) -> int:
    value = record[name]
    if not isinstance(value, int):
        raise TypeError(f"{name} is no number")
    return value


def _mapping(record: Record, name: str) -> Record:
    value = record[name]
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} is no record")
    return value


def _inherited(record: Record, name: str, default: int) -> int:
    value = record.get(name)
    return value if isinstance(value, int) else default


def _records(values: object) -> list[Record]:
    if not isinstance(values, list):
        return []
    return [value for value in values if isinstance(value, Mapping)]
