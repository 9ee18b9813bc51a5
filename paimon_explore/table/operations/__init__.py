"""Operations of `Table.maintenance` that rewrite, repair or remove what other operations left."""
