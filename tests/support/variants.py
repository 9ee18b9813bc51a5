"""Variants as pairs of their byte strings."""

from paimon_explore.encoding.variant.variant import Variant


def encode_python(value: object) -> tuple[bytes, bytes]:
    """Encode a Python value; returns value and metadata."""
    made = Variant.of(value)
    return made.value, made.metadata


def python_value(value: bytes, metadata: bytes) -> object:
    """Decode a variant to Python values."""
    return Variant(value, metadata).to_python()
