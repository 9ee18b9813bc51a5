"""Table options that this library cannot follow: refused where it would matter, or read only.

An option is refused, with an error that names it, where ignoring it would return wrong rows, lose
rows or break what it promises to other engines. Setting it is allowed, since other engines may
follow it. The caller can override an option for one table object, as the hints say.

Spec: maintenance/configurations.
"""

import warnings
from collections.abc import Iterator, Mapping
from enum import Enum

from paimon_explore.errors import UnsupportedFeatureError, UnsupportedOptionWarning
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options import option_enums as of
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.effective_options import merges_postponed
from paimon_explore.metadata.options.option_definition import (
    Option,
    choice,
    flag,
    names,
    size,
    text,
)
from paimon_explore.metadata.options.table_options import TableOptions


class Use(Enum):
    """What is refused; the value is the start of the error."""

    READ = "reading a table"
    STREAM = "streaming from a table"
    WRITE = "writing to a table"
    TAG = "creating a tag of a table"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """An option that some uses of a table refuse.

    Attributes:
        option: the option.
        uses: what is refused; empty if only single columns or operations are, where they are used.
        accepted: values without effect, besides the default.
        rule: what would go wrong.
        hint: what to do.
    """

    option: Option[object]
    uses: tuple[Use, ...]
    accepted: tuple[object, ...] = ()
    rule: str
    hint: str

    def applies(self, options: TableOptions) -> bool:
        """Return whether the options have a value that is refused.

        Raises:
            InvalidInputError: the value is invalid.
        """
        value = options.value(self.option)
        return value != self.option.default and value not in self.accepted


_CALLBACKS = "paimon_explore cannot call Java classes, and what they notify would miss {what}"

REFUSALS: tuple[Refusal, ...] = (
    Refusal(
        option=opt.TYPE,
        uses=(Use.READ, Use.STREAM, Use.WRITE),
        accepted=(of.TableKind.MATERIALIZED_TABLE,),
        rule="its files are not those of a Paimon table",
        hint="Open its files with the engine that owns them.",
    ),
    Refusal(
        option=names("commit.callbacks"),
        uses=(Use.WRITE,),
        rule=_CALLBACKS.format(what="the commit"),
        hint="Open the table with options={'commit.callbacks': ''} to commit without them.",
    ),
    Refusal(
        option=text("blob-descriptor.source-table"),
        uses=(Use.WRITE,),
        accepted=("",),
        rule="descriptors would be stored as the contents of blobs",
        hint="Write the contents, and open the table with "
        "options={'blob-descriptor.source-table': ''}.",
    ),
    Refusal(
        option=names("tag.callbacks"),
        uses=(Use.TAG,),
        rule=_CALLBACKS.format(what="the tag"),
        hint="Open the table with options={'tag.callbacks': ''} to create the tag without them.",
    ),
    Refusal(
        option=choice("metastore.tag-to-partition.preview", default=of.TagCreationMode.NONE),
        uses=(Use.WRITE,),
        rule="the catalog would not show the rows of the commit under the future tag",
        hint="Open the table with options={'metastore.tag-to-partition.preview': 'none'} to commit "
        "without it.",
    ),
)
"""The refused options."""

WITH_REFUSED_OPTION: tuple[Option[object], ...] = (
    text("commit.callback.#.param"),
    text("tag.callback.#.param"),
)
"""Options that belong to a refused one."""

_VECTOR_FILE_FORMAT = text("vector.file.format")
READ_ONLY: tuple[Option[object], ...] = (
    flag("data-evolution.row-sidecar.enabled"),
    _VECTOR_FILE_FORMAT,
    size("vector.target-file-size"),
    opt.PK_MULTIVALUE_INDEX_COLUMNS,
)
"""Options of tables that are read, while writes are refused or do not follow the option."""

_BY_USE: Mapping[Use, tuple[Refusal, ...]] = {
    use: tuple(refusal for refusal in REFUSALS if use in refusal.uses) for use in Use
}
_KEYS: Mapping[Use, frozenset[str]] = {
    use: frozenset(refusal.option.key for refusal in refusals) for use, refusals in _BY_USE.items()
}


def check_supported_options(options: TableOptions, use: Use, where: str) -> None:
    """Check that no option is set that a use of the table would have to follow but cannot.

    Args:
        options: the effective options of the table.
        use: what is done.
        where: path of the table.

    Raises:
        UnsupportedFeatureError: an option is refused.
    """
    if _KEYS[use].isdisjoint(options.texts):
        return
    for refusal in refused(options, use):
        setting = f"{refusal.option.key!r} = {options[refusal.option.key]!r}"
        raise UnsupportedFeatureError(
            f"{use.value} with option {setting} ({refusal.rule})", where, hint=refusal.hint
        )


def check_not_postponed(options: TableOptions, use: str, where: str) -> None:
    """Check that postponed records need not be merged, which only reads of whole snapshots do.

    Args:
        options: the effective options of the table.
        use: what is done.
        where: path of the table.

    Raises:
        UnsupportedFeatureError: the options ask for it.
    """
    if merges_postponed(options):
        key = opt.POSTPONE_MERGE_ON_READ.key
        raise UnsupportedFeatureError(
            f"{use} with option {key!r} = 'true' (it applies only to reads of a whole snapshot)",
            where,
            hint=f"Open the table with options={{{key!r}: 'false'}}: postponed records then "
            "count once compact() has merged them.",
        )


def warn_of_refused_options(options: Mapping[str, str]) -> None:
    """Warn of options that are set for a table but refused by this package.

    Args:
        options: the options that are set.
    """
    for refusal in refused(TableOptions(options)):
        if refusal.option is opt.TYPE:  # the catalog decides which types of tables it creates
            continue
        uses = " and ".join(use.value for use in refusal.uses) or "such changes"
        warnings.warn(
            f"Option {refusal.option.key!r} is set for other engines: paimon_explore refuses "
            f"{uses} with it. {refusal.hint}",
            UnsupportedOptionWarning,
            stacklevel=2,
        )


def refused(options: TableOptions, *uses: Use) -> Iterator[Refusal]:
    """Yield the refusals that the options cause, of some uses or of all.

    Raises:
        InvalidInputError: an option has an invalid value.
    """
    for refusal in REFUSALS:
        is_used = not uses or any(use in refusal.uses for use in uses)
        if is_used and options.has(refusal.option) and refusal.applies(options):
            yield refusal
