"""Table options: keys, types, defaults and allowed values.

- `option_definition`: the `Option` class and the parsers of values.
- `table_options`: the honoured table options, except those of tags and consumers (`tag_options`),
  of file formats (`format_options`) and of columns (`column_options`); also `TableOptions`.
- `option_reference`, `refused_options`: the other documented options, with the reason.
- `option_reference`: all documented options with what this library does with them.
- `option_enums`: enums of option values.
- `effective_options`: values that depend on several options.
- `option_spelling`: known option names, and suggestions for misspelled ones.
"""
