"""Hash index files: the key hashes of a bucket of a dynamic-bucket table, as big-endian int32.

Spec: concepts/spec/tableindex, hash index. Seen in: golden java200/pk_dynamic_bucket.
"""

import numpy as np
import numpy.typing as npt

from paimon_explore.errors import CorruptFileError

_HASH_BYTES = 4


def decode_hashes(data: bytes, *, path: str, count: int | None = None) -> npt.NDArray[np.int32]:
    """Decode a hash index file; the order of the hashes has no meaning.

    Args:
        data: content of the file.
        path: path of the file, for errors.
        count: number of hashes in the index manifest, if known.

    Raises:
        CorruptFileError: the size is not a multiple of 4, or not that of `count` hashes.
    """
    if len(data) % _HASH_BYTES:
        raise CorruptFileError(path, "file size", f"must be a multiple of 4 bytes, not {len(data)}")
    hashes = np.frombuffer(data, ">i4").astype(np.int32)
    if count is not None and len(hashes) != count:
        rule = f"must be {count}, as in the index manifest, not {len(hashes)}"
        raise CorruptFileError(path, "number of hashes", rule)
    return hashes


def encode_hashes(hashes: npt.NDArray[np.int32]) -> bytes:
    """Encode a hash index file."""
    return hashes.astype(">i4").tobytes()
