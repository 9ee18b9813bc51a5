"""Choices among manifest entries that look at a few of their columns.

They are handed to the decoder, which looks at no more than these columns of the entries that are
not kept.
"""

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import Ints
from paimon_explore.encoding.avro.reader import REASONS
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.manifest.manifest_entry import ManifestEntries
from paimon_explore.metadata.manifest.manifest_table import Mask, as_mask, one_piece


@dataclass(frozen=True, slots=True, kw_only=True)
class Sieve:
    """A choice among entries that looks at some of their columns.

    Attributes:
        columns: the columns of `ENTRY_SCHEMA` that it looks at.
        reasons: gives for n entries 0 where the entry is kept, else the number of why it is not,
            from 1 to 15. The `BOUNDS` that it sees may be `BYTE_VIEWS`, which end with the call.
        needles: if there are some, the bytes of an entry that is kept hold at least one of them;
            entries without any are dropped for reason 1.
    """

    columns: frozenset[str]
    reasons: Callable[[ManifestEntries], Ints]
    needles: tuple[bytes, ...] = ()


def partition_sieve(
    wanted: Callable[[pa.BinaryArray], Mask], needles: tuple[bytes, ...] = ()
) -> Sieve:
    """Keeps the entries whose partition (a binary row with its arity) is wanted.

    Args:
        wanted: tells of n partitions which ones are wanted.
        needles: if there are some, one of them stands in each wanted partition's bytes.
    """

    def reasons(entries: ManifestEntries) -> Ints:
        return (~as_mask(wanted(_partitions(entries)))).astype(np.int64)

    return Sieve(columns=frozenset({"partition"}), reasons=reasons, needles=needles)


def sifted(entries: ManifestEntries, sieves: Sequence[Sieve]) -> tuple[ManifestEntries, Ints]:
    """The entries that all sieves keep, and a row for each sieve: how often it gave each number."""
    tallies = np.zeros((len(sieves), REASONS), np.int64)
    for tally, sieve in zip(tallies, sieves, strict=True):
        reasons = sieve.reasons(entries)
        tally[:] = np.bincount(reasons, minlength=REASONS)
        if reasons.any():
            entries = entries.filter(reasons == 0)
    return entries, tallies


def _partitions(entries: ManifestEntries) -> pa.BinaryArray:
    column = one_piece(entries.column("partition"))
    assert isinstance(column, pa.BinaryArray)  # noqa: S101 - the frame's type
    return column
