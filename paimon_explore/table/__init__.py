"""The public API: `Catalog`, `Table`, `Scan`, and what they return.

A thin layer: the rules are in the layers below. `Table.explore()` loads `widgets`, the explaining
methods load `inspection`, each on first use.
"""
