"""`Catalog` and `Table`: the public facade, with no rule of its own.

May import everything below it; `Table.explore()` and `Table.inspect` are doors to `widgets` and
`inspect`.
"""
