"""PyTorch datasets of the rows of a scan.

A DataLoader copies the dataset into each of its workers; each copy knows its number and reads its
share of the parts. All copies compute the same shares. Over a distributed training the parts are
first shared by the processes, then by the workers of each.
"""

import operator
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from torch.utils.data import Dataset, IterableDataset, get_worker_info

from paimon_explore.errors import InvalidInputError
from paimon_explore.table.engine_scans.scan_part import ScanPart, shares
from paimon_explore.table.engine_scans.torch_arguments import (
    ARROW,
    ROW,
    TorchArguments,
    resized,
    shuffled,
)

_ROWS = 1024
"""Rows that are converted to dictionaries at a time."""
_RANK, _WORLD_SIZE = "RANK", "WORLD_SIZE"
"""The variables of torchrun."""


class StreamingRows(IterableDataset):  # type: ignore[misc]  # PyTorch may not be installed
    """The rows of the parts that a worker reads.

    Args:
        parts: all parts of the scan.
        arguments: what is returned, and in which order.
        epoch: a tensor in shared memory with the number of the epoch; None for a new one.
    """

    def __init__(
        self,
        parts: Sequence[ScanPart],
        arguments: TorchArguments,
        epoch: torch.Tensor | None = None,
    ) -> None:
        super().__init__()
        self._parts = tuple(parts)
        self._arguments = arguments
        if epoch is None:
            epoch = torch.zeros(1, dtype=torch.int64).share_memory_()
        self._epoch = epoch

    def set_epoch(self, epoch: int) -> None:
        """Set the number of the epoch, on which the order of `shuffle` depends."""
        self._epoch.fill_(epoch)

    def __iter__(self) -> Iterator[object]:
        """Read the share of this worker."""
        arguments = self._arguments
        rank, world_size = _process(arguments)
        worker = get_worker_info()
        number, workers = (0, 1) if worker is None else (worker.id, worker.num_workers)
        parts = shares(shares(self._parts, world_size)[rank], workers)[number]
        if not arguments.shuffle:
            return _formed(_batches(parts), arguments)
        seeds = [arguments.seed, int(self._epoch[0]), rank, number]
        order = np.random.default_rng(seeds)
        mixed = [parts[at] for at in order.permutation(len(parts))]
        return _formed(shuffled(_batches(mixed), arguments.buffer_size, order), arguments)

    def __reduce__(self) -> tuple[object, ...]:
        """Keep the rank of the process that makes the workers, which may not know it."""
        rank, world_size = _process(self._arguments)
        known = replace(self._arguments, auto_detect_rank=False, rank=rank, world_size=world_size)
        return (StreamingRows, (self._parts, known, self._epoch))


class RowsInMemory(Dataset):  # type: ignore[misc]  # PyTorch may not be installed
    """Rows by number, as dictionaries.

    Args:
        rows: the rows.
    """

    def __init__(self, rows: pa.Table) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return self._rows.num_rows

    def __getitem__(self, index: int) -> dict[str, object]:
        """Return one row.

        Raises:
            IndexError: there is no such row.
        """
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> list[dict[str, object]]:
        """Return the rows of a batch, which the DataLoader asks for at once."""
        count = len(self)
        wanted = [operator.index(index) for index in indices]
        for index in wanted:
            if not -count <= index < count:
                raise IndexError(f"There is no row {index}: the dataset has {count} rows.")
        numbers = pa.array([index % count for index in wanted], pa.int64())
        return self._rows.take(numbers).to_pylist()


def _batches(parts: Iterable[ScanPart]) -> Iterator[pa.RecordBatch]:
    return (batch for part in parts for batch in part.to_batches())


def _formed(batches: Iterable[pa.RecordBatch], arguments: TorchArguments) -> Iterator[object]:
    """Yield what the dataset returns for batches."""
    if arguments.batch_format == ROW:
        for batch in batches:
            for start in range(0, batch.num_rows, _ROWS):
                yield from batch.slice(start, _ROWS).to_pylist()
        return
    convert = arguments.to_tensor_fn or tensors
    for batch in resized(batches, arguments.batch_size):
        yield batch if arguments.batch_format == ARROW else convert(batch)


def tensors(batch: pa.RecordBatch) -> dict[str, torch.Tensor]:
    """Return the columns of a batch as tensors: n numbers, or n rows of vectors.

    Raises:
        InvalidInputError: a column has nulls, or a type without a tensor.
    """
    return {
        name: torch.from_numpy(_numbers(name, column))
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    }


def _numbers(name: str, column: "pa.Array[Any]") -> "np.ndarray[Any, np.dtype[Any]]":
    if isinstance(column, pa.FixedSizeListArray):
        if column.null_count:
            raise _null_error(name)
        return _numbers(name, column.flatten()).reshape(len(column), column.type.list_size)
    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        raise InvalidInputError(
            f"Column {name!r} of type {kind} cannot be made a tensor.",
            hint="Select other columns, pass to_tensor_fn, or use batch_format='pyarrow'.",
        )
    if column.null_count:
        raise _null_error(name)
    return column.to_numpy(zero_copy_only=False, writable=True)


def _null_error(name: str) -> InvalidInputError:
    return InvalidInputError(
        f"Column {name!r} has nulls, which a tensor cannot hold.",
        hint=f"Filter them out with where='{name} IS NOT NULL', or pass to_tensor_fn.",
    )


def _process(arguments: TorchArguments) -> tuple[int, int]:
    """Return the rank of this process and the number of processes."""
    if arguments.rank is not None and arguments.world_size is not None:
        return arguments.rank, arguments.world_size
    if not arguments.auto_detect_rank:
        return 0, 1
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank(), torch.distributed.get_world_size()
    given = {name: os.environ.get(name) for name in (_RANK, _WORLD_SIZE)}
    if all(value is None for value in given.values()):
        return 0, 1
    if not all(value is not None and value.isdecimal() for value in given.values()):
        raise InvalidInputError(f"The variables {_RANK} and {_WORLD_SIZE} must both be numbers.")
    rank, world_size = (int(value or 0) for value in given.values())
    if rank >= world_size:
        raise InvalidInputError(
            f"The variable {_RANK} of the environment must be below {_WORLD_SIZE}, {world_size}, "
            f"not {rank}."
        )
    return rank, world_size
