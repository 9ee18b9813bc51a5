"""Columns of variants as JSON text and back.

Value by value: a variant is a tree of its own. Rows of one file often share their metadata, so its
keys are decoded once.
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
    """Variants as JSON text, in the very form of Java.

    Args:
        column: of `VARIANT_ARROW`.
        zone: in which timestamps are told.
        path: the file, for errors.

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
    return _built(pa.string(), texts, nb.valid_mask(column))


def variant_column(column: Column) -> Column:
    """JSON texts as variants.

    Args:
        column: of strings.

    Raises:
        InvalidInputError: a text is no JSON.
    """
    valid = nb.valid_mask(column)
    parts = [
        encode_json(text) if isinstance(text, str) else (b"", b"") for text in nb.as_python(column)
    ]
    everything = np.ones(len(valid), np.bool_)
    values = _built(pa.binary(), [value for value, _ in parts], everything)
    metadata = _built(pa.binary(), [keys for _, keys in parts], everything)
    return nb.build_struct(VARIANT_ARROW, [values, metadata], valid)


def _built(data_type: pa.DataType, texts: list[bytes], valid: nb.Bools) -> Column:
    offsets = nb.offsets_from_sizes(np.array([len(text) for text in texts], np.int64))
    return nb.build_var(data_type, offsets, np.frombuffer(b"".join(texts), np.uint8), valid)
