"""The conversions of a scan to the data types of other packages, each imported on first use."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, overload

import pyarrow as pa

from paimon_explore.arguments import boolean, integer, optional_integer, string
from paimon_explore.data_types import data_frames
from paimon_explore.errors import InvalidInputError, choices
from paimon_explore.table.engine_scans.lazy_scan import LazyScan

if TYPE_CHECKING:
    import pandas as pd


class ConvertibleScan:
    """A scan with its conversions to pandas, Polars, DuckDB, Ray, Daft, PyTorch and Arrow."""

    __slots__ = ()

    def to_pandas(self: LazyScan, *, dtype_backend: str | None = None) -> "data_frames.DataFrame":
        """Read the rows into a pandas DataFrame.

        Args:
            dtype_backend: `pyarrow` for Arrow types, `numpy_nullable` for pandas' nullable types;
                None: NumPy types, in which integers with nulls become floats.

        Raises:
            InvalidInputError: there is no such backend.

        >>> import paimon_explore as pe
        >>> scan = pe.demo().table("demo.orders").scan(["id"], limit=2)
        >>> scan.to_pandas().shape, str(scan.to_pandas(dtype_backend="pyarrow").dtypes["id"])
        ((2, 1), 'int64[pyarrow]')
        """
        return to_pandas(self.to_arrow(), dtype_backend)

    @overload
    def to_polars(
        self: LazyScan, *, lazy: Literal[False] = False
    ) -> "data_frames.PolarsDataFrame": ...

    @overload
    def to_polars(self: LazyScan, *, lazy: Literal[True]) -> "data_frames.PolarsLazyFrame": ...

    def to_polars(
        self: LazyScan, *, lazy: bool = False
    ) -> "data_frames.PolarsDataFrame | data_frames.PolarsLazyFrame":
        """Read the rows into a polars DataFrame, or describe the read by a LazyFrame.

        Args:
            lazy: return a LazyFrame: Polars reads the rows when it is collected, only the columns
                that it needs, and only files and rows that its filters may match.

        Raises:
            InvalidInputError: polars is not installed.

        >>> import paimon_explore as pe
        >>> scan = pe.demo().table("demo.orders").scan(["id", "city"])
        >>> scan.limit(2).to_polars().shape
        (2, 2)
        >>> import polars as pl
        >>> scan.to_polars(lazy=True).filter(pl.col("id") > 400).select("city").collect().shape
        (5, 1)
        """
        require_package("polars", "polars")
        import polars as pl

        if boolean("lazy", lazy):
            from paimon_explore.table.engine_scans.polars_source import polars_lazy_frame

            return polars_lazy_frame(self)
        frame = pl.from_arrow(self.to_arrow())
        return frame if isinstance(frame, pl.DataFrame) else frame.to_frame()

    def to_dataset(self: LazyScan) -> "data_frames.ArrowDataset":
        """Return a pyarrow dataset of the rows, which are read when it is scanned.

        A scanner reads only the columns that it needs, and only files and rows that its filter may
        match. DuckDB queries the dataset as a table: `duckdb.sql("SELECT … FROM dataset")`.

        >>> import paimon_explore as pe
        >>> import pyarrow.compute as pc
        >>> dataset = pe.demo().table("demo.orders").scan().to_dataset()
        >>> dataset.to_table(columns=["id"], filter=pc.field("id") > 400).num_rows
        5
        """
        from paimon_explore.table.engine_scans.scan_dataset import ScanDataset

        return ScanDataset(self)

    def to_duckdb(
        self: LazyScan, name: str = "t", *, lazy: bool = False
    ) -> "data_frames.DuckDBPyConnection":
        """Read the rows into a view of a new DuckDB connection.

        Args:
            name: the name of the view.
            lazy: read the rows in each query: only the columns that it needs, and only files and
                rows that its filters may match.

        Raises:
            InvalidInputError: duckdb is not installed.

        >>> import paimon_explore as pe
        >>> connection = pe.demo().table("demo.orders").scan(where="id > 400").to_duckdb()
        >>> connection.sql("SELECT max(id) FROM t").fetchall()
        [(405,)]
        >>> connection = pe.demo().table("demo.orders").scan().to_duckdb(lazy=True)
        >>> connection.sql("SELECT max(id) FROM t WHERE id < 200").fetchall()
        [(105,)]
        """
        require_package("duckdb", "duckdb")
        import duckdb

        string("name", name)
        connection = duckdb.connect()
        from paimon_explore.table.engine_scans.scan_dataset import ScanDataset

        is_lazy = boolean("lazy", lazy)
        connection.register(name, ScanDataset(self) if is_lazy else self.to_arrow())
        return connection

    def to_ray(
        self: LazyScan,
        *,
        ray_remote_args: Mapping[str, object] | None = None,
        concurrency: int | None = None,
        override_num_blocks: int | None = None,
        **read_args: object,
    ) -> "data_frames.RayDataset":
        """Describe the read by a Ray Dataset: Ray's tasks read the splits.

        The arguments are those of `ray.data.read_datasource` and of pypaimon.

        Args:
            ray_remote_args: arguments of `ray.remote` for the tasks.
            concurrency: maximum number of tasks at a time.
            override_num_blocks: number of blocks; None lets Ray choose.
            read_args: further arguments of the datasource.

        Raises:
            InvalidInputError: ray is not installed, or `override_num_blocks` is below 1.

        >>> import paimon_explore as pe
        >>> scan = pe.demo().table("demo.orders").scan(["id"])
        >>> scan.to_ray().count()  # doctest: +SKIP
        30
        """
        optional_integer("concurrency", concurrency, minimum=1)
        optional_integer("override_num_blocks", override_num_blocks, minimum=1)
        require_package("ray", "ray[data]")
        from paimon_explore.table.engine_scans.adapters.ray_datasource import ray_dataset

        return ray_dataset(
            self.parts(),
            self.schema,
            {
                **read_args,
                "ray_remote_args": None if ray_remote_args is None else dict(ray_remote_args),
                "concurrency": concurrency,
                "override_num_blocks": override_num_blocks,
            },
        )

    def to_daft(self: LazyScan) -> "data_frames.DaftDataFrame":
        """Describe the read by a lazy Daft DataFrame, which reads only what a query needs.

        Daft asks for the columns, files and rows that a query needs when it runs.

        Raises:
            InvalidInputError: daft is not installed.

        >>> import paimon_explore as pe
        >>> scan = pe.demo().table("demo.orders").scan()
        >>> scan.to_daft().where("id > 400").count_rows()  # doctest: +SKIP
        5
        """
        require_package("daft", "daft")
        from paimon_explore.table.engine_scans.adapters.daft_source import daft_frame

        return daft_frame(self)

    def to_torch(  # noqa: PLR0913 - keyword arguments, as those of pypaimon
        self: LazyScan,
        streaming: bool = True,  # noqa: FBT001, FBT002 - as in pypaimon
        *,
        batch_format: str = "row",
        batch_size: int | None = None,
        to_tensor_fn: "Callable[[pa.RecordBatch], object] | None" = None,
        shuffle: bool = False,
        seed: int = 0,
        buffer_size: int = 1000,
        auto_detect_rank: bool = False,
        sharding_rank: int | None = None,
        sharding_world_size: int | None = None,
    ) -> "data_frames.TorchDataset":
        """Return a PyTorch dataset of the rows, whose splits are shared by DataLoader's workers.

        The arguments have the names and meanings of pypaimon's. Each epoch reads the splits again,
        of the snapshot that the scan was made at.

        Args:
            streaming: return an IterableDataset; False: a Dataset with a length, whose rows are
                read into memory at once.
            batch_format: `row`: dictionaries by column. `pyarrow`: record batches. `torch`:
                dictionaries of tensors, for columns of numbers, booleans and vectors without nulls.
                The last two are whole batches: pass `batch_size=None` to the DataLoader.
            batch_size: rows of a batch of these formats; None for those of the reader, or of
                `buffer_size` rows with `shuffle`.
            to_tensor_fn: makes the tensors of a record batch, for other types of columns.
            shuffle: shuffle the order of the splits, and rows within blocks of `buffer_size` rows;
                in another order after `dataset.set_epoch(n)`.
            seed: the seed of the order, the same on all workers.
            buffer_size: rows of a block that is shuffled.
            auto_detect_rank: read the share of this process of a distributed training; its rank is
                that of `torch.distributed`, or of the variables RANK and WORLD_SIZE.
            sharding_rank: the rank of this process, instead.
            sharding_world_size: the number of processes, with `sharding_rank`.

        Raises:
            InvalidInputError: torch is not installed, or arguments do not fit each other.

        >>> import paimon_explore as pe
        >>> dataset = pe.demo().table("demo.orders").scan(["id"]).to_torch()  # doctest: +SKIP
        >>> len(list(dataset))  # doctest: +SKIP
        30
        """
        from paimon_explore.table.engine_scans.torch_arguments import TorchArguments

        arguments = TorchArguments(
            batch_format=batch_format,
            batch_size=optional_integer("batch_size", batch_size, minimum=1),
            to_tensor_fn=to_tensor_fn,
            shuffle=boolean("shuffle", shuffle),
            seed=integer("seed", seed),
            buffer_size=integer("buffer_size", buffer_size, minimum=1),
            auto_detect_rank=boolean("auto_detect_rank", auto_detect_rank),
            rank=optional_integer("sharding_rank", sharding_rank, minimum=0),
            world_size=optional_integer("sharding_world_size", sharding_world_size, minimum=1),
        ).checked(streaming=boolean("streaming", streaming))
        require_package("torch", "torch")
        from paimon_explore.table.engine_scans.adapters.torch_datasets import (
            RowsInMemory,
            StreamingRows,
        )

        return (
            StreamingRows(self.parts(), arguments) if streaming else RowsInMemory(self.to_arrow())
        )

    def __arrow_c_stream__(self: LazyScan, requested_schema: object = None) -> object:
        """The rows through Arrow's C stream interface."""
        return self.to_batches().__arrow_c_stream__(requested_schema)  # type: ignore[no-untyped-call]  # in stubs

    def __dataframe__(
        self: LazyScan,
        nan_as_null: bool = False,  # noqa: FBT001, FBT002 - as the protocol defines
        allow_copy: bool = True,  # noqa: FBT001, FBT002 - as the protocol defines
    ) -> object:
        """The rows through the data frame interchange protocol."""
        rows = self.to_arrow()
        return rows.__dataframe__(nan_as_null, allow_copy)


def require_package(module: str, distribution: str) -> None:
    """Check that a package is installed.

    Args:
        module: the name to import.
        distribution: what pip installs.

    Raises:
        InvalidInputError: it is not installed.
    """
    from importlib import import_module

    try:
        import_module(module)
    except ImportError as error:
        if error.name is not None and error.name.partition(".")[0] != module:
            raise
        raise InvalidInputError(
            f"The package {module} is not installed.",
            hint=f"Run: pip install {distribution!r}"
            if "[" in distribution
            else f"Run: pip install {distribution}",
        ) from error


BACKENDS = ("numpy_nullable", "pyarrow")


def to_pandas(rows: pa.Table, dtype_backend: str | None) -> "pd.DataFrame":
    """Convert rows to a data frame.

    Args:
        rows: the rows.
        dtype_backend: `pyarrow` keeps the Arrow types, `numpy_nullable` uses pandas' nullable types
            (Int64, boolean, string); None: NumPy types, so that integers with nulls become floats.

    Raises:
        InvalidInputError: there is no such backend.
    """
    if dtype_backend is None:
        return data_frames.frame_of(rows)
    if dtype_backend not in BACKENDS:
        raise InvalidInputError(
            f"Unknown dtype_backend {dtype_backend!r}.", hint=f"Use {choices(BACKENDS)}, or None."
        )
    import pandas as pd

    if dtype_backend == "pyarrow":
        return rows.to_pandas(types_mapper=pd.ArrowDtype)
    return data_frames.frame_of(rows, _nullable_types(pd))


def _nullable_types(pandas: Any) -> Callable[[pa.DataType], Any]:  # noqa: ANN401 - the module
    """Return pandas' nullable types by Arrow type; None for types that have none."""
    known: Mapping[pa.DataType, Any] = {
        pa.bool_(): pandas.BooleanDtype(),
        pa.int8(): pandas.Int8Dtype(),
        pa.int16(): pandas.Int16Dtype(),
        pa.int32(): pandas.Int32Dtype(),
        pa.int64(): pandas.Int64Dtype(),
        pa.float32(): pandas.Float32Dtype(),
        pa.float64(): pandas.Float64Dtype(),
        pa.string(): pandas.StringDtype(),
    }
    return known.get
