"""Merge engines: merging of rows with the same key, in memory.

Contains the order of keys and of the records of a key, the four merge engines, the aggregate
functions and the merge of sorted runs in bounded memory. Shared by readers (sorted runs), writers
(write buffers) and compaction (files). May import `metadata` and below; does no IO.
Spec: concepts/spec/datafile, primary-key-table/merge-engine, primary-key-table/sequence-rowkind.
"""
