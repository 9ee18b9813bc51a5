"""Contents of index files: btree and bitmap, full-text and vector indexes."""
