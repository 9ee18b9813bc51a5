"""What the specification says a metadata file contains and what it is called.

Frozen values for small files (snapshot, schema, tag), Arrow columns for manifests, whose entries
come by the million. Pure: no files, no clock. May import `encoding`, `types`, `errors`.
Spec: concepts/spec/snapshot, manifest, schema.
"""
