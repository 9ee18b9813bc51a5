"""Table options: keys, types, defaults and allowed values.

- `option_definition`: the `Option` class and the parsers of values.
- `table_options`: all table options, except those of tags and consumers (`tag_options`), of file
  formats (`format_options`) and of columns (`column_options`); also `TableOptions`.
- `option_enums`: enums of option values.
- `effective_options`: values that depend on several options.
- `option_spelling`: known option names, and suggestions for misspelled ones.
"""
