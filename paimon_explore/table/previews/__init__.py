"""Previews of maintenance: `table.what_if`.

`Table` imports this package on first use.
"""
