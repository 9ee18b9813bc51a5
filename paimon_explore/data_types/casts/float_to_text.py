"""Casts of FLOAT and DOUBLE to text: vectorized for common values, one by one for the others."""

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import (
    Bools,
    Column,
    build_bool,
    build_like,
    float64_values,
    string_array,
)
from paimon_explore.data_types.casts.java_formatting import double_text, float_text
from paimon_explore.data_types.casts.text_functions import computed, replaced, where_valid
from paimon_explore.data_types.definitions import TypeRoot

_PLAIN_MIN = 1e-3
_PLAIN_BOUND = 1e7


def is_plain(array: Column) -> Bools:
    """Return where Java formats a float without exponent; False for zeros, which may be signed."""
    sizes = np.abs(float64_values(array))
    return (sizes >= _PLAIN_MIN) & (sizes < _PLAIN_BOUND)


def plain_texts(array: Column) -> Column:
    """Format the floats that are plain; the texts of the others are arbitrary.

    Arrow formats the same shortest digits as Java, without the `.0` of whole numbers.
    """
    return replaced(array.cast(pa.string()), r"^(-?[0-9]+)$", r"\1.0")


def float_texts(array: Column, root: TypeRoot) -> Column:
    """Format a FLOAT or DOUBLE column as Java does."""
    plain = is_plain(array)
    texts = plain_texts(array)
    if plain.all():
        return texts
    # distinct by bits, as 0.0 and -0.0 differ as text
    values = float64_values(array)[~plain]
    bits, places = np.unique(values.view(np.int64), return_inverse=True)
    function = float_text if root is TypeRoot.FLOAT else double_text
    known = string_array([function(float(value)) for value in bits.view(np.float64)])
    indices = np.zeros(len(array), np.int64)
    indices[~plain] = places
    others = computed("take", [known, build_like(pa.int64(), indices, array)])
    return where_valid(array, computed("if_else", [build_bool(plain), texts, others]))
