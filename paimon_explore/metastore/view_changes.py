"""Applies changes to a view in memory, for catalogs that store the view as a whole."""

from collections.abc import Iterable
from dataclasses import replace

from paimon_explore.errors import AlreadyExistsError, NotFoundError, choices
from paimon_explore.metastore.view_values import ViewAction, ViewChange, ViewInfo


def apply_view_changes(view: ViewInfo, changes: Iterable[ViewChange], name: str) -> ViewInfo:
    """Return the changed view.

    Args:
        view: the view.
        changes: the changes in order.
        name: the name of the view, for errors.

    Raises:
        AlreadyExistsError: a dialect to add exists.
        NotFoundError: a dialect to change or drop does not exist.
    """
    options, dialects, comment = dict(view.options), dict(view.dialects), view.comment
    for change in changes:
        key, value = change.key, change.value or ""
        match change.action:
            case ViewAction.SET_OPTION:
                options[key] = value
            case ViewAction.REMOVE_OPTION:
                options.pop(key, None)
            case ViewAction.UPDATE_COMMENT:
                comment = change.value
            case ViewAction.ADD_DIALECT:
                if key in dialects:
                    raise AlreadyExistsError("dialect", key, f"view {name}")
                dialects[key] = value
            case ViewAction.UPDATE_DIALECT | ViewAction.DROP_DIALECT:
                if key not in dialects:
                    hint = f"Dialects: {choices(dialects)}."
                    raise NotFoundError("dialect", key, f"view {name}", hint=hint)
                del dialects[key]
                if change.action is ViewAction.UPDATE_DIALECT:
                    dialects[key] = value
    return replace(view, options=options, dialects=dialects, comment=comment)
