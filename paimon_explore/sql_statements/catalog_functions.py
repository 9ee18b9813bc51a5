"""The functions of a catalog in SQL: `sys.max_pt` and those of BLOB columns.

`sys.path_to_descriptor`, `sys.descriptor_to_string` and `sys.blob_view` are functions of the engine
without the database `sys`. A column that `blob_view` names becomes its field id; a call with
constants becomes its value, since Spark calls no function of Python in VALUES.
"""

from collections.abc import Iterator, Sequence

from paimon_explore.encoding.blob.blob_descriptor import (
    TO_THE_END,
    BlobDescriptor,
    encode_descriptor,
)
from paimon_explore.encoding.blob.blob_view import BlobView, encode_view
from paimon_explore.errors import InvalidInputError
from paimon_explore.sql_statements.max_partition import first_of_name, with_max_partitions
from paimon_explore.sql_statements.table_references import spliced
from paimon_explore.sql_statements.table_resolution import Warehouse
from paimon_explore.sql_statements.tokenizer import Kind, Reader, Token, tokens_of
from paimon_explore.table.latest_schema import latest_schema
from paimon_explore.table.table_base import store_of

_VIEW = "BLOB_VIEW"
_BLOB_FUNCTIONS = ("PATH_TO_DESCRIPTOR", "DESCRIPTOR_TO_STRING", _VIEW)


def with_catalog_functions(warehouse: Warehouse, source: str) -> str:
    """Return a statement whose functions of the catalog are values or functions of the engine.

    Raises:
        NotFoundError: a table that a function names does not exist.
        InvalidInputError: the arguments of a function are wrong.
    """
    source = with_max_partitions(warehouse, source)
    if not any(name in source.upper() for name in _BLOB_FUNCTIONS):
        return source
    return spliced(source, list(_replacements(warehouse, tokens_of(source))))


def _replacements(warehouse: Warehouse, tokens: Sequence[Token]) -> Iterator[tuple[int, int, str]]:
    for at, token in enumerate(tokens[:-1]):
        if token.word not in _BLOB_FUNCTIONS or tokens[at + 1].sign != "(":
            continue
        first = first_of_name(tokens, at)
        if first is None:
            continue
        name, arguments = tokens[first], [*tokens[at + 2 : at + 8], *[tokens[-1]] * 6][:6]
        texts = [one.text for one in arguments]
        is_text = [one.kind is Kind.TEXT for one in arguments]
        if token.word == "PATH_TO_DESCRIPTOR" and is_text[0] and arguments[1].sign == ")":
            descriptor = BlobDescriptor(uri=texts[0], offset=0, length=TO_THE_END)
            yield name.start, arguments[1].end, f"X'{encode_descriptor(descriptor).hex()}'"
            continue
        if token.word != _VIEW or is_text[:3] != [True, False, True]:
            yield name.start, token.end, token.text
            continue
        field_id = _field_id(warehouse, texts[0], texts[2])
        if texts[4].isdecimal() and texts[5] == ")":
            view = BlobView(table=texts[0], field_id=field_id, row_id=int(texts[4]))
            yield name.start, arguments[5].end, f"X'{encode_view(view).hex()}'"
        else:
            yield name.start, token.end, token.text
            yield arguments[2].start, arguments[2].end, str(field_id)


def _field_id(warehouse: Warehouse, name: str, column: str) -> int:
    table = warehouse.base(warehouse.named(Reader(name).path("the table")))
    field = latest_schema(store_of(table)).field(column)
    if field is None:
        raise InvalidInputError(f"blob_view: table {table.name} has no column {column!r}.")
    return field.id
