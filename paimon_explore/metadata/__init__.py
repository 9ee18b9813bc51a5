"""Contents and names of metadata files: schemas, snapshots, tags, manifests, table options.

Small files are frozen values; manifests, which may have millions of entries, are Arrow tables.
Parsing and encoding only: no file access, no clock. May import `encoding`, `data_types`, `errors`.
Spec: concepts/spec/snapshot, manifest, schema.
"""
