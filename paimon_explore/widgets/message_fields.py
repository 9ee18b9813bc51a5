"""The fields of messages from the browser, validated; messages are not trusted."""

from collections.abc import Mapping

from paimon_explore.errors import InvalidInputError

_MAX_TEXT = 4000
_MAX_ITEMS = 2000
_MAX_NUMBER = 2**53

Message = Mapping[str, object]


def text(message: Message, name: str) -> str:
    """The text of a field.

    Raises:
        InvalidInputError: it is not.
    """
    return checked_text(message.get(name))


def number(message: Message, name: str) -> int:
    """The number of a field.

    Raises:
        InvalidInputError: it is not.
    """
    return checked_number(message.get(name))


def items(message: Message, name: str) -> list[object]:
    """The items of a field.

    Raises:
        InvalidInputError: it is not.
    """
    found = message.get(name)
    if not isinstance(found, list) or len(found) > _MAX_ITEMS:
        raise InvalidInputError(
            f"{name!r} in the request must be a list of at most {_MAX_ITEMS} items."
        )
    return found


def checked_text(value: object) -> str:
    """The value, which must be a text of limited length.

    Raises:
        InvalidInputError: it is not.
    """
    if not isinstance(value, str) or len(value) > _MAX_TEXT:
        raise InvalidInputError(
            f"A text in the request must be a string of at most {_MAX_TEXT} characters."
        )
    return value


def checked_number(value: object) -> int:
    """The value, which must be a number from 0.

    Raises:
        InvalidInputError: it is not.
    """
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MAX_NUMBER:
        raise InvalidInputError("A number in the request must be a non-negative integer.")
    return value
