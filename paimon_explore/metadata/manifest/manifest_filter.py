"""Filters of manifest entries that are pushed down to the decoder.

The decoder reads only the columns of the filters for the entries that are dropped.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Ints
from paimon_explore.encoding.avro.reader import REASONS
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.manifest.manifest_table import Mask, as_array, as_mask


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryFilter:
    """A filter of manifest entries by some of their columns.

    Attributes:
        columns: the columns of `ENTRY_SCHEMA` that the filter needs.
        reasons: returns for n entries n numbers: 0 if the entry is kept, else the reason for which
            it is dropped, 1 to 15. `BOUNDS` may be `BYTE_VIEWS`, valid only during the call.
        needles: byte strings; if not empty, entries whose bytes contain none of them are dropped
            for reason 1.
    """

    columns: frozenset[str]
    reasons: Callable[[ManifestEntries], Ints]
    needles: tuple[bytes, ...] = ()


def partition_filter(
    wanted: Callable[[pa.BinaryArray], Mask], needles: tuple[bytes, ...] = ()
) -> EntryFilter:
    """Return a filter that keeps the entries of selected partitions.

    Args:
        wanted: returns the mask of the selected partitions, for n binary rows with their arity.
        needles: if not empty, the bytes of each selected partition contain one of them.
    """

    def reasons(entries: ManifestEntries) -> Ints:
        return (~as_mask(wanted(_partitions(entries)))).astype(np.int64)

    return EntryFilter(columns=frozenset({"partition"}), reasons=reasons, needles=needles)


def filter_entries(
    entries: ManifestEntries, filters: Sequence[EntryFilter]
) -> tuple[ManifestEntries, Ints]:
    """Apply filters in order.

    Returns:
        The entries that are kept, and an array of shape (filters, reasons) that counts the reasons
        of each filter.
    """
    tallies = np.zeros((len(filters), REASONS), np.int64)
    for tally, entry_filter in zip(tallies, filters, strict=True):
        reasons = entry_filter.reasons(entries)
        tally[:] = np.bincount(reasons, minlength=REASONS)
        if reasons.any():
            entries = entries.filter(reasons == 0)
    return entries, tallies


def _partitions(entries: ManifestEntries) -> pa.BinaryArray:
    column = as_array(entries.column("partition"))
    assert isinstance(column, pa.BinaryArray)  # noqa: S101 - the column's type
    return column
