"""The options of a catalog: Paimon's names, named catalogs in a file or in environment variables.

A named catalog is configured in `~/.paimon.yaml`:

    catalog:
      prod:
        metastore: rest
        uri: https://catalog.example.com
        token: ...

or in environment variables `PAIMON_CATALOG__<NAME>__<OPTION>`, where `__` in the option stands for
a dot and `_` for a hyphen: `PAIMON_CATALOG__PROD__TOKEN__PROVIDER=bear`. Variables override the
file, and arguments override both.

Options may contain secrets: `repr` and `shown` mask them.
"""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from paimon_explore.arguments import mapping, string
from paimon_explore.errors import InvalidInputError, NotFoundError, choices, suggestion
from paimon_explore.fileio.store_option_names import PREFIXES, without_separators
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.option_definition import (
    UnreadableValueError,
    parse_duration,
    parse_flag,
)
from paimon_explore.sanitize import masked_value

T = TypeVar("T")

POSITIVE = range(1, 2**31)

FILE = ".paimon.yaml"
"""Name of the configuration file in the home folder."""
_VARIABLE = "PAIMON_CATALOG__"
_TABLE_DEFAULT = "table-default."
_FILES = frozenset({"fs.", "dfs.", "hadoop."})
_PUBLIC = frozenset({"token.provider", "dlf.token-loader", "dlf.token-path", "catalog-key"})
"""Options whose names look like those of secrets."""

KNOWN = (
    *("metastore", "uri", "warehouse", "table.type", "case-sensitive", "sync-all-properties"),
    *("lock.enabled", "lock.type", "lock-check-max-sleep", "lock-acquire-timeout"),
    *("client-pool-size", "catalog-key", "lock-key-max-length", "jdbc.user", "jdbc.password"),
    *("token", "token.provider", "data-token.enabled", "prefix", "hive-conf-dir"),
    *("hadoop-conf-dir", "location-in-properties", "format-table.enabled", "alter-table-cascade"),
    *("dlf.region", "dlf.token-path", "dlf.access-key-id", "dlf.access-key-secret"),
    *("dlf.security-token", "dlf.token-loader", "dlf.token-ecs-metadata-url"),
    *("dlf.token-ecs-role-name", "dlf.oss-endpoint", "dlf.signing-algorithm"),
    *("timeout", "connect-timeout", "max-retries", "retry-timeout"),
)
"""Options that may be given as keyword arguments, with `_` for `.` and `-`."""
_BY_SPELLING = {without_separators(name): name for name in KNOWN}


@dataclass(frozen=True, slots=True)
class CatalogOptions:
    """The options of a catalog.

    Attributes:
        values: the options by Paimon's names.
    """

    values: Mapping[str, str]

    def get(self, key: str, default: str | None = None) -> str | None:
        """Return an option, or the default."""
        return self.values.get(key, default)

    def required(self, key: str) -> str:
        """Return an option.

        Raises:
            InvalidInputError: the option is missing.
        """
        value = self.values.get(key, "")
        if not value.strip():
            kind = self.values.get("metastore", "filesystem")
            raise InvalidInputError(f"A catalog with metastore={kind!r} requires option {key!r}.")
        return value

    def flag(self, key: str, *, default: bool) -> bool:
        """Return an option with the values true and false."""
        return default if key not in self.values else self._parsed(key, parse_flag)

    def duration_ms(self, key: str, default_ms: int) -> int:
        """Return an option with a duration such as `8 s`, in milliseconds."""
        return default_ms if key not in self.values else self._parsed(key, parse_duration)

    def seconds(self, key: str, default: float) -> float:
        """Return an option with a duration, in seconds, which are also the default unit."""
        if key not in self.values:
            return default
        unit = "s" if self.values[key].strip().isdecimal() else ""
        return self._parsed(key, lambda text: parse_duration(text + unit)) / 1000

    def _parsed(self, key: str, parse: Callable[[str], T]) -> T:
        try:
            return parse(self.values[key])
        except UnreadableValueError as error:
            value = masked_value(key, self.values[key])
            raise InvalidInputError(f"Option {key!r} must be {error}, not {value!r}.") from None

    def integer(self, key: str, default: int, allowed: range = POSITIVE) -> int:
        """Return an option with an integer."""
        text = self.values.get(key)
        if text is None:
            return default
        if not text.strip().isdecimal() or int(text) not in allowed:
            limits = f"from {allowed.start} to {allowed[-1]}"
            raise InvalidInputError(f"Option {key!r} must be an integer {limits}, not {text!r}.")
        return int(text)

    def storage(self) -> dict[str, str]:
        """Return the options of the storage, such as `s3.endpoint`."""
        prefixes = (*PREFIXES, *_FILES)
        return {k: v for k, v in self.values.items() if k.lower().startswith(prefixes)}

    def table_defaults(self) -> dict[str, str]:
        """Return the default options of new tables: `table-default.<option>`."""
        size = len(_TABLE_DEFAULT)
        return {k[size:]: v for k, v in self.values.items() if k.startswith(_TABLE_DEFAULT)}

    def shown(self) -> dict[str, str]:
        """Return the options for display: without those of the storage, and secrets masked."""
        storage = self.storage()
        return {
            key: value if key in _PUBLIC else masked_value(key, value)
            for key, value in self.values.items()
            if key not in storage
        }


def catalog_options(
    name: str | None, options: Mapping[str, object] | None, keywords: Mapping[str, object]
) -> CatalogOptions:
    """Combine the options of a named catalog with those of the caller.

    Args:
        name: the configured catalog; None for no configuration.
        options: options by Paimon's names.
        keywords: options with `_` for `.` and `-`, as keyword arguments; None is left out.

    Raises:
        NotFoundError: there is no configuration of that name.
        InvalidInputError: an unknown keyword, or a value that is not a text, number or bool.
    """
    found = {} if name is None else _configured(string("name", name))
    for key, value in mapping("options", options or {}).items():
        found[key] = _text(key, value)
    for key, value in keywords.items():
        if value is not None:
            found[_option_of(key)] = _text(key, value)
    return CatalogOptions(found)


def _option_of(keyword: str) -> str:
    found = _BY_SPELLING.get(without_separators(keyword))
    if found is None:
        hint = suggestion(keyword, [name.replace(".", "_").replace("-", "_") for name in KNOWN])
        raise InvalidInputError(
            f"Catalog() has no argument {keyword!r}.",
            hint=f"{hint}Other options are passed by name: options={{'jdbc.user': 'me'}}.",
        )
    return found


def _text(key: str, value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float | os.PathLike):
        return os.fspath(value) if isinstance(value, os.PathLike) else str(value)
    msg = f"Option {key!r} must be a text, a number or a bool, not a {type(value).__name__}."
    raise InvalidInputError(msg)


def _configured(name: str) -> dict[str, str]:
    """Return the options of a named catalog, from the file and the environment."""
    in_file, others = _from_file(name)
    prefix = f"{_VARIABLE}{name.upper().replace('-', '_')}__"
    in_environment = {
        key[len(prefix) :].lower().replace("__", ".").replace("_", "-"): value
        for key, value in os.environ.items()
        if key.upper().startswith(prefix)
    }
    found = {**in_file, **in_environment}
    if not found:
        raise NotFoundError(
            "configuration of a catalog",
            name,
            f"{Path.home() / FILE} and the variables {_VARIABLE}<NAME>__<OPTION>",
            hint=f"{suggestion(name, others)}Configured in the file: {choices(others)}.",
        )
    return found


def _from_file(name: str) -> tuple[dict[str, str], list[str]]:
    """Return the options of a catalog in the file, and the names of all catalogs there."""
    path = Path.home() / FILE
    if not path.exists():
        return {}, []
    import yaml  # noqa: PLC0415 - only for a configured catalog

    try:
        content: object = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        where = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
        line = "" if where is None else f" in line {where.line + 1}"
        raise InvalidInputError(f"The file {path} is not valid YAML{line}.") from None
    catalogs = content.get("catalog") if isinstance(content, Mapping) else None
    if not isinstance(catalogs, Mapping):
        raise InvalidInputError(
            f"The file {path} has no key 'catalog' with the catalogs.",
            hint="Write the options of each below its name: catalog: {prod: {warehouse: /path}}.",
        )
    chosen = catalogs.get(name, {})
    if not isinstance(chosen, Mapping):
        raise InvalidInputError(f"Catalog {name!r} in the file {path} is not a mapping of options.")
    options = _flat(chosen, "")
    return options, sorted(map(str, catalogs))


def _flat(options: Mapping[object, object], prefix: str) -> dict[str, str]:
    """Join the names of nested options with a dot."""
    found: dict[str, str] = {}
    for key, value in options.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            found.update(_flat(value, f"{name}."))
        elif value is not None:
            found[name] = _text(name, value)
    return found
