"""All table options of Java: each is honoured, without effect, read only or refused."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from paimon_explore import Table, open_table
from paimon_explore.errors import UnsupportedFeatureError, UnsupportedOptionWarning
from paimon_explore.metadata.options import iceberg_options, table_options, tag_options
from paimon_explore.metadata.options.option_definition import Option, OptionType
from paimon_explore.metadata.options.option_reference import (
    OPTION_REFERENCE,
    WITHOUT_EFFECT,
    NoEffect,
    OptionReference,
    OptionStatus,
)
from paimon_explore.metadata.options.refused_options import REFUSALS, WITH_REFUSED_OPTION, Use
from paimon_explore.metadata.options.table_options import HONOURED_OPTIONS, TableOptions
from support.compacting import numbered, numbered_table
from support.java_options import JavaOption, java_options
from support.option_page import PAGE, page
from support.small_tables import new_catalog

TESTS = Path(__file__).parents[2]
PACKAGE = TESTS.parent / "paimon_explore"
JAVA = {option.key: option for option in java_options()}
ELSEWHERE = {
    **{
        key: "an option of Java's Iceberg module"
        for key in OPTION_REFERENCE
        if key.startswith("metadata.iceberg.")
    },
    "pk-multivalue.index.columns": "of the release after 2.0",
    "primary-key.nullable": "of the release after 2.0",
}
"""Options that are not in Java's list."""

TYPES: Mapping[str, tuple[OptionType, ...]] = {
    "Boolean": (OptionType.BOOLEAN,),
    "Integer": (OptionType.INTEGER,),
    "Long": (OptionType.INTEGER,),
    "Double": (OptionType.NUMBER,),
    "Float": (OptionType.NUMBER,),
    "MemorySize": (OptionType.SIZE,),
    "Duration": (OptionType.DURATION,),
    "String": (OptionType.TEXT, OptionType.NAMES),
    "Map": (OptionType.PER_LEVEL,),
    "Enum": (OptionType.CHOICE,),
}
OTHER_TYPES = {
    "parquet.enable.dictionary": "an integer in Java's list, but Parquet reads a boolean",
    "partition.expiration-strategy": "a text in Java, which also takes names of classes",
}
LATER_VALUES: Mapping[str, set[str | None]] = {"scan.mode": {"latest-delta"}}
"""Values that Java has after 2.0."""


def plain(text: str | None) -> str | None:
    """A text without differences that options ignore; None for no value."""
    return None if text in {None, "", "{}"} else str(text).lower().replace("_", "-")


def with_status(status: OptionStatus) -> list[OptionReference]:
    return [one for one in OPTION_REFERENCE.values() if one.status is status]


def test_all_options_of_java_are_listed() -> None:
    assert set(OPTION_REFERENCE) - set(ELSEWHERE) == set(JAVA)
    assert len(JAVA) == 332


@pytest.mark.parametrize("key", JAVA)
def test_defaults_types_values_and_older_names_are_those_of_java(key: str) -> None:
    ours, java = OPTION_REFERENCE[key], JAVA[key]
    assert plain(ours.default) == plain(java.default)
    assert list(ours.option.fallback_keys) == java.fallback_keys
    assert ours.option.is_immutable is java.immutable
    if key not in OTHER_TYPES:
        assert ours.type in TYPES[java.type]
        values = {*map(plain, ours.option.values)} - LATER_VALUES.get(key, set())
        assert values == {*map(plain, java.values)}


@pytest.mark.parametrize("key", JAVA)
def test_defaults_and_values_are_texts_that_the_option_accepts(key: str) -> None:
    option = OPTION_REFERENCE[key].option
    for text in (*option.values, *filter(None, [OPTION_REFERENCE[key].default])):
        option.parse(text)


def test_every_option_is_defined_once_and_described_in_a_sentence() -> None:
    declared = [
        option.key
        for module in (iceberg_options, table_options, tag_options)
        for option in vars(module).values()
        if isinstance(option, Option)
    ]
    assert len(declared) == len(set(declared)) == len(HONOURED_OPTIONS)
    others = [option.key for options in WITHOUT_EFFECT.values() for option in options]
    others += [refusal.option.key for refusal in REFUSALS]
    others += [option.key for option in WITH_REFUSED_OPTION]
    others += [one.option.key for one in with_status(OptionStatus.READ_ONLY)]
    assert len(others) == len(set(others))
    for one in OPTION_REFERENCE.values():
        assert re.fullmatch(r"(-D|-U|[A-Z]).*\.", one.description.strip()), one.option.key


ON_OPTIONS_ALONE = {
    "test_option_reference.py",
    "test_option_spelling.py",
    "test_options_preview.py",
    "test_table_options.py",
}
"""Tests of the texts of options, which see no effect on a table."""


def test_every_honoured_option_is_set_in_a_test_of_its_effect() -> None:
    texts = "".join(
        path.read_text(encoding="utf-8")
        for path in TESTS.rglob("test_*.py")
        if path.name not in ON_OPTIONS_ALONE
    )
    honoured = [one.option.key for one in with_status(OptionStatus.HONOURED)]
    arguments = {key: key.replace(".", "__").replace("-", "_") + "=" for key in honoured}
    assert [k for k in honoured if f'"{k}"' not in texts and arguments[k] not in texts] == []


def test_every_honoured_option_is_read_by_the_code() -> None:
    used = {
        name
        for path in PACKAGE.rglob("*.py")
        if path.parent.name != "options" or path.stem == "effective_options"
        for name in re.findall(r"\b[A-Z][A-Z0-9_]+\b", path.read_text(encoding="utf-8"))
    }
    names = {
        option.key: name
        for module in (iceberg_options, table_options, tag_options)
        for name, option in vars(module).items()
        if isinstance(option, Option)
    }
    unread = [
        one.option.key
        for one in with_status(OptionStatus.HONOURED)
        if names[one.option.key] not in used
    ]
    assert unread == []


def test_options_without_effect_have_a_reason() -> None:
    assert {*WITHOUT_EFFECT} == {*NoEffect}
    assert all(one.reason is not None for one in with_status(OptionStatus.NO_EFFECT))
    assert all(reason.value for reason in NoEffect)


def read(table: Table) -> object:
    return table.to_arrow()


def write(table: Table) -> object:
    return table.upsert(numbered((2, 2)))


def tag(table: Table) -> object:
    return table.create_tag("a")


def stream(table: Table) -> object:
    module = pytest.importorskip("paimon_explore.spark.stream_source")
    scan = table.scan()
    schema = module.stream_schema(scan, kinds=False)
    return module.PaimonStreamReader(scan, schema, 1, module.StreamLimits())


ACTS: Mapping[Use, Callable[[Table], object]] = {
    Use.READ: read,
    Use.WRITE: write,
    Use.TAG: tag,
    Use.STREAM: stream,
}
SETTINGS: Mapping[str, str] = {
    "type": "format-table",
    "commit.callbacks": "org.example.Notify",
    "blob-descriptor.source-table": "db.other",
    "tag.callbacks": "org.example.Notify",
    "metastore.tag-to-partition.preview": "watermark",
}
"""Refused option -> a value that is refused."""


def test_every_refused_option_has_a_value_that_is_refused() -> None:
    assert {refusal.option.key for refusal in REFUSALS if refusal.uses} == {*SETTINGS}


@pytest.mark.parametrize("key", SETTINGS)
def test_a_refused_option_is_named_where_it_matters_and_nowhere_else(
    key: str, tmp_path: Path
) -> None:
    table = numbered_table(tmp_path)
    table.upsert(numbered((1, 1)))
    given = open_table(table.path, options={key: SETTINGS[key]})
    (refusal,) = (one for one in REFUSALS if one.option.key == key)
    for use in Use:
        if use in refusal.uses:
            pattern = re.escape(f"{use.value} with option '{key}' = '{SETTINGS[key]}'")
            with pytest.raises(UnsupportedFeatureError, match=f"(?i){pattern}") as caught:
                ACTS[use](given)
            assert refusal.hint in str(caught.value)
        else:
            ACTS[use](given)


@pytest.mark.parametrize("key", SETTINGS)
def test_the_default_of_a_refused_option_is_accepted(key: str) -> None:
    (refusal,) = (one for one in REFUSALS if one.option.key == key)
    default = OPTION_REFERENCE[key].default
    assert default is None or not refusal.applies(TableOptions({key: default}))


def test_setting_a_refused_option_is_a_warning_that_names_it(tmp_path: Path) -> None:
    catalog = new_catalog(tmp_path)
    options = {"commit.callbacks": "org.example.Notify"}
    with pytest.warns(UnsupportedOptionWarning, match=r"'commit.callbacks' .* refuses writing"):
        table = catalog.create_table("db.t", {"k": "INT"}, options=options)
    with pytest.warns(UnsupportedOptionWarning, match=r"'tag.callbacks' .* refuses creating a tag"):
        table.set_options({"tag.callbacks": "org.example.Notify"})
    table.set_options({"commit.callbacks": ""})
    assert catalog.table("db.t").append([{"k": 1}]) is not None


def test_the_page_of_the_options_is_that_of_the_code() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python tests/support/option_page.py"


def test_an_option_of_java_is_described_as_recorded() -> None:
    bucket = JAVA["bucket"]
    assert bucket == JavaOption(
        key="bucket",
        type="Integer",
        default="-1",
        values=[],
        fallback_keys=[],
        immutable=False,
        documented=True,
    )
