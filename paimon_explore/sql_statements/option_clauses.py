"""Options of tables in statements."""

from collections.abc import Sequence

from paimon_explore.errors import InvalidInputError
from paimon_explore.metadata.options.option_spelling import unknown_names
from paimon_explore.sql_statements.tokenizer import Kind, Reader


def check_options(options: Sequence[str], part: str) -> None:
    """Reject unknown table options.

    Raises:
        InvalidInputError: an option is unknown; the message suggests a similar one.
    """
    for name, meant in unknown_names(options).items():
        hint = "See the options of Paimon tables." if meant is None else f"Did you mean {meant!r}?"
        raise InvalidInputError(f"{part}: unknown option {name!r}.", hint=hint)


def options_of(reader: Reader, part: str) -> dict[str, str]:
    """Read parenthesized options: `'key' = 'value', key.part = 3`.

    Raises:
        InvalidInputError: they cannot be parsed.
    """
    found: dict[str, str] = {}
    for text in reader.parts(f"the options of {part}"):
        one = Reader(text)
        key = one.text("an option") if one.here.kind is Kind.TEXT else option_key(one)
        one.takes("=")
        if one.is_done:
            raise one.problem(f"the value of option {key!r} is missing", part=part)
        found[key] = option_value(one)
        one.end()
    return found


def option_key(reader: Reader) -> str:
    """Read the key of an option without quotes; it may contain dots and hyphens."""
    start = reader.here.start
    while reader.here.sign not in {"=", ",", ")"} and not reader.is_done:
        if reader.here.kind is Kind.TEXT:
            break
        reader.next()
    return reader.source[start : reader.previous_end].strip().strip("`")


def option_value(reader: Reader) -> str:
    """Read the value of an option: a string, a number, TRUE or FALSE."""
    if reader.here.kind is Kind.TEXT:
        return reader.text("the value")
    sign = reader.takes_one("-")
    text = reader.next().text
    return sign + (text.lower() if text.upper() in {"TRUE", "FALSE"} else text)
