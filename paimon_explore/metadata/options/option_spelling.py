"""Known names of table options, and suggestions for misspelled ones.

Spec: maintenance/configurations.
"""

import difflib
import pkgutil
import re
from collections.abc import Iterable, Iterator

from paimon_explore.metadata.options import column_options
from paimon_explore.metadata.options.column_options import ColumnOption
from paimon_explore.metadata.options.option_reference import ALL_OPTIONS

COLUMN_SETTINGS: tuple[str, ...] = (
    *(one.option.key for one in vars(column_options).values() if isinstance(one, ColumnOption)),
    "pk-multivalue.index.options",
)
"""Settings of `fields.<columns>.<setting>`."""


_LINES = (pkgutil.get_data(__package__, "other_option_names.txt") or b"").decode().splitlines()


def _names(kind: str) -> tuple[str, ...]:
    """Return the names in the lines of `other_option_names.txt` that begin with a word."""
    return tuple(name for line in _LINES for name in line.split()[1:] if line.split()[0] == kind)


_VECTOR_SETTINGS = frozenset(_names("vector"))
"""Settings of `<type of a vector index>.<setting>` that `fields.<column>.<setting>` overrides."""
_OTHER_RELEASES = frozenset(_names("other-release"))
"""Options that are only in releases other than 2.0."""
_OPEN_PREFIXES = _names("prefix")
"""How options of engines, formats and storages begin."""
_OTHER_KEYS = frozenset(_names("key"))
_FILE_INDEX_TYPES = ("bloom-filter", "bitmap", "bsi", "range-bitmap", "token-bitmap")
_FILE_INDEX_KEY = re.compile(r"file-index\.([^.]+)\.(?:columns|.+\..+|[^.]+)")
_CLOSEST = 0.6
_MISSPELT = 0.85


def known_names() -> Iterator[str]:
    """Yield the names of all documented options without variable parts."""
    yield from ALL_OPTIONS
    for option in ALL_OPTIONS.values():
        yield from option.fallback_keys
    yield from _OTHER_RELEASES


def is_known(key: str) -> bool:
    """Return whether an option is documented or has a prefix of engines, formats or storages.

    >>> is_known("fields.price.aggregate-function"), is_known("merge-engin")
    (True, False)
    """
    if key in ALL_OPTIONS or key in _OTHER_RELEASES or key in _OTHER_KEYS:
        return True
    if any(key in option.fallback_keys for option in ALL_OPTIONS.values()):
        return True
    if key.startswith("field."):
        return key.endswith(".vector-dim")
    if key.startswith("fields."):
        is_vector = key[len("fields.") :].partition(".")[2] in _VECTOR_SETTINGS
        return is_vector or any(key.endswith("." + setting) for setting in COLUMN_SETTINGS)
    match = _FILE_INDEX_KEY.fullmatch(key)
    return match[1] in _FILE_INDEX_TYPES if match is not None else key.startswith(_OPEN_PREFIXES)


def suggestion(key: str) -> str | None:
    """Return the known option most similar to a name, if any is similar.

    >>> suggestion("merge-engin")
    'merge-engine'
    """
    if key.startswith("fields.") and key.count(".") > 1:
        columns, _, setting = key[len("fields.") :].partition(".")
        found = _closest(setting, COLUMN_SETTINGS)
        return None if found is None else f"fields.{columns}.{found}"
    if key.startswith("file-index."):
        kind, dot, rest = key[len("file-index.") :].partition(".")
        found = _closest(kind, _FILE_INDEX_TYPES) if dot else None
        if found is not None:
            return f"file-index.{found}.{rest}"
    return _closest(key, known_names())


def unknown_names(keys: Iterable[str]) -> dict[str, str | None]:
    """Return the unknown names with their suggestions.

    >>> unknown_names(["bucket", "file.fromat"])
    {'file.fromat': 'file.format'}
    """
    return {key: suggestion(key) for key in keys if not is_known(key)}


def misspelled_names(keys: Iterable[str]) -> dict[str, str]:
    """Return the unknown names that are very similar to a known name, with the known name.

    Other unknown names are allowed: engines and users have their own options.

    >>> misspelled_names(["bukcet", "file.fromat", "team.owner"])
    {'bukcet': 'bucket', 'file.fromat': 'file.format'}
    """
    return {
        key: meant
        for key, meant in unknown_names(keys).items()
        if meant is not None
        and (_likeness(key, meant) >= _MISSPELT or sorted(_plain(key)) == sorted(meant))
    }


def _likeness(name: str, known: str) -> float:
    return difflib.SequenceMatcher(None, _plain(name), known).ratio()


def _plain(name: str) -> str:
    return name.lower().replace("_", "-")


def _closest(name: str, known: Iterable[str]) -> str | None:
    return next(iter(difflib.get_close_matches(_plain(name), known, n=1, cutoff=_CLOSEST)), None)
