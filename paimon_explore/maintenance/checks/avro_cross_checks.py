"""Avro metadata decoded twice: what our decoder read of a table's manifests, and fastavro.

The files are noted while the other checks read them, and compared at the end: only then is it known
how many there are, so that a limited number of records can be shared out. Small files are compared
as a whole; what they leave goes to the larger ones, whose first records are compared.
"""

from collections.abc import Iterable, Sequence
from dataclasses import field
from enum import Enum

from paimon_explore.encoding.avro.container import is_avro
from paimon_explore.encoding.avro.cross_check import CrossCheck
from paimon_explore.errors import FormatError, StorageError, UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.maintenance.checks.findings import AvroCoverage, Finding, FsckReport
from paimon_explore.metadata.manifest.manifest_cross_check import (
    MetadataRecords,
    cross_check_metadata,
)
from paimon_explore.store.table_store import TableStore

AGREES = "fastavro reads the same values as our Avro decoder"


class MetadataKind(Enum):
    """The kinds of metadata files that are in Avro."""

    LIST = "manifest list"
    MANIFEST = "manifest"
    INDEX = "index manifest"


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    """A metadata file of a branch; see `MetadataKind`."""

    store: TableStore
    name: str
    kind: MetadataKind

    def decoded(self) -> MetadataRecords:
        manifests = self.store.manifests
        match self.kind:
            case MetadataKind.LIST:
                return manifests.list(self.name)
            case MetadataKind.MANIFEST:
                return manifests.read(self.name)
            case MetadataKind.INDEX:
                return manifests.index(self.name)


@dataclass(slots=True)
class AvroCrossChecks:
    """The metadata files of a table that are to be compared, each once.

    Attributes:
        max_records: how many records may be compared in all; None for no limit.
    """

    max_records: int | None
    _noted: dict[str, tuple[int, _File]] = field(default_factory=dict)

    def note(self, store: TableStore, name: str, kind: MetadataKind, records: int) -> None:
        """Remember a file that can be read, and about how many records it has."""
        path = store.paths.manifest(name)
        self._noted.setdefault(path, (records, _File(store=store, name=name, kind=kind)))

    def report(self, findings: Iterable[Finding]) -> FsckReport:
        """Compare the noted files, and add what was found to other findings."""
        found = list(findings)
        order = sorted(self._noted.items(), key=lambda item: (item[1][0], item[0]))
        left = self.max_records
        results: list[CrossCheck] = []
        skipped = 0
        for place, (path, (_, file)) in enumerate(order):
            share = None if left is None else left // (len(order) - place)
            if share == 0:
                skipped += 1
                continue
            try:
                result = _compared(path, file, share)
            except (FormatError, StorageError, UnsupportedFeatureError) as error:
                found.append(Finding(rule=AGREES, path=path, what=str(error)))
                continue
            if result is None:
                continue
            found += [Finding(rule=AGREES, path=path, what=str(o)) for o in result.disagreements]
            results.append(result)
            left = None if left is None else left - result.records
        return FsckReport(found, _coverage(results, skipped))


def _compared(path: str, file: _File, max_records: int | None) -> CrossCheck | None:
    """The comparison of a file; None if it is in ORC or Parquet."""
    data = file.store.file_io.read(path)
    if not is_avro(data):
        return None
    return cross_check_metadata(data, path, file.decoded(), max_records)


def _coverage(results: Sequence[CrossCheck], skipped: int) -> AvroCoverage:
    whole = sum(result.is_whole for result in results)
    return AvroCoverage(
        records=sum(result.records for result in results),
        files=whole,
        partial_files=len(results) - whole,
        skipped_files=skipped,
    )
