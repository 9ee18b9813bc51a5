"""The methods of the Hive metastore that this package calls: arguments, results and exceptions."""

from dataclasses import replace
from typing import Generic, TypeVar

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metastore.hive import metastore_structs as hms
from paimon_explore.metastore.hive.thrift_struct import (
    BOOL,
    I16,
    I32,
    STRING,
    STRING_MAP,
    STRINGS,
    VOID,
    ThriftError,
    WireType,
    list_of,
    spec_of,
    struct_of,
)

R = TypeVar("R")
_Spec = tuple[object, ...]

LOAD_DONE = 1
"""PartitionEventType of a complete partition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Method(Generic[R]):
    """A method of the metastore.

    Attributes:
        name: its name in the interface.
        arguments: the Thrift table of its arguments, named `a1`, `a2`, … by their ids.
        results: the Thrift table of its result `success` and its exceptions `o1`, `o2`, ….
        returns: the Python type of its result.
        repeatable: whether calling it twice has the effect of calling it once.
    """

    name: str
    arguments: _Spec
    results: _Spec
    returns: type[R]
    repeatable: bool


def _field(number: int, name: str, wire_type: WireType[object]) -> _Spec:
    return (number, wire_type.code, name, wire_type.parameters, None)


def _method(
    name: str,
    arguments: tuple[WireType[object], ...],
    result: WireType[R],
    errors: tuple[type[ThriftError] | None, ...],
    *,
    repeatable: bool = True,
) -> Method[R]:
    results = {} if result is VOID else {0: _field(0, "success", result)}
    for number, error in enumerate(errors, 1):
        if error is not None:
            results[number] = _field(number, f"o{number}", struct_of(error))
    numbered = {n: _field(n, f"a{n}", given) for n, given in enumerate(arguments, 1)}
    return Method(
        name=name,
        arguments=spec_of(numbered),
        results=spec_of(results),
        returns=result.python,
        repeatable=repeatable,
    )


_MISSING = hms.NoSuchObjectException
_META = hms.MetaException
_DATABASE = struct_of(hms.Database)
_TABLE = struct_of(hms.Table)
_PARTITION = struct_of(hms.Partition)
_CONTEXT = struct_of(hms.EnvironmentContext)
_LOCK = struct_of(hms.LockResponse)

SET_UGI = _method("set_ugi", (STRING, STRINGS), STRINGS, (_META,))
GET_VERSION = _method("getVersion", (), STRING, ())

GET_ALL_DATABASES = _method("get_all_databases", (), STRINGS, (_META,))
GET_DATABASE = _method("get_database", (STRING,), _DATABASE, (_MISSING, _META))
CREATE_DATABASE = _method(
    "create_database",
    (_DATABASE,),
    VOID,
    (hms.AlreadyExistsException, hms.InvalidObjectException, _META),
    repeatable=False,
)
ALTER_DATABASE = _method("alter_database", (STRING, _DATABASE), VOID, (_META, _MISSING))
DROP_DATABASE = _method(
    "drop_database",
    (STRING, BOOL, BOOL),
    VOID,
    (_MISSING, hms.InvalidOperationException, _META),
    repeatable=False,
)

GET_ALL_TABLES = _method("get_all_tables", (STRING,), STRINGS, (_META,))
GET_TABLES_BY_TYPE = _method("get_tables_by_type", (STRING, STRING, STRING), STRINGS, (_META,))
GET_TABLE_REQUEST = _method(
    "get_table_req",
    (struct_of(hms.GetTableRequest),),
    struct_of(hms.GetTableResult),
    (_META, _MISSING),
)
GET_TABLE = _method("get_table", (STRING, STRING), _TABLE, (_META, _MISSING))
_LIST_ERRORS = (_META, hms.InvalidOperationException, hms.UnknownDBException)
GET_TABLES_REQUEST = _method(
    "get_table_objects_by_name_req",
    (struct_of(hms.GetTablesRequest),),
    struct_of(hms.GetTablesResult),
    _LIST_ERRORS,
)
GET_TABLES = _method("get_table_objects_by_name", (STRING, STRINGS), list_of(_TABLE), _LIST_ERRORS)
CREATE_TABLE = _method(
    "create_table",
    (_TABLE,),
    VOID,
    (hms.AlreadyExistsException, hms.InvalidObjectException, _META, _MISSING),
    repeatable=False,
)
ALTER_TABLE = _method(
    "alter_table_with_environment_context",
    (STRING, STRING, _TABLE, _CONTEXT),
    VOID,
    (hms.InvalidOperationException, _META),
)
RENAME_TABLE = replace(ALTER_TABLE, repeatable=False)
DROP_TABLE = _method(
    "drop_table_with_environment_context",
    (STRING, STRING, BOOL, _CONTEXT),
    VOID,
    (_MISSING, _META),
    repeatable=False,
)

ADD_PARTITIONS = _method(
    "add_partitions_req",
    (struct_of(hms.AddPartitionsRequest),),
    struct_of(hms.AddPartitionsResult),
    (hms.InvalidObjectException, hms.AlreadyExistsException, _META),
)
GET_PARTITIONS = _method(
    "get_partitions", (STRING, STRING, I16), list_of(_PARTITION), (_MISSING, _META)
)
DROP_PARTITION = _method(
    "drop_partition_with_environment_context",
    (STRING, STRING, STRINGS, BOOL, _CONTEXT),
    BOOL,
    (_MISSING, _META),
)
_EVENT_ERRORS = (
    _META,
    _MISSING,
    hms.UnknownDBException,
    hms.UnknownTableException,
    hms.UnknownPartitionException,
    hms.InvalidPartitionException,
)
_EVENT = (STRING, STRING, STRING_MAP, I32)
MARK_PARTITION = _method("markPartitionForEvent", _EVENT, VOID, _EVENT_ERRORS)
IS_PARTITION_MARKED = _method("isPartitionMarkedForEvent", _EVENT, BOOL, _EVENT_ERRORS)

_NO_TRANSACTION = (hms.NoSuchTxnException, hms.TxnAbortedException)
LOCK = _method("lock", (struct_of(hms.LockRequest),), _LOCK, _NO_TRANSACTION, repeatable=False)
CHECK_LOCK = _method(
    "check_lock",
    (struct_of(hms.CheckLockRequest),),
    _LOCK,
    (*_NO_TRANSACTION, hms.NoSuchLockException),
)
UNLOCK = _method(
    "unlock", (struct_of(hms.UnlockRequest),), VOID, (hms.NoSuchLockException, hms.TxnOpenException)
)
SHOW_LOCKS = _method(
    "show_locks", (struct_of(hms.ShowLocksRequest),), struct_of(hms.ShowLocksResponse), ()
)
