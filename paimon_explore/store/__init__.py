"""One collection per table folder: snapshots, schemas, manifests, tags, branches, consumers.

Finds and loads single metadata files through `FileIO`; never reads row data. May import
`metadata` and below.
"""
