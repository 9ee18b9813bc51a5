"""Functions and casts of VARIANT values: the kernels of predicates, which DuckDB calls, too."""
