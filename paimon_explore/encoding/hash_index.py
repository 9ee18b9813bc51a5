"""Hash index files: the key hashes of a bucket of a dynamic-bucket table, 4 bytes each, big endian.

Spec: concepts/spec/tableindex, hash index. Seen in: golden java200/pk_dynamic_bucket.
"""

import numpy as np
import numpy.typing as npt

from paimon_explore.errors import CorruptFileError

_HASH_BYTES = 4


def decode_hashes(data: bytes, *, path: str, count: int | None = None) -> npt.NDArray[np.int32]:
    """The hashes of a file, in its order, which means nothing.

    Args:
        data: the file.
        path: its path, for errors.
        count: how many the index manifest states, if known.

    Raises:
        CorruptFileError: the size is no multiple of 4, or not that of `count` hashes.
    """
    if len(data) % _HASH_BYTES:
        raise CorruptFileError(path, f"size {len(data)}", "a hash index must have 4 bytes per hash")
    hashes = np.frombuffer(data, ">i4").astype(np.int32)
    if count is not None and len(hashes) != count:
        rule = f"must be the {count} hashes that the index manifest states"
        raise CorruptFileError(path, f"{len(hashes)} hashes", rule)
    return hashes


def encode_hashes(hashes: npt.NDArray[np.int32]) -> bytes:
    """A file of these hashes."""
    return hashes.astype(">i4").tobytes()
