"""The byte inspector: maps every byte of a file to the field that it encodes.

`spans` has the model, `value_encodings` the encodings of values, the other modules one file layout
each. Does not read rows. Spec: concepts/spec/overview.
"""
