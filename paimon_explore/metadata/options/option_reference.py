"""All documented table options, with what this library does with each of them.

| status | meaning |
| --- | --- |
| honoured | the option works as in Java Paimon |
| no effect here | ignoring the option changes no rows and breaks no file, for a stated reason |
| read only | tables with the option are read; writes are refused or do not follow it |
| refused | an error names the option where ignoring it would return wrong rows or break a promise |

The options are defined once: honoured ones in `table_options` and `tag_options`, others in
`refused_options`. Spec: maintenance/configurations.

Table options of Java Paimon 2.0 that have no effect in this library, with the reason.

The values are parsed and validated, and kept in the schema of the table for other engines.
`options_without_effect.csv` defines them, except those that `table_options` defines; the
descriptions of the others are in `option_descriptions.csv`.

Spec: maintenance/configurations.
"""

import csv
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from enum import Enum
from functools import cache

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.option_definition import PARSERS, Option, OptionType, one_of
from paimon_explore.metadata.options.refused_options import (
    READ_ONLY,
    REFUSALS,
    WITH_REFUSED_OPTION,
    Refusal,
)
from paimon_explore.metadata.options.table_options import HONOURED_OPTIONS

_WITHOUT_EFFECT = "options_without_effect.csv"


class NoEffect(Enum):
    """Why an option has no effect here."""

    MEMORY = "sizes buffers, caches or spilled files of Java; the rows are the same"
    PARALLELISM = "divides the work of Java, Flink or Spark; the rows are the same"
    ENGINE = "concerns only jobs of Flink or Spark, or objects that only they use"
    FORMAT_TABLE = (
        "concerns only how engines work with tables of type format-table; the rows are the same"
    )
    INDEX = "concerns indexes that speed up searches; this library finds the same rows without them"
    OPTIONAL = (
        "asks for optional work, which this library does not do; all rows and files are valid"
    )
    ALWAYS = "this library always behaves in the stricter of the ways that the option selects"
    INTERNAL = "is set by Java itself, not by users"
    HADOOP = "configures Hadoop's Java client, which this library does not use"


def _option(row: Mapping[str, str]) -> Option[object]:
    """Return the option that a row of the file defines; an empty default is none."""
    key, values = row["key"], tuple(row["values"].split())
    if values:
        return replace(one_of(key, values), default=row["default"] or None)
    parse = PARSERS[OptionType(row["type"])]
    return Option(
        key=key,
        parse=parse,
        default=parse(row["default"]) if row["default"] else None,
        fallback_keys=tuple(row["older_keys"].split()),
    )


def _rows(file: str) -> Iterator[Mapping[str, str]]:
    return csv.DictReader((pkgutil.get_data(__package__, file) or b"").decode().splitlines())


@cache
def _descriptions() -> Mapping[str, str]:
    """Return the descriptions of all options by key."""
    files = (_WITHOUT_EFFECT, "option_descriptions.csv")
    return {row["key"]: row["description"] for file in files for row in _rows(file)}


def _options_by_reason() -> dict[NoEffect, tuple[Option[object], ...]]:
    found: dict[NoEffect, list[Option[object]]] = {reason: [] for reason in NoEffect}
    for row in _rows(_WITHOUT_EFFECT):
        found[NoEffect[row["reason"]]].append(_option(row))
    found[NoEffect.PARALLELISM].append(opt.DYNAMIC_BUCKET_INITIAL_BUCKETS)
    found[NoEffect.OPTIONAL] += [opt.MANIFEST_SORT_ENABLED, opt.MANIFEST_SORT_PARTITION_FIELD]
    found[NoEffect.ENGINE] += [opt.BLOB_FIELD, opt.VECTOR_FIELD]
    found[NoEffect.ALWAYS] += [opt.BUCKET_APPEND_ORDERED, opt.NUM_SORTED_RUN_STOP_TRIGGER]
    return {reason: tuple(options) for reason, options in found.items()}


WITHOUT_EFFECT: Mapping[NoEffect, tuple[Option[object], ...]] = _options_by_reason()
"""The options without effect by reason."""


class OptionStatus(Enum):
    """What this library does with an option."""

    HONOURED = "honoured"
    NO_EFFECT = "no effect here"
    READ_ONLY = "read only"
    REFUSED = "refused"


_TYPES: Mapping[Callable[[str], object], OptionType] = {
    parse: kind for kind, parse in PARSERS.items()
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionReference:
    """What is known about one option.

    Attributes:
        option: its definition.
        status: what this library does with it.
        reason: why it has no effect here.
        refusal: when it is refused.
    """

    option: Option[object]
    status: OptionStatus
    reason: NoEffect | None = None
    refusal: Refusal | None = None

    @property
    def description(self) -> str:
        """A short description."""
        return _descriptions()[self.option.key]

    @property
    def type(self) -> OptionType:
        """The type of its values."""
        return OptionType.CHOICE if self.option.values else _TYPES[self.option.parse]

    @property
    def default(self) -> str | None:
        """The default as a text that the option accepts; None without a default."""
        value = self.option.default
        if value is None or value in ((), {}):
            return None
        if isinstance(value, bool):
            return str(value).lower()
        return str(value.value if isinstance(value, Enum) else value)


def _references() -> Iterator[OptionReference]:
    for reason, options in WITHOUT_EFFECT.items():
        for option in options:
            yield OptionReference(option=option, status=OptionStatus.NO_EFFECT, reason=reason)
    for option in READ_ONLY:
        yield OptionReference(option=option, status=OptionStatus.READ_ONLY)
    for refusal in REFUSALS:
        yield OptionReference(option=refusal.option, status=OptionStatus.REFUSED, refusal=refusal)
    for option in WITH_REFUSED_OPTION:
        yield OptionReference(option=option, status=OptionStatus.REFUSED)


def _all() -> dict[str, OptionReference]:
    found = {one.option.key: one for one in _references()}
    for key, option in HONOURED_OPTIONS.items():
        found.setdefault(key, OptionReference(option=option, status=OptionStatus.HONOURED))
    return dict(sorted(found.items()))


OPTION_REFERENCE: Mapping[str, OptionReference] = _all()
"""All options by key, in alphabetical order."""

ALL_OPTIONS: Mapping[str, Option[object]] = {
    key: one.option for key, one in OPTION_REFERENCE.items()
}
"""The definitions of all options by key."""
