"""Table options of Iceberg metadata, which commits write for Iceberg readers.

Spec: iceberg/configurations.
"""

from paimon_explore.metadata.options import option_enums as of
from paimon_explore.metadata.options.option_definition import choice, flag, integer, one_of, text

ICEBERG_STORAGE = choice("metadata.iceberg.storage", default=of.IcebergStorage.DISABLED)
ICEBERG_STORAGE_LOCATION = one_of(
    "metadata.iceberg.storage-location", ("table-location", "catalog-location")
)
ICEBERG_FORMAT_VERSION = integer("metadata.iceberg.format-version", default=2)
ICEBERG_COMPACTION_MIN_FILE_NUM = integer("metadata.iceberg.compaction.min.file-num", default=10)
ICEBERG_COMPACTION_MAX_FILE_NUM = integer("metadata.iceberg.compaction.max.file-num", default=50)
ICEBERG_DELETE_AFTER_COMMIT = flag("metadata.iceberg.delete-after-commit.enabled", default=True)
ICEBERG_PREVIOUS_VERSIONS_MAX = integer("metadata.iceberg.previous-versions-max", default=0)
ICEBERG_MANIFEST_COMPRESSION = text("metadata.iceberg.manifest-compression", default="snappy")
ICEBERG_MANIFEST_LEGACY_VERSION = flag("metadata.iceberg.manifest-legacy-version")
ICEBERG_URI = text("metadata.iceberg.uri")
ICEBERG_HIVE_CONF_DIR = text("metadata.iceberg.hive-conf-dir")
ICEBERG_HIVE_CLIENT_CLASS = text(
    "metadata.iceberg.hive-client-class",
    default="org.apache.hadoop.hive.metastore.HiveMetaStoreClient",
)
ICEBERG_DATABASE = text("metadata.iceberg.database")
ICEBERG_TABLE = text("metadata.iceberg.table")
ICEBERG_GLUE_SKIP_ARCHIVE = flag("metadata.iceberg.glue.skip-archive")
ICEBERG_HIVE_SKIP_UPDATE_STATS = flag("metadata.iceberg.hive-skip-update-stats")

ICEBERG_REST_PREFIX = "metadata.iceberg.rest."
"""Prefix of options of the Iceberg REST catalog: `uri`, `warehouse`, `token` and so on."""
ICEBERG_PROPERTIES_PREFIX = "metadata.iceberg.table-properties."
"""Prefix of properties of the table in the Iceberg REST catalog."""
