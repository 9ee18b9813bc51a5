"""Validates and answers requests from the browser, which only read without a confirmation.

Messages are not trusted: their fields are validated.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from paimon_explore.arguments import invalid_argument
from paimon_explore.errors import InvalidInputError
from paimon_explore.inspection.byte_inspector.byte_session import ByteSession
from paimon_explore.inspection.explorer.explorer_state import Answer, ExplorerState, ViewInput
from paimon_explore.inspection.explorer.rows_session import MAX_TEXT, file_of_tree_node
from paimon_explore.inspection.explorer.sql_session import MAX_HISTORY, sql_names
from paimon_explore.inspection.glossary import explorer_hints
from paimon_explore.inspection.rendering.escape import CELL_LIMIT
from paimon_explore.inspection.views.inspector import search_names
from paimon_explore.sanitize import masked_members
from paimon_explore.widgets.bundles import pane_bundle

_MAX_TEXT = 4000
_MAX_ITEMS = 2000
_MAX_NUMBER = 2**53

Message = Mapping[str, object]
Found = Answer | Mapping[str, object]
"""What an operation returns: an answer, or only its body."""
_Operation = TypeVar("_Operation")


def answer(state: ExplorerState, message: Message) -> Answer:
    """Answer a request.

    Raises:
        InvalidInputError: the request is unknown or invalid.
        PaimonError: the requested data does not exist or cannot be read.
    """
    name = text(message, "op")
    if name in _BYTE_OPERATIONS:
        return byte_answer(state.byte_session, message)
    found = _as_answer(operation_of(_OPERATIONS, message)(state, message))
    return found if name in _UNMASKED else replace(found, body=masked_members(found.body))


def _as_answer(found: Found) -> Answer:
    return found if isinstance(found, Answer) else Answer(body=found)


def operation_of(operations: Mapping[str, _Operation], message: Message) -> _Operation:
    """The operation that a request names.

    Raises:
        InvalidInputError: it is unknown.
    """
    found = operations.get(text(message, "op"))
    if found is None:
        raise InvalidInputError("The value of 'op' in the request is not a known operation.")
    return found


def _tree(state: ExplorerState, message: Message) -> Answer:
    keys = [checked_text(key) for key in items(message, "keys")]
    offset = number(message, "offset") if "offset" in message else 0
    return state.tree(number(message, "snapshot"), keys, offset)


def _rows(state: ExplorerState, message: Message) -> Answer:
    rows = [checked_number(row) for row in items(message, "rows")]
    return state.rows(number(message, "frame"), rows)


def _search(state: ExplorerState, message: Message) -> Found:
    at = state.inspector.at(state.checked_snapshot(number(message, "snapshot")))
    return search_names(at, text(message, "text"))


def _report(state: ExplorerState, message: Message) -> Found:
    compare, node = number(message, "compare"), text(message, "node")
    question = ViewInput(text=text(message, "text"), compare=compare, node=node)
    return state.result(text(message, "pane"), number(message, "snapshot"), question).state()


def _profile_rows(state: ExplorerState, message: Message) -> Found:
    with_columns = bool(number(message, "columns"))
    return state.profile_session.step(number(message, "number"), with_columns=with_columns)


def _profile_condition(state: ExplorerState, message: Message) -> Found:
    profile, column, first, last = numbers(message, "number", "column", "first", "last")
    part, where = text(message, "part"), text(message, "where")
    found = state.profile_session.condition(profile, column, part, (first, last), where)
    return {"where": found}


def _rows_open(state: ExplorerState, message: Message) -> Answer:
    node, inspector = text(message, "node"), state.inspector
    file = file_of_tree_node(inspector, node) or state.file_name(node)
    at = inspector.at(number(message, "snapshot"))
    body, columns = state.rows_session.open(at, text(message, "text"), file)
    return Answer(body=body, columns=columns)


def _rows_page(state: ExplorerState, message: Message) -> Found:
    columns = [checked_number(at) for at in items(message, "columns")]
    handle, unit, offset, count = numbers(message, "handle", "unit", "offset", "count")
    limit = _limit(message)
    return state.rows_session.page(handle, (unit, offset), count, columns, limit)


def _limit(message: Message) -> int:
    """The length at which values are cut; a request for whole values is one to save them."""
    return MAX_TEXT if "whole" in message else CELL_LIMIT


def _sql_run(state: ExplorerState, message: Message) -> Found:
    at = state.inspector.at(state.checked_snapshot(number(message, "snapshot")))
    confirmation = text(message, "confirmation") if "confirmation" in message else ""
    return state.sql_session.run(at, text(message, "text"), confirmation=confirmation)


def _sql_stop(state: ExplorerState, _message: Message) -> Answer:
    state.sql_session.stop()
    return Answer()


def _sql_page(state: ExplorerState, message: Message) -> Found:
    handle, offset, count = numbers(message, "handle", "offset", "count")
    return state.sql_session.page(handle, offset, count, _limit(message))


_OPERATIONS: dict[str, Callable[[ExplorerState, Message], Found]] = {
    "open": lambda state, _message: state.open(),
    "history": lambda state, _message: state.history(),
    "files": lambda state, message: state.files(number(message, "snapshot")),
    "rows": _rows,
    "filter": lambda s, message: s.filter(number(message, "frame"), text(message, "text")),
    "search": _search,
    "resolve": lambda state, message: state.resolve(text(message, "text")),
    "tree": _tree,
    "detail": lambda state, message: state.detail(text(message, "node")),
    "report": _report,
    "findings": lambda state, message: state.findings(number(message, "snapshot")),
    "hints": lambda s, m: explorer_hints(s.inspector.at(number(m, "snapshot"))),
    "bytes": lambda state, message: state.bytes(text(message, "node")),
    "profile": lambda s, message: s.profile(number(message, "snapshot"), text(message, "where")),
    "profile_rows": _profile_rows,
    "profile_condition": _profile_condition,
    "condition": lambda s, m: {"where": s.condition(number(m, "snapshot"), text(m, "text"))},
    "rows_open": _rows_open,
    "rows_page": _rows_page,
    "rows_sort": lambda s, m: s.rows_session.sort(number(m, "handle")),
    "rows_cell": lambda s, m: s.rows_session.cell(
        *numbers(m, "handle", "unit", "offset", "column")
    ),
    "sql_names": lambda s, m: sql_names(s.inspector.at(number(m, "snapshot"))),
    "sql_run": _sql_run,
    "sql_history": lambda s, m: s.sql_session.run(s.inspector, text(m, "text"), MAX_HISTORY),
    "sql_step": lambda s, m: s.sql_session.step(number(m, "handle")),
    "sql_stop": _sql_stop,
    "sql_page": _sql_page,
    "sql_cell": lambda s, m: s.sql_session.cell(*numbers(m, "handle", "offset", "column")),
    "pane": lambda _state, message: {"esm": pane_bundle(text(message, "name"))},
}


_UNMASKED = frozenset({"condition", "pane", "profile_condition"})
"""Requests that return code of this package, or a condition that would not select masked values."""


def byte_answer(session: ByteSession, message: Message) -> Answer:
    """Answer a request about the bytes of an open file.

    Raises:
        InvalidInputError: the request is unknown or invalid, or the file is no longer open.
    """
    found = _as_answer(operation_of(_BYTE_OPERATIONS, message)(session, message))
    return replace(found, body=masked_members(found.body))


def _byte_data(session: ByteSession, message: Message) -> Answer:
    handle, offset, length = numbers(message, "handle", "offset", "length")
    data = session.data(handle, text(message, "within"), offset, length)
    return Answer(columns={"bytes": data})


_BYTE_OPERATIONS: dict[str, Callable[[ByteSession, Message], Found]] = {
    "byte_fields": lambda s, m: s.fields(number(m, "handle"), text(m, "path"), number(m, "first")),
    "byte_at": lambda s, m: s.at(number(m, "handle"), text(m, "within"), number(m, "offset")),
    "byte_data": _byte_data,
}


def request_number(message: object) -> int | None:
    """The number of a request; None if the message is not a request."""
    if not isinstance(message, Mapping):
        return None
    number = message.get("id")
    return number if isinstance(number, int) and not isinstance(number, bool) else None


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


def numbers(message: Message, *names: str) -> list[int]:
    """The numbers of some fields.

    Raises:
        InvalidInputError: one is not.
    """
    return [number(message, name) for name in names]


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
        raise invalid_argument("A number in the request", value, "a non-negative integer")
    return value
