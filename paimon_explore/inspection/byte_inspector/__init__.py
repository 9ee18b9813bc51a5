"""The anatomy of files: which bytes are which field, down to the last one, and by which rule.

`spans` holds the model, `forms` how single values are stored, the other modules one layout each.
Nothing here reads rows. Spec: concepts/spec/overview.
"""
