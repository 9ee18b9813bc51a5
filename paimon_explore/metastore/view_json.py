"""The JSON form of a view, in which JDBC catalogs store it."""

from collections.abc import Mapping

from paimon_explore.data_types.formatter import field_to_json
from paimon_explore.data_types.json_parser import parse_fields
from paimon_explore.errors import CorruptFileError
from paimon_explore.metadata.json_object import JsonObject, parse_object
from paimon_explore.metadata.schema.table_schema import pretty_json
from paimon_explore.metastore.view_values import ViewInfo


def view_to_json(view: ViewInfo) -> dict[str, object]:
    """Return the JSON object of a view, with keys in Java's order."""
    members: dict[str, object] = {
        "fields": [field_to_json(field) for field in view.fields],
        "query": view.query,
        "dialects": dict(view.dialects),
    }
    if view.comment is not None:
        members["comment"] = view.comment
    members["options"] = dict(view.options)
    return members


def encode_view(view: ViewInfo) -> str:
    """Encode a view in Java's layout."""
    return pretty_json(view_to_json(view))


def parse_view(text: str, where: str) -> ViewInfo:
    """Parse the JSON of a view.

    Args:
        text: the JSON.
        where: the name of the view, for errors.

    Raises:
        CorruptFileError: it is not the JSON of a view.
    """
    return view_from_json(parse_object(text.encode(), where))


def view_from_json(found: JsonObject) -> ViewInfo:
    """Create a view from a JSON object; raises like `parse_view`. Unknown keys are ignored."""
    return ViewInfo(
        fields=parse_fields(found.values.get("fields"), "fields", path=found.path),
        query=found.text("query"),
        dialects=_texts(found, "dialects"),
        comment=found.optional_text("comment"),
        options=_texts(found, "options"),
    )


def _texts(found: JsonObject, key: str) -> dict[str, str]:
    value = found.values.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(v, str) for v in value.values()):
        raise CorruptFileError(found.path, key, "must be an object with strings")
    return dict(value)
