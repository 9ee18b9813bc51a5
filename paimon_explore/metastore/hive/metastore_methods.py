"""The methods of the Hive metastore that this package calls: arguments, results and exceptions."""

from typing import Generic, TypeVar

from thrift.Thrift import TType

from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metastore.hive import metastore_structs as hms
from paimon_explore.metastore.hive.thrift_struct import (
    BOOL,
    I16,
    I32,
    STRING,
    STRING_MAP,
    STRINGS,
    Struct,
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


def _field(number: int, name: str, wire_type: WireType) -> _Spec:
    return (number, wire_type.code, name, wire_type.parameters, None)


def _method(
    name: str,
    arguments: tuple[WireType, ...],
    returns: type[R],
    result: WireType | None,
    errors: tuple[type[ThriftError] | None, ...],
    *,
    repeatable: bool = True,
) -> Method[R]:
    results = {0: _field(0, "success", result)} if result else {}
    for number, error in enumerate(errors, 1):
        if error is not None:
            results[number] = (number, TType.STRUCT, f"o{number}", [error, error.thrift_spec], None)
    numbered = {n: _field(n, f"a{n}", given) for n, given in enumerate(arguments, 1)}
    return Method(
        name=name,
        arguments=spec_of(numbered),
        results=spec_of(results),
        returns=returns,
        repeatable=repeatable,
    )


def _void_method(
    name: str,
    arguments: tuple[WireType, ...],
    errors: tuple[type[ThriftError] | None, ...],
    *,
    repeatable: bool = True,
) -> Method[None]:
    return _method(name, arguments, type(None), None, errors, repeatable=repeatable)


def _struct_method(
    name: str,
    arguments: tuple[WireType, ...],
    returns: type[R],
    errors: tuple[type[ThriftError] | None, ...],
    *,
    repeatable: bool = True,
) -> Method[R]:
    if not issubclass(returns, Struct):
        raise TypeError(returns)
    return _method(name, arguments, returns, struct_of(returns), errors, repeatable=repeatable)


_MISSING = hms.NoSuchObjectException
_META = hms.MetaException
_DATABASE = struct_of(hms.Database)
_TABLE = struct_of(hms.Table)
_PARTITION = struct_of(hms.Partition)
_CONTEXT = struct_of(hms.EnvironmentContext)

SET_UGI = _method("set_ugi", (STRING, STRINGS), list[str], STRINGS, (_META,))
GET_VERSION = _method("getVersion", (), str, STRING, ())

GET_ALL_DATABASES = _method("get_all_databases", (), list[str], STRINGS, (_META,))
GET_DATABASE = _struct_method("get_database", (STRING,), hms.Database, (_MISSING, _META))
CREATE_DATABASE = _void_method(
    "create_database",
    (_DATABASE,),
    (hms.AlreadyExistsException, hms.InvalidObjectException, _META),
    repeatable=False,
)
ALTER_DATABASE = _void_method("alter_database", (STRING, _DATABASE), (_META, _MISSING))
DROP_DATABASE = _void_method(
    "drop_database",
    (STRING, BOOL, BOOL),
    (_MISSING, hms.InvalidOperationException, _META),
    repeatable=False,
)

GET_ALL_TABLES = _method("get_all_tables", (STRING,), list[str], STRINGS, (_META,))
GET_TABLES_BY_TYPE = _method(
    "get_tables_by_type", (STRING, STRING, STRING), list[str], STRINGS, (_META,)
)
GET_TABLE_REQUEST = _struct_method(
    "get_table_req", (struct_of(hms.GetTableRequest),), hms.GetTableResult, (_META, _MISSING)
)
GET_TABLE = _struct_method("get_table", (STRING, STRING), hms.Table, (_META, _MISSING))
_LIST_ERRORS = (_META, hms.InvalidOperationException, hms.UnknownDBException)
GET_TABLES_REQUEST = _struct_method(
    "get_table_objects_by_name_req",
    (struct_of(hms.GetTablesRequest),),
    hms.GetTablesResult,
    _LIST_ERRORS,
)
GET_TABLES = _method(
    "get_table_objects_by_name", (STRING, STRINGS), list[hms.Table], list_of(_TABLE), _LIST_ERRORS
)
CREATE_TABLE = _void_method(
    "create_table",
    (_TABLE,),
    (hms.AlreadyExistsException, hms.InvalidObjectException, _META, _MISSING),
    repeatable=False,
)
ALTER_TABLE = _void_method(
    "alter_table_with_environment_context",
    (STRING, STRING, _TABLE, _CONTEXT),
    (hms.InvalidOperationException, _META),
)
RENAME_TABLE = _void_method(
    "alter_table_with_environment_context",
    (STRING, STRING, _TABLE, _CONTEXT),
    (hms.InvalidOperationException, _META),
    repeatable=False,
)
DROP_TABLE = _void_method(
    "drop_table_with_environment_context",
    (STRING, STRING, BOOL, _CONTEXT),
    (_MISSING, _META),
    repeatable=False,
)

ADD_PARTITIONS = _struct_method(
    "add_partitions_req",
    (struct_of(hms.AddPartitionsRequest),),
    hms.AddPartitionsResult,
    (hms.InvalidObjectException, hms.AlreadyExistsException, _META),
)
GET_PARTITIONS = _method(
    "get_partitions",
    (STRING, STRING, I16),
    list[hms.Partition],
    list_of(_PARTITION),
    (_MISSING, _META),
)
DROP_PARTITION = _method(
    "drop_partition_with_environment_context",
    (STRING, STRING, STRINGS, BOOL, _CONTEXT),
    bool,
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
MARK_PARTITION = _void_method("markPartitionForEvent", _EVENT, _EVENT_ERRORS)
IS_PARTITION_MARKED = _method("isPartitionMarkedForEvent", _EVENT, bool, BOOL, _EVENT_ERRORS)

_NO_TRANSACTION = (hms.NoSuchTxnException, hms.TxnAbortedException)
LOCK = _struct_method(
    "lock", (struct_of(hms.LockRequest),), hms.LockResponse, _NO_TRANSACTION, repeatable=False
)
CHECK_LOCK = _struct_method(
    "check_lock",
    (struct_of(hms.CheckLockRequest),),
    hms.LockResponse,
    (*_NO_TRANSACTION, hms.NoSuchLockException),
)
UNLOCK = _void_method(
    "unlock", (struct_of(hms.UnlockRequest),), (hms.NoSuchLockException, hms.TxnOpenException)
)
SHOW_LOCKS = _struct_method(
    "show_locks", (struct_of(hms.ShowLocksRequest),), hms.ShowLocksResponse, ()
)
