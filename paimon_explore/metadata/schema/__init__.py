"""Table schemas: schema files, validation, and schema changes (ALTER TABLE).

- `table_schema`: the `TableSchema` value, parsing and encoding of schema files.
- `schema_change`: the change values such as `AddColumn`, as in Java's `SchemaChange`.
- `alter_schema`: applies changes to a `TableSchema` and checks the rules (`apply_changes`);
  `alter_columns` edits nested fields for it, `option_changes` has the rules for options.
- `schema_validation`: checks a complete schema against all rules of the `*_validation` modules, and
  creates the first schema of a table.

`maintenance.schema_commit` writes a changed schema to the table.
"""
