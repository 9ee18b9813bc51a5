"""From nothing to the first batch: a new interpreter, imports, opening, planning, reading."""

from benchmarks.case import Case, times

CASES = tuple(
    Case(
        id=f"start-{table}",
        title=f"new process to first batch, {what}",
        operation="first_batch",
        parameters={"table": table},
        units=1,
        unit="starts",
        tables=(table,),
        contenders=("ours", "rust", "pypaimon", "limit"),
        goals=(times(1 / 1.3),),
        fresh=True,
    )
    for table, what in (("keyed_dense_1m", "primary keys"), ("plain_1m", "append table"))
)
