"""All documented table options, with what this library does with each of them.

| status | meaning |
| --- | --- |
| honoured | the option works as in Java Paimon |
| no effect here | ignoring the option changes no rows and breaks no file, for a stated reason |
| read only | tables with the option are read; writes are refused or do not follow it |
| refused | an error names the option where ignoring it would return wrong rows or break a promise |

The options are defined once: honoured ones in `table_options` and `tag_options`, others in
`options_without_effect` and `refused_options`. Spec: maintenance/configurations.
"""

from collections.abc import Callable, Iterator, Mapping
from enum import Enum

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options.option_definition import PARSERS, Option, OptionType
from paimon_explore.metadata.options.options_without_effect import WITHOUT_EFFECT, NoEffect
from paimon_explore.metadata.options.refused_options import (
    READ_ONLY,
    REFUSALS,
    WITH_REFUSED_OPTION,
    Refusal,
)
from paimon_explore.metadata.options.table_options import HONOURED_OPTIONS


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
