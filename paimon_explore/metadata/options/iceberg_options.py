"""Table options of Iceberg metadata, which commits write for Iceberg readers.

Spec: iceberg/configurations.
"""

from paimon_explore.metadata.options import option_enums as of
from paimon_explore.metadata.options.option_definition import choice, flag, integer, one_of, text

ICEBERG_STORAGE = choice(
    "metadata.iceberg.storage",
    "Where commits write Iceberg metadata; catalogs themselves are not called.",
    default=of.IcebergStorage.DISABLED,
)
ICEBERG_STORAGE_LOCATION = one_of(
    "metadata.iceberg.storage-location",
    "Folder of Iceberg metadata, if not that of the storage.",
    ("table-location", "catalog-location"),
)
ICEBERG_FORMAT_VERSION = integer(
    "metadata.iceberg.format-version",
    "Iceberg version, 2 or 3; only 3 has deletion vectors.",
    default=2,
)
ICEBERG_COMPACTION_MIN_FILE_NUM = integer(
    "metadata.iceberg.compaction.min.file-num",
    "Small Iceberg manifests that may be merged.",
    default=10,
)
ICEBERG_COMPACTION_MAX_FILE_NUM = integer(
    "metadata.iceberg.compaction.max.file-num",
    "Small Iceberg manifests that are merged whatever their size.",
    default=50,
)
ICEBERG_DELETE_AFTER_COMMIT = flag(
    "metadata.iceberg.delete-after-commit.enabled",
    "Delete old Iceberg metadata files after commits.",
    default=True,
)
ICEBERG_PREVIOUS_VERSIONS_MAX = integer(
    "metadata.iceberg.previous-versions-max", "Old Iceberg metadata files to keep.", default=0
)
ICEBERG_MANIFEST_COMPRESSION = text(
    "metadata.iceberg.manifest-compression", "Compression of Iceberg manifests.", default="snappy"
)
ICEBERG_MANIFEST_LEGACY_VERSION = flag(
    "metadata.iceberg.manifest-legacy-version",
    "Name the counts of manifest lists as Iceberg 1.4 did.",
)
