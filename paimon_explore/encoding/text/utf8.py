"""UTF-8 validation of strings, which file libraries do not check."""

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Bytes, Column, used_bytes
from paimon_explore.errors import CorruptFileError

_WORD = 8
_HIGH_BITS = 0x8080_8080_8080_8080


def check_utf8(texts: Column, *, path: str, column: str) -> None:
    """Check that texts are UTF-8; otherwise the first access to a value would fail.

    Args:
        texts: n texts.
        path: path of the file, for errors.
        column: name of the column, for errors.

    Raises:
        CorruptFileError: a text is not UTF-8.
    """
    if _is_ascii(used_bytes(texts)):
        return
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid as error:
        raise CorruptFileError(path, f"column {column!r}", f"must be UTF-8: {error}") from error


def _is_ascii(data: Bytes) -> bool:
    """Return whether no byte has its highest bit set, testing eight bytes at a time."""
    whole = len(data) // _WORD * _WORD
    words = int(np.bitwise_or.reduce(data[:whole].view(np.uint64))) if whole else 0
    rest = int(np.bitwise_or.reduce(data[whole:])) if len(data) > whole else 0
    return not (words | rest) & _HIGH_BITS
