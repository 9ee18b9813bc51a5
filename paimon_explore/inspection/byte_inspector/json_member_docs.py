"""What the members of Paimon's JSON files mean, by the beginning of the file's name."""

from collections.abc import Mapping

_SNAPSHOT: Mapping[str, str] = {
    "version": "Version of the snapshot's layout, 3 since release 0.4.",
    "uuid": "Identity of this snapshot, chosen at random.",
    "id": "Number of the snapshot, as in the file's name.",
    "schemaId": "The table's schema when this was committed.",
    "baseManifestList": "List of the manifests of everything before this commit.",
    "baseManifestListSize": "Bytes of the base list.",
    "deltaManifestList": "List of the manifests of what this commit changed.",
    "deltaManifestListSize": "Bytes of the delta list.",
    "changelogManifestList": "List of the manifests of this commit's changelog files.",
    "changelogManifestListSize": "Bytes of the changelog list.",
    "indexManifest": "File that lists all index files.",
    "commitUser": "Who committed; a job keeps its name over restarts.",
    "writerVersion": "Software that wrote the snapshot.",
    "commitIdentifier": "Number of the transaction; batch commits use the largest 64-bit number.",
    "commitKind": "APPEND, COMPACT, OVERWRITE or ANALYZE.",
    "timeMillis": "When it was committed, milliseconds since 1970 UTC.",
    "logOffsets": "Always empty in file tables; gone since release 1.4.",
    "totalRecordCount": "Rows of all live files, before merging.",
    "deltaRecordCount": "Rows that came less rows that went with this commit.",
    "changelogRecordCount": "Rows of this commit's changelog files.",
    "watermark": "Event time up to which the data is complete.",
    "statistics": "Name of the statistics file.",
    "properties": "Free text by key.",
    "nextRowId": "The first row id that is still free.",
    "operation": "The SQL operation behind the commit.",
    "tagCreateTime": "When the tag was made, local time.",
    "tagTimeRetained": "How long the tag is kept, seconds.",
}
_SCHEMA: Mapping[str, str] = {
    "version": "Version of the schema's layout, 3 since release 1.0.",
    "id": "Number of the schema, as in the file's name.",
    "fields": "The columns, in order.",
    "name": "Name of the column.",
    "type": "Type of the column; NOT NULL where nulls are refused.",
    "description": "Comment on the column.",
    "defaultValue": "What a missing value becomes.",
    "highestFieldId": "Largest field id ever given out; ids are never used again.",
    "partitionKeys": "Columns that choose the folder.",
    "primaryKeys": "Columns that tell rows apart.",
    "options": "The table's options.",
    "comment": "Comment on the table.",
    "timeMillis": "When the schema was made, milliseconds since 1970 UTC.",
}

RULES: Mapping[str, Mapping[str, str]] = {
    "snapshot-": _SNAPSHOT,
    "changelog-": _SNAPSHOT,
    "tag-": _SNAPSHOT,
    "schema-": _SCHEMA,
    "consumer-": {"nextSnapshot": "The snapshot that the consumer reads next."},
    "stat": {
        "snapshotId": "The snapshot that was counted.",
        "schemaId": "Its schema.",
        "mergedRecordCount": "Rows after merging.",
        "mergedRecordSize": "Bytes of these rows.",
        "colStats": "Figures of each column.",
    },
}
"""Rules of members by name, by the prefix of the file's name."""
