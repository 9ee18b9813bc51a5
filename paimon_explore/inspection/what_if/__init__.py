"""What if: the effect of maintenance before it is done; nothing is written.

`table.what_if` and the explorer use the previews; other code imports nothing from here.
"""
