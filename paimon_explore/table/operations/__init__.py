"""Operations of tables that change schemas and references, expire, repair or rewrite files."""
