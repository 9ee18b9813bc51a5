"""Pruning stages: which manifests or files a criterion kept."""

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.scan.manifest_arrays import Mask


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Counts of one pruning stage.

    Attributes:
        name: the criterion.
        unit: `manifests` or `files`.
        total: number of items before.
        kept: number of items after.
    """

    name: str
    unit: str
    total: int
    kept: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStage:
    """A pruning stage applied to files.

    Attributes:
        name: the criterion.
        before: the files before the stage.
        mask: True for the files to keep.
    """

    name: str
    before: ManifestEntries
    mask: Mask

    @property
    def kept(self) -> ManifestEntries:
        """The files after the stage."""
        return self.before if self.mask.all() else self.before.filter(self.mask)
