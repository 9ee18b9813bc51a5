"""Keys for merging: normalized sort keys, key groups, key equality.

`normalized_keys` turns columns into fixed-width integers that sort like the values.
"""
