"""The time of a partition, parsed from its values.

Spec: maintenance/manage-partitions; maintenance/configurations, `partition.timestamp-*`.
"""

import re
from collections.abc import Mapping
from datetime import datetime

from paimon_explore.errors import InvalidInputError, UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.options import table_options as opt
from paimon_explore.metadata.options.table_options import TableOptions

_TOKENS: Mapping[str, tuple[str, str]] = {
    "yyyy": ("year", r"\d{4}"),
    "MM": ("month", r"\d{2}"),
    "M": ("month", r"\d{1,2}"),
    "dd": ("day", r"\d{2}"),
    "d": ("day", r"\d{1,2}"),
    "HH": ("hour", r"\d{2}"),
    "H": ("hour", r"\d{1,2}"),
    "mm": ("minute", r"\d{2}"),
    "ss": ("second", r"\d{2}"),
}
_DEFAULT = re.compile(
    r"(?P<year>\d{1,10})-(?P<month>\d{1,2})-(?P<day>\d{1,2})"
    r"(?: (?P<hour>\d{1,2}):(?P<minute>\d{1,2}):(?P<second>\d{1,2})(?:\.\d{0,9})?)?"
)
_PART = re.compile(r"'(?P<quoted>[^']*)'|(?P<token>([A-Za-z])\3*)|(?P<other>.)")


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionTimeFormat:
    """How the values of a partition are parsed.

    Attributes:
        pattern: text with placeholders `$column`; None for the value of the first column.
        formatter: Java date-time pattern of that text; None for `yyyy-MM-dd[ HH:mm:ss]`.
    """

    pattern: str | None = None
    formatter: str | None = None

    def time_of(self, values: Mapping[str, str | None]) -> datetime | None:
        """Parse the time of partition values; None if they cannot be parsed.

        Raises:
            UnsupportedFeatureError: the formatter has an unsupported pattern letter.
        """
        if self.pattern is None:
            text = next(iter(values.values()))
        else:
            text = self.pattern
            for name in sorted(values, key=len, reverse=True):
                if f"${name}" not in text:
                    continue
                value = values[name]
                if value is None:
                    return None
                text = text.replace(f"${name}", value)
        regex = _DEFAULT if self.formatter is None else _regex_of(self.formatter)
        found = None if text is None else regex.fullmatch(text)
        if found is None:
            return None
        given = {name: int(part) for name, part in found.groupdict().items() if part is not None}
        try:
            return datetime(**{"year": 1970, "month": 1, "day": 1, **given})  # type: ignore[arg-type]  # noqa: DTZ001 - local times
        except ValueError:
            return None


def strict_time_format(options: TableOptions) -> PartitionTimeFormat | None:
    """Return the format that the values of all new partitions must have; None if none is set."""
    if not options.value(opt.PARTITION_TIMESTAMP_FORMAT_STRICT):
        return None
    pattern = options.value(opt.PARTITION_TIMESTAMP_PATTERN)
    formatter = options.value(opt.PARTITION_TIMESTAMP_FORMATTER)
    if pattern is None and formatter is None:
        return None
    return PartitionTimeFormat(pattern=pattern, formatter=formatter)


def check_partition_time(values: Mapping[str, str | None], times: PartitionTimeFormat) -> None:
    """Check that partition values have a time.

    Raises:
        InvalidInputError: they have none.
    """
    if times.time_of(values) is None:
        shown = ", ".join(f"{name}={text}" for name, text in values.items())
        expected = times.pattern or next(iter(values))
        raise InvalidInputError(
            f"Partition {shown} has no time: its values do not match {expected!r} in the format "
            f"{times.formatter or 'yyyy-MM-dd HH:mm:ss'!r}.",
            hint=f"Correct the values, or set {opt.PARTITION_TIMESTAMP_FORMAT_STRICT.key!r} to "
            "'false' to write the partition.",
        )


def _regex_of(formatter: str) -> re.Pattern[str]:
    """Convert a Java date-time pattern to a regular expression."""
    found = []
    for part in _PART.finditer(formatter):
        token = part["token"]
        if token is None:
            found.append(re.escape(part["other"] or part["quoted"] or "'"))
            continue
        if token not in _TOKENS:
            raise UnsupportedFeatureError(
                f"pattern {token!r} in option 'partition.timestamp-formatter'"
            )
        name, digits = _TOKENS[token]
        found.append(f"(?P<{name}>{digits})")
    return re.compile("".join(found))
