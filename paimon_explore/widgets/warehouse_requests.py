"""Validates and answers requests of the catalog explorer's front end; requests can only read."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from paimon_explore.errors import InvalidInputError
from paimon_explore.inspection.explorer.explorer_state import Answer
from paimon_explore.inspection.warehouse.warehouse_state import ObjectKey, WarehouseState
from paimon_explore.inspection.warehouse.warehouse_tables import ObjectType
from paimon_explore.sanitize import masked_members
from paimon_explore.widgets.message_fields import Message, checked_text, items, number, text

_KEY_PARTS = 3
_TYPES = {kind.value: kind for kind in ObjectType}


def warehouse_answer(state: WarehouseState, message: Message) -> Answer:
    """Answer a request.

    Raises:
        InvalidInputError: the request is unknown or invalid.
        PaimonError: the catalog cannot be read.
    """
    operation = _OPERATIONS.get(text(message, "op"))
    if operation is None:
        raise InvalidInputError("The value of 'op' in the request is not a known operation.")
    found = operation(state, message)
    return replace(found, body=masked_members(found.body))


def _open(state: WarehouseState, message: Message) -> Answer:
    if message.get("refresh") is True:
        state.refresh()
    return state.open()


def _keys(message: Message) -> list[ObjectKey]:
    return [_key(one) for one in items(message, "tables")]


def _key(value: object) -> ObjectKey:
    if not isinstance(value, list) or len(value) != _KEY_PARTS:
        raise InvalidInputError("A table in the request must be a list: database, type, name.")
    database, kind, name = map(checked_text, value)
    if kind not in _TYPES:
        raise InvalidInputError(f"Unknown type of object {kind[:40]!r}.")
    return ObjectKey(database, name, _TYPES[kind])


_OPERATIONS: Mapping[str, Callable[[WarehouseState, Message], Answer]] = {
    "open": _open,
    "names": lambda s, message: s.names(text(message, "database"), number(message, "offset")),
    "figures": lambda state, message: state.figures(_keys(message)),
    "health": lambda state, message: state.health(_keys(message)),
}
