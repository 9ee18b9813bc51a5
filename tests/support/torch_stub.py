"""The few parts of PyTorch that datasets need, for tests on machines without it."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

_DATASETS = "paimon_explore.table.engine_scans.adapters.torch_datasets"


class Dataset:
    """As `torch.utils.data.Dataset`."""


class IterableDataset(Dataset):
    """As `torch.utils.data.IterableDataset`."""


class Tensor:
    """An array in place of a tensor."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape

    def share_memory_(self) -> "Tensor":
        return self

    def fill_(self, value: int) -> "Tensor":
        self.values[:] = value
        return self

    def __getitem__(self, at: int) -> object:
        return self.values[at]

    def tolist(self) -> object:
        return self.values.tolist()


@dataclass(frozen=True)
class Worker:
    """As the result of `torch.utils.data.get_worker_info`."""

    id: int
    num_workers: int


class TorchStub:
    """The installed modules, and the worker that reads."""

    def __init__(self) -> None:
        self.worker: Worker | None = None
        self.rank: tuple[int, int] | None = None

    def loaded(
        self, dataset: Iterable[object], *, batch_size: None, num_workers: int
    ) -> Iterator[object]:
        """As `torch.utils.data.DataLoader`, of a dataset of batches; the workers in turn."""
        assert batch_size is None
        for number in range(num_workers):
            self.worker = Worker(number, num_workers)
            yield from dataset
        self.worker = None

    def modules(self) -> dict[str, ModuleType]:
        """Return the modules by name."""
        torch, utils, data = (ModuleType(f"torch{end}") for end in ("", ".utils", ".utils.data"))
        vars(torch).update(
            utils=utils,
            int64=np.int64,
            Tensor=Tensor,
            zeros=lambda size, dtype: Tensor(np.zeros(size, dtype)),
            from_numpy=Tensor,
            distributed=SimpleNamespace(
                is_available=lambda: True,
                is_initialized=lambda: self.rank is not None,
                get_rank=lambda: (self.rank or (0, 1))[0],
                get_world_size=lambda: (self.rank or (0, 1))[1],
            ),
        )
        vars(utils).update(data=data)
        vars(data).update(
            Dataset=Dataset,
            IterableDataset=IterableDataset,
            DataLoader=self.loaded,
            get_worker_info=lambda: self.worker,
        )
        return {module.__name__: module for module in (torch, utils, data)}


def install(monkeypatch: pytest.MonkeyPatch) -> TorchStub:
    """Put the stub in place of PyTorch until the test ends."""
    stub = TorchStub()
    for name, module in stub.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setitem(sys.modules, _DATASETS, ModuleType(_DATASETS))  # so that it is restored
    monkeypatch.delitem(sys.modules, _DATASETS)
    return stub
