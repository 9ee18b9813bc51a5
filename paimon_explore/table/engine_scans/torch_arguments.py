"""The arguments of a PyTorch dataset; PyTorch itself is not imported here.

Record batches of other sizes, or with their rows in random order.
"""

from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pyarrow as pa

from paimon_explore.data_types.arrow_buffers import concat_batches
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.frozen_dataclass import dataclass

ROW, ARROW, TORCH = "row", "pyarrow", "torch"
_FORMATS = (ROW, ARROW, TORCH)


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchArguments:
    """What a dataset returns, in which order, and the share of this process.

    Attributes:
        batch_format: `row`, `pyarrow` or `torch`.
        batch_size: rows of a batch; None for the batches of the reader.
        to_tensor_fn: makes the tensors of a record batch; None for the default.
        shuffle: whether the order of splits and rows is random.
        seed: the seed of the order.
        buffer_size: rows of a block that is shuffled.
        auto_detect_rank: whether PyTorch or the environment knows rank and world size.
        rank: the rank of this process.
        world_size: the number of processes.
    """

    batch_format: str = ROW
    batch_size: int | None = None
    to_tensor_fn: Callable[[pa.RecordBatch], object] | None = None
    shuffle: bool = False
    seed: int = 0
    buffer_size: int = 1000
    auto_detect_rank: bool = False
    rank: int | None = None
    world_size: int | None = None

    def checked(self, *, streaming: bool) -> "TorchArguments":
        """Return the arguments.

        Raises:
            InvalidInputError: they do not fit each other.
        """
        if self.batch_format not in _FORMATS:
            raise InvalidInputError(
                f"Unknown batch_format {self.batch_format!r}.", hint=f"Use {choices(_FORMATS)}."
            )
        if self.batch_format == ROW and self.batch_size is not None:
            raise InvalidInputError(
                "batch_size needs batch_format='pyarrow' or 'torch'.",
                hint="For rows, pass batch_size to the DataLoader.",
            )
        if self.batch_format != TORCH and self.to_tensor_fn is not None:
            raise InvalidInputError("to_tensor_fn needs batch_format='torch'.")
        if not streaming:
            self._check_rows_in_memory()
        self._check_share()
        return self

    def _check_rows_in_memory(self) -> None:
        given = {
            "batch_format": self.batch_format != ROW,
            "shuffle": self.shuffle,
            "auto_detect_rank": self.auto_detect_rank,
            "sharding_rank": self.rank is not None,
        }
        for name, is_given in given.items():
            if is_given:
                raise InvalidInputError(
                    f"{name} needs streaming=True.",
                    hint="A dataset of rows in memory is shuffled and divided by the DataLoader "
                    "and its sampler.",
                )

    def _check_share(self) -> None:
        if (self.rank is None) != (self.world_size is None):
            raise InvalidInputError("sharding_rank and sharding_world_size must be set together.")
        if self.rank is None or self.world_size is None:
            return
        if self.auto_detect_rank:
            raise InvalidInputError("sharding_rank cannot be set with auto_detect_rank=True.")
        if self.rank >= self.world_size:
            raise InvalidInputError(
                f"sharding_rank {self.rank} must be below sharding_world_size {self.world_size}."
            )


def resized(batches: Iterable[pa.RecordBatch], rows: int | None) -> Iterator[pa.RecordBatch]:
    """Yield the rows in batches of a number of rows; the last one may be smaller.

    Args:
        batches: the rows, in their order.
        rows: rows of a batch; None yields the batches as they are.

    >>> batch = pa.RecordBatch.from_pydict({"n": [1, 2, 3, 4, 5]})
    >>> [one.num_rows for one in resized([batch, batch], 4)]
    [4, 4, 2]
    """
    if rows is None:
        yield from batches
        return
    waiting: list[pa.RecordBatch] = []
    missing = rows
    for batch in batches:
        rest = batch
        while rest.num_rows:
            piece = rest.slice(0, missing)
            rest = rest.slice(piece.num_rows)
            waiting.append(piece)
            missing -= piece.num_rows
            if not missing:
                yield concat_batches(waiting)
                waiting, missing = [], rows
    if waiting:
        yield concat_batches(waiting)


def shuffled(
    batches: Iterable[pa.RecordBatch], rows: int, order: np.random.Generator
) -> Iterator[pa.RecordBatch]:
    """Yield blocks of a number of rows, each with its rows in random order."""
    for block in resized(batches, rows):
        yield block.take(order.permutation(block.num_rows))
