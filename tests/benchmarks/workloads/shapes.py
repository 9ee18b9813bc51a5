"""Reads of tables in the shapes of real ones, with all their columns."""

from benchmarks.case import Case, times

_CONTENDERS = ("ours", "rust")
_SHAPES = (
    ("shape_buckets", "10 partitions of 8 buckets, 5 runs", 361_940, 1.2),
    ("shape_wide_runs", "300 columns, 6 runs", 20_000, 1.2),
    ("shape_small_files", "500 small append files", 25_000, 1.2),
    ("shape_small_runs", "100 small runs in a bucket", 6_950, 1.2),
    ("shape_long_texts", "strings of 1 kB, 4 runs", 60_000, 1.2),
    ("shape_20_runs", "20 runs of 50k rows", 430_000, 1.3),
    ("shape_wide_append", "300 columns, append", 60_000, 1.2),
    ("shape_avro", "Avro files, 4 runs", 120_000, 1.2),
    ("shape_deletion_vectors", "deletion vectors", 514_285, 1.5),
    ("shape_evolved", "evolved schema", 800_000, 1.5),
    ("shape_nested", "lists, maps and rows, 4 runs", 110_000, 1.64),
    ("shape_decimals", "decimals and timestamps, 4 runs", 270_000, 1.76),
    ("shape_orc", "ORC files, 4 runs", 270_000, 1.87),
    ("shape_text_column", "integer key, string column, 4 runs", 270_000, 1.94),
    ("shape_two_keys", "key of an integer and a string, 4 runs", 480_000, 1.2),
    ("shape_distinct_texts", "distinct strings, files of Arrow's writer", 900_000, 0.9),
)

CASES = tuple(
    Case(
        id=table.replace("_", "-"),
        title=f"all rows of a table: {title}",
        operation="read",
        parameters={"table": table, "add_up": "id"},
        units=rows,
        unit="rows",
        tables=(table,),
        contenders=_CONTENDERS,
        goals=(times(goal),),
    )
    for table, title, rows, goal in _SHAPES
)
