"""Conversion of VARIANT columns to JSON text and back.

Values are converted one by one. Rows of a file often share their metadata, whose keys are decoded
once.
"""

import datetime as dt

import numpy as np
import pyarrow as pa

from paimon_explore.data_types import arrow_buffers as nb
from paimon_explore.data_types.arrow import VARIANT_ARROW
from paimon_explore.data_types.arrow_buffers import Column
from paimon_explore.encoding.variant.decoder import VariantReader, decode_keys
from paimon_explore.encoding.variant.encoder import encode_json
from paimon_explore.encoding.variant.json_text import JsonMaker


def json_column(column: pa.StructArray, *, zone: dt.tzinfo = dt.UTC, path: str = "") -> Column:
    """Format variants as JSON, exactly as Java does.

    Args:
        column: a column of type `VARIANT_ARROW`.
        zone: the time zone in which timestamps are formatted.
        path: path of the file, for errors.

    Raises:
        CorruptFileError: a variant is damaged.
    """
    maker = JsonMaker(zone)
    known: dict[bytes, tuple[str, ...]] = {}
    texts = []
    values, metadata = (nb.as_python(column.field(name)) for name in ("value", "metadata"))
    for there, value, keys in zip(nb.valid_mask(column).tolist(), values, metadata, strict=True):
        if not there or not isinstance(value, bytes) or not isinstance(keys, bytes):
            texts.append(b"")
            continue
        if keys not in known:
            known[keys] = decode_keys(keys, path=path)
        text = VariantReader(value, known[keys], path).read(maker)
        texts.append(text.encode("utf-8", "replace"))
    return _build(pa.string(), texts, nb.valid_mask(column))


def variant_column(column: Column) -> Column:
    """Parse JSON texts to variants.

    Args:
        column: a string column.

    Raises:
        InvalidInputError: a text is not JSON.
    """
    valid = nb.valid_mask(column)
    parts = [
        encode_json(text) if isinstance(text, str) else (b"", b"") for text in nb.as_python(column)
    ]
    all_valid = np.ones(len(valid), np.bool_)
    values = _build(pa.binary(), [value for value, _ in parts], all_valid)
    metadata = _build(pa.binary(), [keys for _, keys in parts], all_valid)
    return nb.build_struct(VARIANT_ARROW, [values, metadata], valid)


def _build(data_type: pa.DataType, texts: list[bytes], valid: nb.Bools) -> Column:
    offsets = nb.offsets_from_sizes(np.array([len(text) for text in texts], np.int64))
    return nb.build_var(data_type, offsets, np.frombuffer(b"".join(texts), np.uint8), valid)
