"""What a catalog knows of its views, functions and partitions, as values."""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from paimon_explore.data_types.definitions import DataField
from paimon_explore.data_types.formatter import field_to_json
from paimon_explore.frozen_dataclass import dataclass
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
