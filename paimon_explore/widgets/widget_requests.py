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
    found = operation_of(_OPERATIONS, message)(state, message)
    return found if name in _UNMASKED else replace(found, body=masked_members(found.body))


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


def _hints(state: ExplorerState, message: Message) -> Answer:
    return Answer(body=explorer_hints(state.inspector.at(number(message, "snapshot"))))


def _search(state: ExplorerState, message: Message) -> Answer:
    at = state.inspector.at(state.checked_snapshot(number(message, "snapshot")))
    return Answer(body=search_names(at, text(message, "text")))


def _report(state: ExplorerState, message: Message) -> Answer:
    compare, node = number(message, "compare"), text(message, "node")
    question = ViewInput(text=text(message, "text"), compare=compare, node=node)
    snapshot = number(message, "snapshot")
    return Answer(body=state.result(text(message, "pane"), snapshot, question).state())


def _profile_rows(state: ExplorerState, message: Message) -> Answer:
    with_columns = bool(number(message, "columns"))
    body = state.profile_session.step(number(message, "number"), with_columns=with_columns)
    return Answer(body=body)


def _profile_condition(state: ExplorerState, message: Message) -> Answer:
    profile, column = number(message, "number"), number(message, "column")
    bins = number(message, "first"), number(message, "last")
    part, where = text(message, "part"), text(message, "where")
    found = state.profile_session.condition(profile, column, part, bins, where)
    return Answer(body={"where": found})


def _condition(state: ExplorerState, message: Message) -> Answer:
    where = state.condition(number(message, "snapshot"), text(message, "text"))
    return Answer(body={"where": where})


def _rows_open(state: ExplorerState, message: Message) -> Answer:
    node, inspector = text(message, "node"), state.inspector
    file = file_of_tree_node(inspector, node) or state.file_name(node)
    at = inspector.at(number(message, "snapshot"))
    body, columns = state.rows_session.open(at, text(message, "text"), file)
    return Answer(body=body, columns=columns)


def _rows_page(state: ExplorerState, message: Message) -> Answer:
    columns = [checked_number(at) for at in items(message, "columns")]
    start = number(message, "unit"), number(message, "offset")
    count = number(message, "count")
    handle = number(message, "handle")
    return Answer(body=state.rows_session.page(handle, start, count, columns, _limit(message)))


def _limit(message: Message) -> int:
    """The length at which values are cut; a request for whole values is one to save them."""
    return MAX_TEXT if "whole" in message else CELL_LIMIT


def _rows_cell(state: ExplorerState, message: Message) -> Answer:
    unit, offset = number(message, "unit"), number(message, "offset")
    handle, column = number(message, "handle"), number(message, "column")
    return Answer(body=state.rows_session.cell(handle, unit, offset, column))


def _sql_run(state: ExplorerState, message: Message) -> Answer:
    at = state.inspector.at(state.checked_snapshot(number(message, "snapshot")))
    confirmation = text(message, "confirmation") if "confirmation" in message else ""
    statement = text(message, "text")
    return Answer(body=state.sql_session.run(at, statement, confirmation=confirmation))


def _sql_history(state: ExplorerState, message: Message) -> Answer:
    statement = text(message, "text")
    return Answer(body=state.sql_session.run(state.inspector, statement, MAX_HISTORY))


def _sql_stop(state: ExplorerState, _message: Message) -> Answer:
    state.sql_session.stop()
    return Answer()


def _sql_page(state: ExplorerState, message: Message) -> Answer:
    place = number(message, "offset"), number(message, "count")
    handle = number(message, "handle")
    return Answer(body=state.sql_session.page(handle, *place, _limit(message)))


def _sql_cell(state: ExplorerState, message: Message) -> Answer:
    place = number(message, "offset"), number(message, "column")
    return Answer(body=state.sql_session.cell(number(message, "handle"), *place))


_OPERATIONS: dict[str, Callable[[ExplorerState, Message], Answer]] = {
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
    "hints": _hints,
    "bytes": lambda state, message: state.bytes(text(message, "node")),
    "profile": lambda s, message: s.profile(number(message, "snapshot"), text(message, "where")),
    "profile_rows": _profile_rows,
    "profile_condition": _profile_condition,
    "condition": _condition,
    "rows_open": _rows_open,
    "rows_page": _rows_page,
    "rows_sort": lambda s, message: Answer(body=s.rows_session.sort(number(message, "handle"))),
    "rows_cell": _rows_cell,
    "sql_names": lambda s, m: Answer(body=sql_names(s.inspector.at(number(m, "snapshot")))),
    "sql_run": _sql_run,
    "sql_history": _sql_history,
    "sql_step": lambda s, message: Answer(body=s.sql_session.step(number(message, "handle"))),
    "sql_stop": _sql_stop,
    "sql_page": _sql_page,
    "sql_cell": _sql_cell,
    "pane": lambda _state, message: Answer(body={"esm": pane_bundle(text(message, "name"))}),
}


_UNMASKED = frozenset({"condition", "pane", "profile_condition"})
"""Requests that return code of this package, or a condition that would not select masked values."""


def byte_answer(session: ByteSession, message: Message) -> Answer:
    """Answer a request about the bytes of an open file.

    Raises:
        InvalidInputError: the request is unknown or invalid, or the file is no longer open.
    """
    found = operation_of(_BYTE_OPERATIONS, message)(session, message)
    return replace(found, body=masked_members(found.body))


def _byte_fields(session: ByteSession, message: Message) -> Answer:
    handle, first = number(message, "handle"), number(message, "first")
    return Answer(body=session.fields(handle, text(message, "path"), first))


def _byte_at(session: ByteSession, message: Message) -> Answer:
    handle, offset = number(message, "handle"), number(message, "offset")
    return Answer(body=session.at(handle, text(message, "within"), offset))


def _byte_data(session: ByteSession, message: Message) -> Answer:
    handle, offset = number(message, "handle"), number(message, "offset")
    length = number(message, "length")
    data = session.data(handle, text(message, "within"), offset, length)
    return Answer(columns={"bytes": data})


_BYTE_OPERATIONS: dict[str, Callable[[ByteSession, Message], Answer]] = {
    "byte_fields": _byte_fields,
    "byte_at": _byte_at,
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
