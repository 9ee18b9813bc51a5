"""Roaring bitmaps: the portable 32-bit format and Java's 64-bit ART format.

Bytes are validated before the bitmap library deserializes them.
"""
