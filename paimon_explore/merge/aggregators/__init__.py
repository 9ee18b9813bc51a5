"""The aggregate functions, one module per kind of value.

Every function takes a column and the steps of each key (add, add reversed, retract, replace) and
gives one value per key. Keys with nothing but adds are worked on together, as columns; only keys
where a function depends on the order of mixed steps are walked, record by record.
"""
