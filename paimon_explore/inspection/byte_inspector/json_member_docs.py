"""Descriptions of the members of the JSON files of Paimon, by file name prefix."""

from collections.abc import Mapping

_SNAPSHOT: Mapping[str, str] = {
    "version": "Version of the snapshot's layout, 3 since release 0.4.",
    "uuid": "Random identifier of this snapshot.",
    "id": "Id of the snapshot, as in the file name.",
    "schemaId": "Id of the table schema at the time of the commit.",
    "baseManifestList": "Manifest list of all manifests before this commit.",
    "baseManifestListSize": "Size of the base manifest list in bytes.",
    "deltaManifestList": "Manifest list of the changes of this commit.",
    "deltaManifestListSize": "Size of the delta manifest list in bytes.",
    "changelogManifestList": "Manifest list of the changelog files of this commit.",
    "changelogManifestListSize": "Size of the changelog manifest list in bytes.",
    "indexManifest": "Manifest of all index files.",
    "commitUser": "User of the commit; a job keeps its user over restarts.",
    "writerVersion": "Software that wrote the snapshot.",
    "commitIdentifier": "Transaction id; batch commits use the largest 64-bit integer.",
    "commitKind": "APPEND, COMPACT, OVERWRITE or ANALYZE.",
    "timeMillis": "Commit time, milliseconds since 1970 UTC.",
    "logOffsets": "Offsets of an external log system; always empty, removed in release 1.4.",
    "totalRecordCount": "Number of rows of all live files, before merging.",
    "deltaRecordCount": "Added minus removed rows of this commit.",
    "changelogRecordCount": "Number of rows in the changelog files of this commit.",
    "watermark": "Event time up to which the data is complete.",
    "statistics": "Name of the statistics file.",
    "properties": "Custom properties of the snapshot.",
    "nextRowId": "Lowest row id that is not assigned to a row yet.",
    "operation": "The SQL operation of the commit.",
    "tagCreateTime": "Creation time of the tag, local time.",
    "tagTimeRetained": "Retention time of the tag, in seconds.",
}
_SCHEMA: Mapping[str, str] = {
    "version": "Version of the schema's layout, 3 since release 1.0.",
    "id": "Id of the schema, as in the file name.",
    "fields": "Columns of the table, in order.",
    "name": "Name of the column.",
    "type": "Type of the column; NOT NULL if nulls are rejected.",
    "description": "Comment on the column.",
    "defaultValue": "Default value of the column.",
    "highestFieldId": "Largest field id ever assigned; ids are never reused.",
    "partitionKeys": "Partition columns.",
    "primaryKeys": "Primary key columns.",
    "options": "The table's options.",
    "comment": "Comment on the table.",
    "timeMillis": "Creation time of the schema, milliseconds since 1970 UTC.",
}

RULES: Mapping[str, Mapping[str, str]] = {
    "snapshot-": _SNAPSHOT,
    "changelog-": _SNAPSHOT,
    "tag-": _SNAPSHOT,
    "schema-": _SCHEMA,
    "consumer-": {"nextSnapshot": "Id of the snapshot that the consumer reads next."},
    "stat": {
        "snapshotId": "Id of the analyzed snapshot.",
        "schemaId": "Schema id of the analyzed snapshot.",
        "mergedRecordCount": "Number of rows after merging.",
        "mergedRecordSize": "Size of the merged rows in bytes.",
        "colStats": "Statistics of each column.",
    },
}
"""Member descriptions by name, by file name prefix."""
