"""Aggregate functions, one module per kind of value.

Every function takes a column and the steps of each key (add, add reversed, retract, replace) and
returns one value per key. Keys with only add steps are processed together, vectorized; keys where
the result depends on the order of mixed steps are processed record by record.
"""
