"""Names of storage options in Paimon, Hadoop, boto3 and others, and their names in object_store.

`store_option_names.txt` has a line for each option: its storage, its name in object_store, and
other spellings without separators; and a line with the common spellings of each storage.
"""

import pkgutil
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

PREFIXES: Mapping[str, str] = MappingProxyType(
    {
        prefix: store
        for store, prefixes in {  # longer prefixes before their own prefixes
            "s3": (
                *("fs.s3a.", "fs.s3n.", "fs.s3.", "s3a.", "s3n.", "s3.", "aws_", "aws."),
                *("fs.oss.", "oss."),
            ),
            "google": ("fs.gs.", "google_", "gcs.", "gs."),
            "azure": ("fs.azure.", "azure_storage_", "azure_", "adls.", "abfs."),
        }.items()
        for prefix in prefixes
    }
)
"""Prefix of an option -> its storage."""

IGNORED = frozenset({"signatureversion", "impl"})
"""Settings of other clients that are ignored."""


def without_separators(name: str) -> str:
    """Return a name in lower case without separators.

    >>> without_separators("Path-Style.access")
    'pathstyleaccess'
    """
    return name.lower().translate(_SEPARATORS)


_SEPARATORS = str.maketrans("", "", "._- ")


@cache
def _lines(first: str) -> list[list[str]]:
    """Return the words after the first one of the lines that begin with it."""
    text = (pkgutil.get_data(__package__, "store_option_names.txt") or b"").decode()
    rows = (line.split() for line in text.splitlines())
    return [words for found, *words in rows if found == first]


@cache
def option_names(store: str) -> Mapping[str, str]:
    """Return the options of a storage: spelling without separators -> name in object_store.

    Args:
        store: `s3`, `google` or `azure`; `client` for options of the HTTP client and of retries.
    """
    names = {without_separators(name): name for name, *_ in _lines(store)}
    return names | {other: name for name, *others in _lines(store) for other in others}


def common_spellings(store: str) -> list[str]:
    """Return common spellings of the options of a storage, for suggestions."""
    return _lines(f"common-{store}")[0]
