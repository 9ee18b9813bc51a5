"""The overview of a table: what it is, how large, how it is written, what is wrong, what to ask.

The explorer opens with it; `table_overview` builds it, and `example_inputs` gives inputs of the
other views made of the table's own columns and values.
"""
