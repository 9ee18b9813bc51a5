"""The structs and exceptions of the Hive metastore that this package uses.

Field ids and types are those of Hive's interface definition. Structs that are read, changed and
written back (database, table, partition) declare the fields up to Hive 4 that clients own, so that
a change keeps them. The names of fields are those of the interface.
"""

from typing import Annotated

from paimon_explore.metastore.hive.thrift_struct import (
    BOOL,
    BYTE,
    I32,
    I64,
    STRING,
    STRING_MAP,
    STRINGS,
    Struct,
    ThriftError,
    list_of,
    map_of,
    struct,
    struct_of,
    wire,
)

NUMBERS = list_of(I32)


class MetaException(ThriftError):  # noqa: N818 - the name in the interface
    """An error of the metastore itself, such as of its database."""


class NoSuchObjectException(ThriftError):  # noqa: N818
    """The database, table or partition does not exist."""


class AlreadyExistsException(ThriftError):  # noqa: N818
    """The database, table or partition exists."""


class InvalidObjectException(ThriftError):  # noqa: N818
    """The metastore refuses the new object, such as the name of a column."""


class InvalidOperationException(ThriftError):  # noqa: N818
    """The metastore refuses the operation."""


class UnknownDBException(ThriftError):  # noqa: N818
    """The database does not exist."""


class UnknownTableException(ThriftError):  # noqa: N818
    """The table does not exist."""


class UnknownPartitionException(ThriftError):  # noqa: N818
    """The partition does not exist."""


class InvalidPartitionException(ThriftError):  # noqa: N818
    """The partition has other keys than the table."""


class NoSuchTxnException(ThriftError):  # noqa: N818
    """The transaction does not exist."""


class TxnAbortedException(ThriftError):  # noqa: N818
    """The transaction was aborted."""


class TxnOpenException(ThriftError):  # noqa: N818
    """The lock belongs to an open transaction."""


class NoSuchLockException(ThriftError):  # noqa: N818
    """The lock does not exist, or has expired."""


@struct
class FieldSchema(Struct):
    """A column."""

    name: Annotated[str | None, wire(1, STRING)] = None
    type: Annotated[str | None, wire(2, STRING)] = None
    comment: Annotated[str | None, wire(3, STRING)] = None


_COLUMNS = list_of(struct_of(FieldSchema))


@struct
class PrivilegeGrantInfo(Struct):
    """A privilege."""

    privilege: Annotated[str | None, wire(1, STRING)] = None
    create_time: Annotated[int | None, wire(2, I32)] = None
    grantor: Annotated[str | None, wire(3, STRING)] = None
    grantor_type: Annotated[int | None, wire(4, I32)] = None
    grant_option: Annotated[bool | None, wire(5, BOOL)] = None


_GRANTS = map_of(STRING, list_of(struct_of(PrivilegeGrantInfo)))
Grants = dict[str, list[PrivilegeGrantInfo]]


@struct
class PrincipalPrivilegeSet(Struct):
    """The privileges of users, groups and roles."""

    user_privileges: Annotated[Grants | None, wire(1, _GRANTS)] = None
    group_privileges: Annotated[Grants | None, wire(2, _GRANTS)] = None
    role_privileges: Annotated[Grants | None, wire(3, _GRANTS)] = None


_PRIVILEGES = struct_of(PrincipalPrivilegeSet)


@struct
class Database(Struct):
    """A database."""

    name: Annotated[str | None, wire(1, STRING)] = None
    description: Annotated[str | None, wire(2, STRING)] = None
    location_uri: Annotated[str | None, wire(3, STRING)] = None
    parameters: Annotated[dict[str, str] | None, wire(4, STRING_MAP)] = None
    privileges: Annotated[PrincipalPrivilegeSet | None, wire(5, _PRIVILEGES)] = None
    owner_name: Annotated[str | None, wire(6, STRING)] = None
    owner_type: Annotated[int | None, wire(7, I32)] = None
    catalog_name: Annotated[str | None, wire(8, STRING)] = None
    create_time: Annotated[int | None, wire(9, I32)] = None
    managed_location_uri: Annotated[str | None, wire(10, STRING)] = None
    type: Annotated[int | None, wire(11, I32)] = None
    connector_name: Annotated[str | None, wire(12, STRING)] = None
    remote_db_name: Annotated[str | None, wire(13, STRING)] = None


@struct
class SerDeInfo(Struct):
    """The serializer of a table."""

    name: Annotated[str | None, wire(1, STRING)] = None
    serialization_lib: Annotated[str | None, wire(2, STRING)] = None
    parameters: Annotated[dict[str, str] | None, wire(3, STRING_MAP)] = None
    description: Annotated[str | None, wire(4, STRING)] = None
    serializer_class: Annotated[str | None, wire(5, STRING)] = None
    deserializer_class: Annotated[str | None, wire(6, STRING)] = None
    serde_type: Annotated[int | None, wire(7, I32)] = None


@struct
class Order(Struct):
    """A sort column: ascending 1, descending 0."""

    column: Annotated[str | None, wire(1, STRING)] = None
    order: Annotated[int | None, wire(2, I32)] = None


@struct
class SkewedInfo(Struct):
    """The skewed values of a table (without their locations, whose keys are lists)."""

    skewed_column_names: Annotated[list[str] | None, wire(1, STRINGS)] = None
    skewed_column_values: Annotated[list[list[str]] | None, wire(2, list_of(STRINGS))] = None


@struct
class StorageDescriptor(Struct):
    """The columns, the location and the format of a table or partition."""

    columns: Annotated[list[FieldSchema] | None, wire(1, _COLUMNS)] = None
    location: Annotated[str | None, wire(2, STRING)] = None
    input_format: Annotated[str | None, wire(3, STRING)] = None
    output_format: Annotated[str | None, wire(4, STRING)] = None
    compressed: Annotated[bool | None, wire(5, BOOL)] = None
    num_buckets: Annotated[int | None, wire(6, I32)] = None
    serde_info: Annotated[SerDeInfo | None, wire(7, struct_of(SerDeInfo))] = None
    bucket_columns: Annotated[list[str] | None, wire(8, STRINGS)] = None
    sort_columns: Annotated[list[Order] | None, wire(9, list_of(struct_of(Order)))] = None
    parameters: Annotated[dict[str, str] | None, wire(10, STRING_MAP)] = None
    skewed_info: Annotated[SkewedInfo | None, wire(11, struct_of(SkewedInfo))] = None
    stored_as_sub_directories: Annotated[bool | None, wire(12, BOOL)] = None


@struct
class Table(Struct):
    """A table or view."""

    table_name: Annotated[str | None, wire(1, STRING)] = None
    db_name: Annotated[str | None, wire(2, STRING)] = None
    owner: Annotated[str | None, wire(3, STRING)] = None
    create_time: Annotated[int | None, wire(4, I32)] = None
    last_access_time: Annotated[int | None, wire(5, I32)] = None
    retention: Annotated[int | None, wire(6, I32)] = None
    storage: Annotated[StorageDescriptor | None, wire(7, struct_of(StorageDescriptor))] = None
    partition_keys: Annotated[list[FieldSchema] | None, wire(8, _COLUMNS)] = None
    parameters: Annotated[dict[str, str] | None, wire(9, STRING_MAP)] = None
    view_original_text: Annotated[str | None, wire(10, STRING)] = None
    view_expanded_text: Annotated[str | None, wire(11, STRING)] = None
    table_type: Annotated[str | None, wire(12, STRING)] = None
    privileges: Annotated[PrincipalPrivilegeSet | None, wire(13, _PRIVILEGES)] = None
    temporary: Annotated[bool | None, wire(14, BOOL)] = None
    rewrite_enabled: Annotated[bool | None, wire(15, BOOL)] = None
    cat_name: Annotated[str | None, wire(17, STRING)] = None
    owner_type: Annotated[int | None, wire(18, I32)] = None
    write_id: Annotated[int | None, wire(19, I64)] = None
    is_stats_compliant: Annotated[bool | None, wire(20, BOOL)] = None
    access_type: Annotated[int | None, wire(22, BYTE)] = None
    required_read_capabilities: Annotated[list[str] | None, wire(23, STRINGS)] = None
    required_write_capabilities: Annotated[list[str] | None, wire(24, STRINGS)] = None


@struct
class Partition(Struct):
    """A partition."""

    values: Annotated[list[str] | None, wire(1, STRINGS)] = None
    db_name: Annotated[str | None, wire(2, STRING)] = None
    table_name: Annotated[str | None, wire(3, STRING)] = None
    create_time: Annotated[int | None, wire(4, I32)] = None
    last_access_time: Annotated[int | None, wire(5, I32)] = None
    storage: Annotated[StorageDescriptor | None, wire(6, struct_of(StorageDescriptor))] = None
    parameters: Annotated[dict[str, str] | None, wire(7, STRING_MAP)] = None
    privileges: Annotated[PrincipalPrivilegeSet | None, wire(8, _PRIVILEGES)] = None
    cat_name: Annotated[str | None, wire(9, STRING)] = None
    write_id: Annotated[int | None, wire(10, I64)] = None


@struct
class EnvironmentContext(Struct):
    """Properties that change how the metastore does a request."""

    properties: Annotated[dict[str, str] | None, wire(1, STRING_MAP)] = None


@struct
class ClientCapabilities(Struct):
    """What a client understands."""

    values: Annotated[list[int] | None, wire(1, NUMBERS)] = None


_CAPABILITIES = struct_of(ClientCapabilities)


@struct
class GetTableRequest(Struct):
    """Request of one table."""

    db_name: Annotated[str | None, wire(1, STRING)] = None
    table_name: Annotated[str | None, wire(2, STRING)] = None
    capabilities: Annotated[ClientCapabilities | None, wire(3, _CAPABILITIES)] = None


@struct
class GetTableResult(Struct):
    """One table."""

    table: Annotated[Table | None, wire(1, struct_of(Table))] = None


@struct
class GetTablesRequest(Struct):
    """Request of several tables."""

    db_name: Annotated[str | None, wire(1, STRING)] = None
    table_names: Annotated[list[str] | None, wire(2, STRINGS)] = None
    capabilities: Annotated[ClientCapabilities | None, wire(3, _CAPABILITIES)] = None


@struct
class GetTablesResult(Struct):
    """Several tables."""

    tables: Annotated[list[Table] | None, wire(1, list_of(struct_of(Table)))] = None


@struct
class AddPartitionsRequest(Struct):
    """Request to add partitions."""

    db_name: Annotated[str | None, wire(1, STRING)] = None
    table_name: Annotated[str | None, wire(2, STRING)] = None
    partitions: Annotated[list[Partition] | None, wire(3, list_of(struct_of(Partition)))] = None
    if_not_exists: Annotated[bool | None, wire(4, BOOL)] = None
    need_result: Annotated[bool | None, wire(5, BOOL)] = None
    cat_name: Annotated[str | None, wire(6, STRING)] = None


@struct
class AddPartitionsResult(Struct):
    """The partitions that were added."""

    partitions: Annotated[list[Partition] | None, wire(1, list_of(struct_of(Partition)))] = None


@struct
class LockComponent(Struct):
    """What a lock protects: a table."""

    type: Annotated[int | None, wire(1, I32)] = None
    level: Annotated[int | None, wire(2, I32)] = None
    db_name: Annotated[str | None, wire(3, STRING)] = None
    table_name: Annotated[str | None, wire(4, STRING)] = None


_COMPONENTS = list_of(struct_of(LockComponent))


@struct
class LockRequest(Struct):
    """Request of a lock."""

    component: Annotated[list[LockComponent] | None, wire(1, _COMPONENTS)] = None
    user: Annotated[str | None, wire(3, STRING)] = None
    hostname: Annotated[str | None, wire(4, STRING)] = None
    agent_info: Annotated[str | None, wire(5, STRING)] = None


@struct
class LockResponse(Struct):
    """The state of a lock."""

    lock_id: Annotated[int | None, wire(1, I64)] = None
    state: Annotated[int | None, wire(2, I32)] = None


@struct
class CheckLockRequest(Struct):
    """Request of the state of a lock."""

    lock_id: Annotated[int | None, wire(1, I64)] = None


@struct
class UnlockRequest(Struct):
    """Request to release a lock."""

    lock_id: Annotated[int | None, wire(1, I64)] = None


@struct
class ShowLocksRequest(Struct):
    """Request of the locks of a table."""

    db_name: Annotated[str | None, wire(1, STRING)] = None
    table_name: Annotated[str | None, wire(2, STRING)] = None


@struct
class ShownLock(Struct):
    """A lock of a table (ShowLocksResponseElement)."""

    lock_id: Annotated[int | None, wire(1, I64)] = None
    db_name: Annotated[str | None, wire(2, STRING)] = None
    table_name: Annotated[str | None, wire(3, STRING)] = None
    state: Annotated[int | None, wire(5, I32)] = None
    agent_info: Annotated[str | None, wire(13, STRING)] = None


@struct
class ShowLocksResponse(Struct):
    """The locks of a table."""

    locks: Annotated[list[ShownLock] | None, wire(1, list_of(struct_of(ShownLock)))] = None
