"""Row kinds of input rows: insert (+I), update before (-U), update after (+U), delete (-D).

Spec: primary-key-table/sequence-rowkind.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Column, fixed_values
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import TableOptions

ROW_KIND = "_ROW_KIND"
"""Input column with the row kinds, as strings or as numbers 0 to 3."""
CHANGE_KIND = "rowkind"
"""Column with the row kinds of changes that are read."""

KINDS: Mapping[str, int] = {"+I": 0, "-U": 1, "+U": 2, "-D": 3}
INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = KINDS.values()

Kinds = npt.NDArray[np.int8]


def kinds_of(batch: pa.RecordBatch, options: TableOptions, default: int = INSERT) -> Kinds:
    """Return the row kind of each row.

    Args:
        batch: n rows, optionally with the column `_ROW_KIND`.
        options: `rowkind.field` names another column that holds the row kind.
        default: the row kind if the batch has no such column.

    Raises:
        InvalidInputError: a value is null or not a row kind.
    """
    field = options.value(opt.ROWKIND_FIELD)
    name = field if field is not None else ROW_KIND
    if name not in batch.schema.names:
        return np.full(batch.num_rows, default, np.int8)
    column = batch.column(name)
    if column.null_count:
        raise InvalidInputError(
            f"Column {name!r} must contain row kinds, but contains null.",
            hint=f"Use {choices(KINDS)}.",
        )
    if pa.types.is_integer(column.type):
        return _checked_numbers(column, name)
    encoded = (
        column
        if pa.types.is_dictionary(column.type)
        else column.cast(pa.string()).dictionary_encode()
    )
    return _kinds_of_texts(encoded, name)


def _checked_numbers(column: Column, name: str) -> Kinds:
    numbers = fixed_values(column.cast(pa.int64()), np.int64).astype(np.int64)
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() <= DELETE:
        wrong = int(numbers.min() if numbers.min() < 0 else numbers.max())
        raise InvalidInputError(
            f"Column {name!r} must contain numbers from 0 to {DELETE}, but contains {wrong}.",
            hint="Row kinds are 0 (+I), 1 (-U), 2 (+U) and 3 (-D).",
        )
    return numbers.astype(np.int8)


def _kinds_of_texts(encoded: Column, name: str) -> Kinds:
    texts = [str(text) for text in encoded.dictionary.to_pylist()]  # type: ignore[attr-defined]  # a dictionary array
    unknown = [text for text in texts if text not in KINDS]
    if unknown:
        raise InvalidInputError(
            f"Column {name!r} contains {unknown[0]!r}, which is not a row kind.",
            hint=f"Use {choices(KINDS)}.",
        )
    codes = np.array([KINDS[text] for text in texts], np.int8)
    indices = encoded.indices.cast(pa.int64())  # type: ignore[attr-defined]  # a dictionary array
    return codes[fixed_values(indices, np.int64).astype(np.int64)]


def kept_kinds(kinds: Kinds, options: TableOptions) -> npt.NDArray[np.bool_] | None:
    """Return which rows `ignore-delete` and `ignore-update-before` keep; None for all."""
    dropped: list[int] = []
    if options.value(opt.IGNORE_DELETE):
        dropped = [DELETE, UPDATE_BEFORE]
    elif options.value(opt.IGNORE_UPDATE_BEFORE):
        dropped = [UPDATE_BEFORE]
    if not dropped:
        return None
    is_dropped = np.isin(kinds, dropped)
    return ~is_dropped if is_dropped.any() else None
