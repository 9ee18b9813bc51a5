"""The tabs of the explorer."""

from generated.markdown import code, grid
from paimon_explore.inspection.explorer.explorer_tabs import GROUPS

_TEXTS = {
    "overview": ("t.inspect.overview()", "what the table is, its size and commits, what is wrong"),
    "files": ("t.files()", "data files of the snapshot, to sort and filter"),
    "rows": ("t.rows()", "rows, or stored records with level, sequence number and file"),
    "sql": (
        'pe.sql("SELECT …", t=t)',
        "rows of a query on the snapshot, a chart of them, their history",
    ),
    "partitions": ("t.partitions()", "files, rows and bytes of each partition"),
    "profile": ("t.profile()", "nulls, distinct values, bounds and histograms of columns"),
    "heat": ("t.inspect.heat()", "which snapshots changed which partitions"),
    "lsm": ("t.inspect.lsm()", "sorted runs of a bucket by key range, read amplification"),
    "diff": ("t.diff(5, 7)", "two snapshots compared: files and rows"),
    "explain": ('t.explain("id > 3")', "why a scan reads or skips each file"),
    "key": ('t.history("id = 3")', "all stored versions of a key"),
    "why": ("t.inspect.why(file)", "which snapshots added, removed and reference a file"),
    "health": ("t.health()", "findings with threshold and remedy"),
    "schema": ("t.inspect.schema_history()", "fields by id in all schema versions"),
    "expiry": (
        "t.what_if.expire_snapshots()",
        "what an expiry would remove and why not more",
    ),
    "compare": ("pe.compare(a, b)", "two tables, branches or snapshots compared"),
    "what_if": ("t.what_if", "a compaction or changed options, previewed"),
    "replay": ("t.inspect.replay(7)", "a commit repeated step by step"),
    "bytes": ("t.inspect.bytes()", "every byte of a metadata file as a field"),
}
"""The method that gives the same, and what a tab shows."""


def tabs() -> str:
    """Return the tabs in order; one without a description has only its name."""
    rows = []
    for group, names in GROUPS.items():
        for name in names:
            usage, text = _TEXTS.get(name, ("t.explore()", ""))
            rows.append((group if name == next(iter(names)) else "", code(name), text, code(usage)))
    return grid(("group", "tab", "shows", "the same in code"), rows)
