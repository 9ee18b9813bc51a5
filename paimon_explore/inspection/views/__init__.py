"""Views of one snapshot: manifest tree, data files, partitions, LSM levels, differences.

`inspector` combines them for one table; each view is a frozen value without any drawing.
"""
