"""Options of catalogs and stores, limits, and Spark procedures, from the code."""

import inspect

from generated.markdown import code, grid
from paimon_explore import limits
from paimon_explore.fileio import store_options
from paimon_explore.fileio.store_option_names import PREFIXES, option_names
from paimon_explore.metastore.catalog_options import KNOWN
from paimon_explore.sql_statements.procedures import call_statement
from paimon_explore.sql_statements.procedures.call_statement import PROCEDURES, signature

_STORES = tuple(dict.fromkeys(PREFIXES.values()))


def catalog_options() -> str:
    """Return the options of catalogs, with their names as keyword arguments."""
    rows = [(code(name), code(name.replace(".", "_").replace("-", "_"))) for name in KNOWN]
    return grid(("option", "argument of Catalog()"), sorted(rows))


def client_options() -> str:
    """Return the table of client options, from the docstring of the module."""
    text = inspect.getdoc(store_options) or ""
    start = text.index("| option |")
    return text[start : text.index("\n\n", start)] + "\n"


def store_names() -> str:
    """Return the options of each object store, and of the HTTP client."""
    rows = [
        (title, ", ".join(code(name) for name in sorted(set(option_names(store).values()))))
        for store, title in (*((one, one) for one in _STORES), ("client", "every store"))
    ]
    return grid(("store", "options"), rows)


def store_prefixes() -> str:
    """Return the prefixes of options by store."""
    rows = [
        (s, ", ".join(code(p) for p, found in PREFIXES.items() if found == s))
        for s in sorted(_STORES)
    ]
    return grid(("store", "prefixes"), rows)


def limit_table() -> str:
    """Return the limits of decoding, with their values."""
    return grid(
        ("limit", "value"),
        (
            ("decoded size of a block, a text or a batch", "half of the machine's memory"),
            ("the same, where the machine does not tell its memory", _size(limits._FALLBACK_BYTES)),
            ("smallest memory limit that can be set", _size(limits._MIN_BYTES)),
            ("decompressed size that is allowed at any ratio", _size(limits.UNCHECKED_BYTES)),
            ("compression ratio of larger blocks", f"{limits.MAX_RATIO:,}"),
        ),
    )


def _size(count: int) -> str:
    return f"{count >> 30} GiB" if count >= 1 << 30 else f"{count >> 20} MiB"


def procedures() -> str:
    """Return the procedures with their arguments, as `SHOW PROCEDURES` lists them."""
    rows = []
    for name in sorted(PROCEDURES):
        arguments = signature(name).removeprefix(f"{name}(").removesuffix(")")
        rows.append((code(f"sys.{name}"), ", ".join(map(code, arguments.split(", ")))))
    return grid(("procedure", "arguments, in order"), rows)


def other_procedures() -> str:
    """Return the procedures of other engines, with what to write instead."""
    hints = call_statement._ELSEWHERE
    rows = [(code(name), hint) for name, hint in sorted(hints.items())]
    return grid(("procedure", "instead"), rows)
