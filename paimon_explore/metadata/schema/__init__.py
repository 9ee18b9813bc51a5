"""Table schemas: parsing, validation, and the changes that ALTER TABLE makes.

`table_schema` holds `TableSchema`; `alter_schema` applies a `SchemaChange`; the `*_validation`
modules hold the rules.
"""
