"""Join keys of a merge's source, in which the keys of table rows are looked up.

Every value of a key column gets a code; several columns get a combined code. The source's codes are
sorted once; those of the table's rows are looked up batch by batch.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from paimon_explore.data_types.arrow_buffers import (
    Column,
    Ints,
    build_fixed,
    fixed_values,
    int64_values,
    valid_mask,
)
from paimon_explore.errors import InvalidInputError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.scan.predicate.expression import Expression
from paimon_explore.scan.predicate.kernels import aligned

_MAX_CODES = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPair:
    """An equality between both sides, bound to the joined row.

    Attributes:
        target: expression of the table's columns.
        source: expression of the source's columns.
        matches_nulls: whether null equals null.
    """

    target: Expression
    source: Expression
    matches_nulls: bool


class SourceKeys:
    """The join keys of the source as sorted codes.

    Args:
        pairs: the equalities.
        keys: the source's side of each equality, n values each.
        like: arrays with the types of the table's side.
    """

    def __init__(
        self, pairs: Sequence[KeyPair], keys: Sequence[Column], like: Sequence[Column]
    ) -> None:
        self._keys = keys
        self._nullable = [pair.matches_nulls for pair in pairs]
        self._values: list[Column] = []
        codes: list[Ints] = []
        for key, other in zip(keys, like, strict=True):
            encoded = _hashable(aligned(other.slice(0, 0), key)[1]).dictionary_encode("encode")
            self._values.append(encoded.dictionary)
            codes.append(int64_values(encoded.indices))
        by_row = self._combined(codes, keys)
        self.order: Ints = np.argsort(by_row, kind="stable")
        self.codes: Ints = by_row[self.order]

    def codes_of(self, columns: Sequence[Column]) -> Ints:
        """Return the code of each key of the table; -1 if the source does not have the key."""
        codes: list[Ints] = []
        for column, key, values in zip(columns, self._keys, self._values, strict=True):
            same = _hashable(aligned(column, key.slice(0, 0))[0])
            options = pc.SetLookupOptions(value_set=values, skip_nulls=False)
            found = pc.call_function("index_in", [same], options)
            codes.append(np.where(valid_mask(found), int64_values(found), -1))
        return self._combined(codes, columns)

    def _combined(self, codes: Sequence[Ints], columns: Sequence[Column]) -> Ints:
        """Combine the codes of several columns into one code per row."""
        combined = np.zeros(len(codes[0]), np.int64)
        valid = np.ones(len(combined), np.bool_)
        combinations = 1
        for code, column, values, nullable in zip(
            codes, columns, self._values, self._nullable, strict=True
        ):
            valid &= code >= 0
            if not nullable:
                valid &= valid_mask(column)
            combinations *= max(len(values), 1)
            if combinations > _MAX_CODES:
                raise InvalidInputError(
                    "The merge keys have more than 2^62 combinations of values.",
                    hint="Match on fewer columns.",
                )
            combined = combined * max(len(values), 1) + code
        return np.where(valid, combined, -1)


def _hashable(column: Column) -> Column:
    """Normalize floats so that equal values hash equally: one zero and one NaN."""
    if not pa.types.is_floating(column.type):
        return column
    width = column.type.bit_width // 8
    floats: npt.NDArray[np.float64] = fixed_values(column, f"f{width}").astype(np.float64) + 0.0
    numbers = np.where(np.isnan(floats), np.nan, floats).astype(f"f{width}")
    return build_fixed(column.type, numbers, valid_mask(column))
