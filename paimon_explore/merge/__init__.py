"""Rows of one key into one row: the merge engines, free of files.

Holds the order of keys and of the rows of a key, the four merge engines, the aggregate functions
and the merge of sorted runs in bounded memory. Readers merge runs, writers merge what they
buffered, compaction merges files: they share this layer, for they may not import each other.
May import `metadata` and below; touches no file.
Spec: concepts/spec/datafile, primary-key-table/merge-engine, primary-key-table/sequence-rowkind.
"""
