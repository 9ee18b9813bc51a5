"""Encoding of VARIANT values: binary encoding, JSON text, shredding."""
