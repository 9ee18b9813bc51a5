"""Which files to read: plans of tables with many files, and the system table of all files."""

from benchmarks.case import Case, Goal, Json, peak_mib, times

_SLOW = frozenset({"pypaimon"})
_PEERS = ("ours", "rust", "pypaimon")
_DAY = ("pt", "2024-06-01")


def _plan(
    name: str,
    title: str,
    where: dict[str, Json],
    goals: tuple[Goal, ...],
    contenders: tuple[str, ...] = _PEERS,
) -> Case:
    """A plan; its table and size are in the name: `all-100k-sorted`."""
    _, size, kind = name.rsplit("-", 2)
    table = f"files_{size}_{kind}"
    return Case(
        id=f"plan-{name}",
        title=title,
        operation="plan",
        parameters={"table": table, **where},
        units={"10k": 10_000, "100k": 100_000, "1m": 1_000_000}[size],
        unit="files",
        tables=(table,),
        contenders=contenders,
        goals=goals,
        once=_SLOW,
    )


def _files(to: str, goals: tuple[Goal, ...]) -> Case:
    return Case(
        id=f"files-{to}-100k",
        title=f"`$files` of 100,000 files as {to}",
        operation="files",
        parameters={"table": "files_100k_sorted", "to": to},
        units=100_000,
        unit="files",
        tables=("files_100k_sorted",),
        goals=goals,
        once=_SLOW,
    )


_RANGE: dict[str, Json] = {"between": ("k", 5_000_000, 5_099_999)}
_BIG_RANGE: dict[str, Json] = {"between": ("k", 50_000_000, 50_099_999)}
_HUGE_RANGE: dict[str, Json] = {"between": ("k", 500_000_000, 500_099_999)}
_TWO = ("ours", "rust")

CASES = (
    _plan("all-10k-sorted", "plan 10,000 files", {}, ()),
    _plan("all-100k-sorted", "plan 100,000 files", {}, (times(2),)),
    _plan("all-100k-keyed", "plan 100,000 files of a primary-key table", {}, (times(2),)),
    _plan("all-1m-sorted", "plan 1,000,000 files", {}, (times(2), peak_mib(350)), _TWO),
    _plan(
        "day-100k-sorted",
        "plan 1 of 1,000 partitions, 100,000 files by partition",
        {"equal": _DAY},
        (times(2),),
    ),
    _plan(
        "day-100k-mixed",
        "plan 1 of 1,000 partitions, 100,000 files in no order",
        {"equal": _DAY},
        (times(1.5),),
    ),
    _plan(
        "day-1m-sorted",
        "plan 1 of 1,000 partitions, 1,000,000 files by partition",
        {"equal": _DAY},
        (times(1.2),),
        _TWO,
    ),
    _plan("range-10k-sorted", "plan a value range, 10,000 files", _RANGE, ()),
    _plan("range-100k-sorted", "plan a value range, 100,000 files", _BIG_RANGE, (times(1.5),)),
    _plan(
        "range-1m-sorted", "plan a value range, 1,000,000 files", _HUGE_RANGE, (times(1.5),), _TWO
    ),
    Case(
        id="decode-20k",
        title="decode an Avro manifest of 20,000 files, all fields",
        operation="decode",
        parameters={"file": "files_20k.avro"},
        units=20_000,
        unit="files",
        tables=("files_20k.avro",),
        contenders=("ours", "fastavro"),
        goals=(times(8, "fastavro"),),
    ),
    _files("arrow", (times(3.5),)),
    _files("pandas", (times(3.5),)),
)
