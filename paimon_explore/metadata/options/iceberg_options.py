"""Table options of Iceberg metadata, which commits write for Iceberg readers.

Spec: iceberg/configurations.
"""

from paimon_explore.metadata.options import option_enums as of
from paimon_explore.metadata.options.option_definition import choice, flag, integer, one_of, text

ICEBERG_STORAGE = choice(
    "metadata.iceberg.storage",
    "Where commits write Iceberg metadata, and in which catalog they register it.",
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
ICEBERG_URI = text("metadata.iceberg.uri", "URI of the Hive metastore.")
ICEBERG_HIVE_CONF_DIR = text("metadata.iceberg.hive-conf-dir", "Folder with hive-site.xml.")
ICEBERG_HIVE_CLIENT_CLASS = text(
    "metadata.iceberg.hive-client-class",
    "Class of Java's client; with another class than the default, nothing is registered.",
    default="org.apache.hadoop.hive.metastore.HiveMetaStoreClient",
)
ICEBERG_DATABASE = text(
    "metadata.iceberg.database", "Database in the catalog; Hive takes several, separated by `;`."
)
ICEBERG_TABLE = text("metadata.iceberg.table", "Name of the table in the catalog.")
ICEBERG_GLUE_SKIP_ARCHIVE = flag(
    "metadata.iceberg.glue.skip-archive", "Ask a metastore of Glue to keep no old versions."
)
ICEBERG_HIVE_SKIP_UPDATE_STATS = flag(
    "metadata.iceberg.hive-skip-update-stats", "Keep the statistics in the Hive metastore."
)

ICEBERG_REST_PREFIX = "metadata.iceberg.rest."
"""Prefix of options of the Iceberg REST catalog: `uri`, `warehouse`, `token` and so on."""
ICEBERG_PROPERTIES_PREFIX = "metadata.iceberg.table-properties."
"""Prefix of properties of the table in the Iceberg REST catalog."""
