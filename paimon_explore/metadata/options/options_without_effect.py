"""Table options of Java Paimon 2.0 that have no effect in this library, with the reason.

The values are parsed and validated, and kept in the schema of the table for other engines.
`options_without_effect.csv` defines them, except those that `table_options` defines.

Spec: maintenance/configurations.
"""

import csv
import pkgutil
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum

from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.option_definition import PARSERS, Option, OptionType, one_of


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
    key, description, values = row["key"], row["description"], tuple(row["values"].split())
    if values:
        return replace(one_of(key, description, values), default=row["default"] or None)
    parse = PARSERS[OptionType(row["type"])]
    return Option(
        key=key,
        parse=parse,
        default=parse(row["default"]) if row["default"] else None,
        description=description,
        fallback_keys=tuple(row["older_keys"].split()),
    )


def _options_by_reason() -> dict[NoEffect, tuple[Option[object], ...]]:
    text = (pkgutil.get_data(__package__, "options_without_effect.csv") or b"").decode()
    found: dict[NoEffect, list[Option[object]]] = {reason: [] for reason in NoEffect}
    for row in csv.DictReader(text.splitlines()):
        found[NoEffect[row["reason"]]].append(_option(row))
    found[NoEffect.PARALLELISM].append(opt.DYNAMIC_BUCKET_INITIAL_BUCKETS)
    found[NoEffect.ENGINE] += [opt.BLOB_FIELD, opt.VECTOR_FIELD]
    found[NoEffect.ALWAYS] += [opt.BUCKET_APPEND_ORDERED, opt.NUM_SORTED_RUN_STOP_TRIGGER]
    return {reason: tuple(options) for reason, options in found.items()}


WITHOUT_EFFECT: Mapping[NoEffect, tuple[Option[object], ...]] = _options_by_reason()
"""The options without effect by reason."""
