"""Indexes of data files: one module per kind, all inside one container.

An index tells of a condition on one column which rows of its data file may satisfy it; a bloom
filter, whether any may. Spec: concepts/spec/fileindex.
"""
