"""Roaring bitmaps: the portable 32-bit format and the 64-bit ART format of Java.

Both are validated before the bitmap library reads them.
"""
