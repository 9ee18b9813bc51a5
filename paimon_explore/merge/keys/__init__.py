"""Keys for merging: normalized sort keys, key groups, key equality.

`normalized_keys` converts columns to fixed-width integers that sort like the values.
"""
