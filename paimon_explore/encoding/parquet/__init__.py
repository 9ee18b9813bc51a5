"""Reader of Parquet files: page index, row group statistics, footers.

`reader` opens data files; `thrift_compact` decodes footers without pyarrow.
"""
