"""Row-level operations: UPDATE, DELETE and MERGE INTO.

| table | implementation |
| --- | --- |
| primary key | updated rows and `-D` records are written like an upsert |
| append | files with changed rows are rewritten (copy on write) |
| append, `deletion-vectors.enabled` | changed rows are deleted by vectors, new versions are added |
| append, `data-evolution.enabled` | updated columns are written to additional files of the rows |
"""
