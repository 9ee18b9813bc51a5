"""Reading of CSV, JSON and Parquet files for `import`, with casts to the types of a table."""
