"""Views of one snapshot: manifest tree, data files, partitions, LSM levels, differences.

`inspector` combines them for one table. Each view is an immutable value; rendering is separate.
"""
