"""Results of SQL statements."""
