"""Decoders and encoders of file and byte formats: one module per format.

Independent of paths and `FileIO`; may import `data_types` and `errors`. Malformed input raises a
`FormatError` that names the byte or field.
"""
