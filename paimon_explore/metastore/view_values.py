"""What a catalog knows of its views, functions and partitions, as values."""

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from enum import StrEnum

from paimon_explore.data_types.definitions import DataField
from paimon_explore.data_types.formatter import field_to_json
from paimon_explore.data_types.json_parser import parse_fields
from paimon_explore.errors import AlreadyExistsError, NotFoundError, choices
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metadata.json_object import JsonObject
from paimon_explore.store.version_management import PartitionStatistics


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewInfo:
    """A view.

    Attributes:
        fields: its columns.
        query: the default query.
        dialects: queries in other dialects by name, such as `spark`.
        comment: its comment.
        options: its options.
    """

    fields: tuple[DataField, ...]
    query: str
    dialects: Mapping[str, str] = field(default_factory=dict)
    comment: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)


def view_json(view: ViewInfo) -> dict[str, object]:
    """Return the JSON of a view's schema."""
    return {
        "fields": [field_to_json(field) for field in view.fields],
        "query": view.query,
        "dialects": dict(view.dialects),
        "comment": view.comment,
        "options": dict(view.options),
    }


def view_from_json(source: JsonObject) -> ViewInfo:
    """Create a view from the JSON of its schema; unknown keys are ignored.

    Raises:
        CorruptFileError: it is not the JSON of a view.
    """
    return ViewInfo(
        fields=parse_fields(
            source.values.get("fields"), source.place_of("fields"), path=source.path
        ),
        query=source.text("query"),
        dialects=source.texts("dialects"),
        comment=source.optional_text("comment"),
        options=source.texts("options"),
    )


class ViewAction(StrEnum):
    """What a change of a view does; the values are those of the REST interface."""

    SET_OPTION = "setOption"
    REMOVE_OPTION = "removeOption"
    UPDATE_COMMENT = "updateComment"
    ADD_DIALECT = "addDialect"
    UPDATE_DIALECT = "updateDialect"
    DROP_DIALECT = "dropDialect"


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewChange:
    """One change of a view.

    Attributes:
        action: what changes.
        key: the option or dialect; "" for the comment.
        value: the new value, query or comment; None removes it.
    """

    action: ViewAction
    key: str = ""
    value: str | None = None


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


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionInfo:
    """A function.

    Attributes:
        input_params: its parameters; None if they are not declared.
        return_params: its results; None if they are not declared.
        deterministic: whether equal arguments give equal results.
        definitions: the definition by engine, as JSON objects (`type` is `file`, `sql`, `lambda`).
        comment: its comment.
        options: its options.
    """

    input_params: tuple[DataField, ...] | None = None
    return_params: tuple[DataField, ...] | None = None
    deterministic: bool = True
    definitions: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    comment: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)


class FunctionAction(StrEnum):
    """What a change of a function does; the values are those of the REST interface."""

    SET_OPTION = "setOption"
    REMOVE_OPTION = "removeOption"
    UPDATE_COMMENT = "updateComment"
    ADD_DEFINITION = "addDefinition"
    UPDATE_DEFINITION = "updateDefinition"
    DROP_DEFINITION = "dropDefinition"


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionChange:
    """One change of a function.

    Attributes:
        action: what changes.
        key: the option, or the name of the definition; "" for the comment.
        value: the new value or comment; None removes it.
        definition: the new definition, as a JSON object.
    """

    action: FunctionAction
    key: str = ""
    value: str | None = None
    definition: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionInfo:
    """A partition that a catalog keeps.

    Attributes:
        statistics: its values and figures.
        done: whether it is marked as complete.
    """

    statistics: PartitionStatistics
    done: bool = False
