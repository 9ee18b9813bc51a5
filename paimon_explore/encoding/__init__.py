"""One module per byte layout: bytes to values and back, testable with no file.

Knows no path and no `FileIO`; may import `types` and `errors`. Whatever breaks a layout raises a
`FormatError` that names the byte or field.
"""
