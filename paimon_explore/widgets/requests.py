"""Messages from the browser: checked, then answered by reading only."""

from collections.abc import Callable, Mapping

from paimon_explore.errors import InvalidInputError
from paimon_explore.inspect.explorer_state import Answer, ExplorerState

_MOST_TEXT = 4000
_MOST_ITEMS = 2000
_MOST_NUMBER = 2**53

Message = Mapping[str, object]


def answer(state: ExplorerState, message: Message) -> Answer:
    """The answer to a message.

    Raises:
        InvalidInputError: the message is not one of the known requests.
        PaimonError: what was asked for does not exist or cannot be read.
    """
    operation = _OPERATIONS.get(_text(message, "op"))
    if operation is None:
        raise InvalidInputError("this request is not known.")
    return operation(state, message)


def _tree(state: ExplorerState, message: Message) -> Answer:
    keys = [_checked_text(key) for key in _items(message, "keys")]
    offset = _number(message, "offset") if "offset" in message else 0
    return state.tree(_number(message, "snapshot"), keys, offset)


def _rows(state: ExplorerState, message: Message) -> Answer:
    rows = [_checked_number(row) for row in _items(message, "rows")]
    return state.rows(_number(message, "frame"), rows)


_OPERATIONS: dict[str, Callable[[ExplorerState, Message], Answer]] = {
    "open": lambda state, _message: state.open(),
    "history": lambda state, _message: state.history(),
    "files": lambda state, message: state.files(_number(message, "snapshot")),
    "rows": _rows,
    "filter": lambda s, message: s.filter(_number(message, "frame"), _text(message, "text")),
    "resolve": lambda state, message: state.resolve(_text(message, "text")),
    "tree": _tree,
    "detail": lambda state, message: state.detail(_text(message, "node")),
}


def request_number(message: object) -> int | None:
    """The number of a request; None for what is no request at all."""
    if not isinstance(message, Mapping):
        return None
    number = message.get("id")
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def _text(message: Message, name: str) -> str:
    return _checked_text(message.get(name))


def _number(message: Message, name: str) -> int:
    return _checked_number(message.get(name))


def _items(message: Message, name: str) -> list[object]:
    found = message.get(name)
    if not isinstance(found, list) or len(found) > _MOST_ITEMS:
        raise InvalidInputError(f"the request needs a list {name!r}.")
    return found


def _checked_text(value: object) -> str:
    if not isinstance(value, str) or len(value) > _MOST_TEXT:
        raise InvalidInputError("the request needs a text.")
    return value


def _checked_number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MOST_NUMBER:
        raise InvalidInputError("the request needs a whole number.")
    return value
