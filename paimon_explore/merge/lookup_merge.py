"""The merge of tables that compact by lookup: rows above level 0 are complete.

On such tables a compaction of level 0 merges each new row with the row that was there, wherever
that lies. So of a key's rows above level 0 the one on the lowest level stands for all of them, and
an aggregate that counted the deeper ones too would count them twice.

Spec: primary-key-table/changelog-producer, lookup.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from paimon_explore.merge.keys.key_groups import ranks
from paimon_explore.merge.merge_spec import MergeSpec
from paimon_explore.merge.numpy_columns import ints_of, mask_array
from paimon_explore.merge.section_merge import Piece, Task, functions_of, merge_piece
from paimon_explore.merge.sort_merge import key_pieces

LEVEL = "_LEVEL"
"""Column of int64: the level of a row's file."""
_NONE = -1


def merge_complete_runs(
    runs: Sequence[Iterator[pa.RecordBatch]], spec: MergeSpec, *, keep_retracts: bool = False
) -> Iterator[pa.RecordBatch]:
    """Merge sorted runs as `merge_runs` does, without rows that others stand for.

    Args:
        runs: as for `merge_runs`, with `_SEQUENCE_NUMBER` and the column `LEVEL`.
        spec: the merge.
        keep_retracts: as for `merge_runs`.

    Yields:
        Batches as from `merge_runs`, in key order.

    Raises:
        FormatError: retract records that the engine does not accept, or a function does not.
    """
    task = Task(spec=spec, functions=functions_of(spec), keep_retracts=keep_retracts)
    for piece in key_pieces(runs, spec.keys):
        for batch in merge_piece(Piece(_not_covered(piece, spec)), task):
            if batch.num_rows:
                yield batch


def _not_covered(parts: Sequence[pa.RecordBatch], spec: MergeSpec) -> list[pa.RecordBatch]:
    """The rows of level 0, and for each key the row on the lowest level above."""
    piece = Piece(parts)
    keys = ranks([piece.column(name) for name in spec.keys], count=piece.count)
    levels = ints_of(piece.column(LEVEL))
    old = np.flatnonzero(levels > 0)
    old = old[np.argsort(-levels[old], kind="stable")]
    lowest = np.full(int(keys.max()) + 1, _NONE, np.int64)
    lowest[keys[old]] = old  # the last assignment stays
    kept = levels == 0
    kept[lowest[lowest != _NONE]] = True
    found = []
    begin = 0
    for part in parts:
        mask = kept[begin : begin + part.num_rows]
        begin += part.num_rows
        if mask.any():
            found.append(part.filter(mask_array(mask)))
    return found
