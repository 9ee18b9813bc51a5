"""Which partition a person means: `dt=d1`, `{"dt": "d1"}`, or the value alone."""

from collections.abc import Mapping, Sequence

from paimon_explore.errors import InvalidInputError, NotFoundError, choices

Given = str | Mapping[str, object] | Sequence[object] | int | None
"""How a partition may be given; None for any."""


def chosen_partition(given: Given, names: Sequence[str], texts: Sequence[str]) -> str | None:
    """The text of the partition that is meant, one of `texts`; None if none was given.

    Args:
        given: text as in `texts`, values by column, values in order, or the value of the only one.
        names: the partition columns.
        texts: the partitions that there are, as `dt=d1/hr=3`.

    Raises:
        InvalidInputError: the table has no such partition columns.
        NotFoundError: there is no such partition.
    """
    if given is None:
        return None
    wanted = _text(given, names)
    for text in texts:
        if text in (wanted, given):
            return text
    hint = f"Partitions: {choices(list(texts), limit=10)}." if texts else "The table has no files."
    raise NotFoundError("partition", wanted, hint=hint)


def _text(given: str | Mapping[str, object] | Sequence[object] | int, names: Sequence[str]) -> str:
    match given:
        case Mapping():
            values = dict(given)
        case str():
            values = _parsed(given, names)
        case Sequence():
            values = dict(zip(names, given, strict=False))
        case _:
            values = dict(zip(names, [given], strict=False))
    if not names and values:
        raise InvalidInputError(f"The table is not partitioned; {given!r} names a partition.")
    if set(values) != set(names):
        msg = (
            f"{given!r} does not name a partition; the partition columns are "
            f"{choices(list(names))}."
        )
        raise InvalidInputError(msg, hint="Write dt=d1/hr=3, or pass a dict.")
    return "/".join(f"{name}={value_word(values[name])}" for name in names)


def _parsed(given: str, names: Sequence[str]) -> dict[str, object]:
    if not names and not given:
        return {}
    if "=" not in given and len(names) == 1:
        return {names[0]: given}
    found: dict[str, object] = {}
    for part in given.replace(",", "/").split("/"):
        name, _, value = part.partition("=")
        found[name.strip()] = value.strip().strip("'\"")
    return found


def value_word(value: object) -> str:
    """A value as partitions are written."""
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)
