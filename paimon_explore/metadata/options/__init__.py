"""Table options: keys, types, defaults and allowed values.

`table_options` declares the options; `effective_options` derives values that depend on several of
them.
"""
