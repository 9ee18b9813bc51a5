"""The page of all table options in the documentation, generated from their definitions.

Run `python tests/support/option_page.py` after a change of options: it rewrites the page.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from paimon_explore.metadata.options.option_definition import OptionType
from paimon_explore.metadata.options.option_reference import (
    OPTION_REFERENCE,
    NoEffect,
    OptionReference,
    OptionStatus,
)

ROOT = Path(__file__).parents[2]
PAGE = ROOT / ".github" / "docs" / "reference" / "options.md"

TOPICS: Mapping[str, str] = {
    "The table, keys and buckets": r"type|path|branch|owner|auto-create|primary-key.*|partition|"
    r"bucket.*|dynamic-bucket\..*|postpone\..*|cross-partition-upsert\..*|upsert-key|query-auth.*",
    "Reading": r"scan\..*|incremental-.*|batch-scan-mode|stream-scan-mode|source\..*|read\..*|"
    r"streaming.*|continuous\..*|table-read\..*|key-value\..*|chain-table\..*|consumer.*|lookup\..*|"
    r"file-reader-.*",
    "Merging": r"merge-engine|sequence\..*|ignore-.*|partial-update\..*|aggregation\..*|fields\..*|"
    r"rowkind\..*|sort-engine|sort-spill-.*|record-level\..*",
    "Changelogs": r"changelog.*|delete\.force-.*",
    "Data files": r"file\..*|data-file\..*|target-file-.*|blob.*|vector\.file.*|vector\.target.*|"
    r"vector-field|variant\..*|parquet\..*|file-operation\..*|format-table\..*",
    "Deletion vectors": r"deletion-vector.*",
    "Row tracking and data evolution": r"row-tracking\..*|data-evolution\..*",
    "Indexes": r"file-index\..*|index-file-.*|global-index\..*|pk-.*index.*|.*search.*",
    "Statistics and manifests": r"metadata\..*|manifest.*",
    "Writing and committing": r"write.*|commit\..*|snapshot\.ignore-.*|snapshot\.watermark-.*|"
    r"dynamic-partition-.*|overwrite-upgrade|async-.*|spill-.*|local-.*|page-size|cache-page-size|"
    r"visibility-.*|sink\..*|end-input\..*",
    "Compaction and clustering": r"compaction\..*|num-.*|full-compaction\..*|lookup-.*|"
    r"force-lookup|clustering\..*|sort-compaction\..*|zorder\..*|pk-clustering-override",
    "Expiration": r"snapshot\..*",
    "Partitions and the catalog": r"partition\..*|metastore\..*|materialized-table\..*",
    "Tags": r"tag\..*",
    "Changes of the schema": r"alter-.*|disable-explicit-.*|add-column-.*",
}
"""Heading -> pattern of its options; the first that matches counts."""

UNITS = ((1 << 30, "gb"), (1 << 20, "mb"), (1 << 10, "kb"), (1, "b"))
TIMES = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s"), (1, "ms"))
UNLIMITED = 2**63 - 1


def page() -> str:
    """The whole page as Markdown."""
    return "\n".join([*_head(), *_topics(), *_reasons()])


def _head() -> Iterator[str]:
    counts = Counter(one.status for one in OPTION_REFERENCE.values())
    yield from (
        "# Table options",
        "",
        "All table options of Apache Paimon 2.0 and what paimon_explore does with them. Column",
        "options (`fields.<column>.…`) and options of file formats and storages are not listed.",
        "",
        "| status | options | meaning |",
        "| --- | ---: | --- |",
    )
    for status, meaning in MEANINGS.items():
        yield f"| {status.value} | {counts[status]} | {meaning} |"
    yield from (
        "",
        "An unknown option that is similar to a known one is an error; other unknown options are",
        "kept for other engines. Setting a refused option is a warning that names it. A table",
        "object can override an option of the table, for example",
        '`catalog.table("db.t", {"commit.callbacks": ""})`.',
        "",
    )


MEANINGS: Mapping[OptionStatus, str] = {
    OptionStatus.HONOURED: "works as in Java Paimon",
    OptionStatus.NO_EFFECT: "ignored: no row changes and no file breaks, for the reason given",
    OptionStatus.READ_ONLY: "tables with it are read; writes are refused or do not follow it",
    OptionStatus.REFUSED: "an error names it where ignoring it would be wrong",
}


def _topics() -> Iterator[str]:
    groups: dict[str, list[OptionReference]] = {topic: [] for topic in TOPICS}
    for key, one in OPTION_REFERENCE.items():
        groups[topic_of(key)].append(one)
    for topic, options in groups.items():
        yield from (f"## {topic}", "")
        yield from ("| option | type | default | status | description |", "|" + " --- |" * 5)
        yield from (_row(one) for one in options)
        yield ""


def topic_of(key: str) -> str:
    """The heading under which an option is listed."""
    return next(topic for topic, pattern in TOPICS.items() if re.fullmatch(pattern, key))


def _row(one: OptionReference) -> str:
    cells = [f"`{one.option.key}`", _type(one), _default(one), _status(one), _description(one)]
    return f"| {' | '.join(cells)} |"


def _type(one: OptionReference) -> str:
    return ", ".join(f"`{value}`" for value in one.option.values) or one.type.value


def _default(one: OptionReference) -> str:
    if one.default is None:
        return ""
    if one.type in {OptionType.SIZE, OptionType.DURATION}:
        units = UNITS if one.type is OptionType.SIZE else TIMES
        return _quantity(int(one.default), units)
    return f"`{one.default}`"


def _quantity(number: int, units: tuple[tuple[int, str], ...]) -> str:
    if number == UNLIMITED:
        return "unlimited"
    if not number:
        return "0"
    return next(f"{number // one} {name}" for one, name in units if number % one == 0)


def _status(one: OptionReference) -> str:
    if one.reason is None:
        return one.status.value
    return f"[{one.status.value}](#{anchor(one.reason)})"


def anchor(reason: NoEffect) -> str:
    """The link target of a reason."""
    return _title(reason).lower().replace(":", "").replace(" ", "-")


def _title(reason: NoEffect) -> str:
    return f"No effect: {reason.name.lower().replace('_', ' ')}"


def _description(one: OptionReference) -> str:
    parts = [one.description]
    if one.option.fallback_keys:
        older = ", ".join(f"`{key}`" for key in one.option.fallback_keys)
        parts.append(f"Also read: {older}.")
    if one.option.is_immutable:
        parts.append("Fixed once the table has a snapshot.")
    if one.refusal is not None:
        uses = " and ".join(use.value for use in one.refusal.uses) or "such a change"
        parts.append(f"Refused: {uses}, because {one.refusal.rule}. {one.refusal.hint}")
    return " ".join(parts).replace("|", "\\|")


def _reasons() -> Iterator[str]:
    yield from ("## Why options have no effect", "")
    counts = Counter(one.reason for one in OPTION_REFERENCE.values())
    for reason in NoEffect:
        yield from (f"### {_title(reason)}", "")
        text = f"{reason.value[:1].upper()}{reason.value[1:]}"
        yield from (f"{text} ({counts[reason]} options).", "")


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
