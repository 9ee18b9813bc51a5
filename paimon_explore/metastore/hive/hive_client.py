"""`HiveClient`: requests to a Hive metastore, with several addresses, time-outs and retries.

A broken connection is opened again, at the next address. A request whose effect is the same when
it is repeated is sent again; for others `LostReplyError` tells the caller to look first whether
the request took effect.
"""

import os
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
from thrift.protocol.TProtocol import TProtocolException
from thrift.Thrift import TApplicationException, TMessageType
from thrift.transport.TSocket import TSocket
from thrift.transport.TTransport import (
    TBufferedTransport,
    TFramedTransport,
    TTransportException,
)

from paimon_explore.errors import (
    InvalidInputError,
    InvalidResponseError,
    StorageError,
    UnsupportedFeatureError,
)
from paimon_explore.metastore.hive.hive_settings import HiveSettings
from paimon_explore.metastore.hive.metastore_methods import SET_UGI, Method
from paimon_explore.metastore.hive.metastore_structs import (
    InvalidObjectException,
    InvalidOperationException,
    MetaException,
)
from paimon_explore.metastore.hive.thrift_struct import Message, ThriftError
from paimon_explore.threads import free_in_forks

R = TypeVar("R")

MAX_TEXT_BYTES = 64 * 1024 * 1024
"""Maximum size of a text in a reply."""
MAX_ELEMENTS = 1 << 20
"""Maximum number of elements of a list in a reply."""

_MALFORMED = (
    TProtocolException,
    UnicodeDecodeError,
    struct.error,
    EOFError,
    TypeError,
    ValueError,
    OverflowError,
    MemoryError,
    RecursionError,
)
"""What the decoder raises for bytes that are not a reply."""


class LostReplyError(StorageError):
    """The connection broke before the reply arrived: the request may have taken effect."""


class UnknownMethodError(UnsupportedFeatureError):
    """The metastore does not know a method."""


class _Connection:
    """An open connection."""

    def __init__(self, settings: HiveSettings, address: tuple[str, int]) -> None:
        connected = socket.create_connection(address, settings.connect_timeout)
        try:
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if settings.tls:
                context = ssl.create_default_context()
                connected = context.wrap_socket(connected, server_hostname=address[0])
            connected.settimeout(settings.timeout)
        except BaseException:
            connected.close()
            raise
        self.process = os.getpid()
        self._socket = TSocket(*address)
        self._socket.setHandle(connected)
        wrapped = TFramedTransport if settings.framed else TBufferedTransport
        self._transport = wrapped(self._socket)
        self._protocol = TBinaryProtocolAccelerated(
            self._transport,
            strictRead=True,
            string_length_limit=MAX_TEXT_BYTES,
            container_length_limit=MAX_ELEMENTS,
        )
        self._number = 0

    def is_open(self) -> bool:
        """Return whether the server has not closed the connection."""
        return bool(self._socket.isOpen())

    def close(self) -> None:
        """Close the connection."""
        self._transport.close()

    def __del__(self) -> None:
        """Close the connection of a client that is no longer used."""
        if hasattr(self, "_transport"):
            self.close()

    def send(self, method: Method[R], arguments: tuple[object, ...]) -> None:
        """Send a request."""
        self._number += 1
        message = Message(method.arguments)
        for number, value in enumerate(arguments, 1):
            setattr(message, f"a{number}", value)
        self._protocol.writeMessageBegin(method.name, TMessageType.CALL, self._number)
        message.write(self._protocol)
        self._protocol.writeMessageEnd()
        self._transport.flush()

    def receive(self, method: Method[R]) -> Message:
        """Read the reply to the last request.

        Raises:
            TApplicationException: the server could not run the request.
            TProtocolException: the reply belongs to another request.
        """
        name, kind, number = self._protocol.readMessageBegin()
        if kind == TMessageType.EXCEPTION:
            failure = TApplicationException()
            failure.read(self._protocol)
            raise failure
        if kind != TMessageType.REPLY or name != method.name or number != self._number:
            raise TProtocolException(message="a reply to another request")
        result = Message(method.results)
        result.read(self._protocol)
        return result


class HiveClient:
    """A client of a Hive metastore; can be shared by threads and pickled.

    Args:
        settings: how to connect.
        sleep: waits for seconds; replaced in tests.
    """

    def __init__(
        self, settings: HiveSettings, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.settings = settings
        self._sleep = sleep
        self._guard = free_in_forks(threading.RLock())
        self._connection: _Connection | None = None
        self._first = 0

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the settings; a copy connects on first use."""
        return (HiveClient, (self.settings,))

    def __repr__(self) -> str:
        """The addresses."""
        return f"HiveClient({self.settings.uri!r})"

    def close(self) -> None:
        """Close the connection; the next request opens it again."""
        with self._guard:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def attempts(self) -> range:
        """The requests of a change whose replies may be lost: how many were sent before each."""
        return range(self.settings.retries + 1)

    def call(self, method: Method[R], *arguments: object) -> R:
        """Send a request and return the result.

        Raises:
            ThriftError: what does not exist or exists, such as `NoSuchObjectException`.
            InvalidInputError: the metastore refuses the object or the operation, or a text is not
                Unicode.
            LostReplyError: the connection broke; the request may have taken effect.
            InvalidResponseError: the reply is not that of a Hive metastore.
            StorageError: no connection, or the metastore failed.
            UnknownMethodError: the metastore does not have the method.
        """
        with self._guard:
            for remaining in range(self.settings.retries, -1, -1):
                connection = self._open()
                try:
                    return self._call_once(connection, method, arguments)
                except LostReplyError:
                    if not method.repeatable or not remaining:
                        raise
                self._sleep(self.settings.delay)
        raise AssertionError

    def _call_once(
        self, connection: _Connection, method: Method[R], arguments: tuple[object, ...]
    ) -> R:
        try:
            connection.send(method, arguments)
            result = connection.receive(method)
        except TApplicationException as error:
            raise self._application_error(method, error) from error
        except (TTransportException, OSError) as error:
            self.close()
            raise self._lost(method, error) from error
        except UnicodeEncodeError as error:
            self.close()
            raise InvalidInputError(
                f"A Hive metastore stores no text that is not Unicode: {error.object!r}."
            ) from error
        except _MALFORMED as error:
            self.close()
            raise self._malformed(method) from error
        except BaseException:  # interrupted: the rest of the reply would be read as the next one
            self.close()
            raise
        return self._value(method, result)

    def _value(self, method: Method[R], result: Message) -> R:
        values = result.__dict__
        for field in method.results[1:]:
            if isinstance(field, tuple) and isinstance(values.get(field[2]), ThriftError):
                raise self._refusal(method, values[field[2]])
        found = values.get("success")
        if not isinstance(found, method.returns):
            self.close()
            raise self._malformed(method)
        return found  # the decoder checks nested types

    def _open(self) -> _Connection:
        """Return the open connection, or connect to the first address that answers."""
        current = self._connection
        if current is not None:
            if current.process != os.getpid():
                self._connection = None  # of the parent process, which still uses it
            elif current.is_open():
                return current
            else:
                self.close()
        addresses = self.settings.addresses
        problem = OSError()
        for attempt in range(self.settings.connect_attempts):
            if attempt:
                self._sleep(self.settings.delay)
            for step in range(len(addresses)):
                index = (self._first + step) % len(addresses)
                try:
                    connection = self._connect(addresses[index])
                except InvalidResponseError:
                    raise
                except OSError as error:
                    problem = error
                else:
                    self._first = index
                    return connection
        raise StorageError(
            "connect to the Hive metastore",
            self.settings.uri,
            _reason(problem),
            hint="Check option 'uri', and that the metastore is running.",
        ) from problem

    def _connect(self, address: tuple[str, int]) -> _Connection:
        """Connect to an address.

        Raises:
            OSError: no connection, or it broke before the first reply.
            InvalidResponseError: the server is not a Hive metastore.
        """
        connection = _Connection(self.settings, address)
        self._connection = connection
        self._introduce(connection)
        return connection

    def _introduce(self, connection: _Connection) -> None:
        """Tell the metastore the user on whose behalf it creates folders, as Java does."""
        user = self.settings.user
        try:
            self._call_once(connection, SET_UGI, (user, [user]))
        except (ThriftError, UnknownMethodError):
            return  # the metastore acts as its own user

    def _lost(self, method: Method[R], error: Exception) -> LostReplyError:
        if isinstance(error, TTransportException) and error.type == TTransportException.TIMED_OUT:
            reason = f"no reply to {method.name} within {self.settings.timeout:g} s"
            hint = "Increase the option 'timeout' of the catalog."
        else:
            reason = f"the connection broke before the reply to {method.name} was complete"
            hint = "Check that the metastore is running and its log."
        return LostReplyError("use the Hive metastore", self.settings.uri, reason, hint=hint)

    def _malformed(self, method: Method[R]) -> InvalidResponseError:
        return InvalidResponseError(
            "use the Hive metastore",
            self.settings.uri,
            f"the reply to {method.name} is not that of a Hive metastore",
            hint="Check the port of option 'uri', and whether the metastore requires TLS "
            "(hive.metastore.use.SSL), frames (hive.metastore.thrift.framed.transport.enabled) "
            "or Kerberos.",
        )

    def _refusal(self, method: Method[R], error: ThriftError) -> Exception:
        """Return the error for an exception of the metastore; callers handle the others."""
        reason = " ".join((error.message or type(error).__name__).split())
        if isinstance(error, InvalidObjectException | InvalidOperationException):
            return InvalidInputError(f"The Hive metastore refuses {method.name}: {reason}.")
        if isinstance(error, MetaException):
            return StorageError("use the Hive metastore", self.settings.uri, reason)
        return error

    def _application_error(self, method: Method[R], error: TApplicationException) -> Exception:
        if error.type == TApplicationException.UNKNOWN_METHOD:
            return UnknownMethodError(
                f"method {method.name}", f"the Hive metastore at {self.settings.uri}"
            )
        return StorageError(
            "use the Hive metastore",
            self.settings.uri,
            f"{method.name} failed: {error.message or error}",
            hint="The log of the metastore tells more.",
        )


def replies_lost(operation: str, name: str) -> StorageError:
    """Return the error of a change whose replies were all lost."""
    return StorageError(
        f"{operation} in the Hive metastore",
        name,
        "every reply was lost",
        hint="Look whether the change took effect before repeating it.",
    )


def _reason(problem: OSError) -> str:
    if isinstance(problem, StorageError):
        return problem.reason
    return problem.strerror or str(problem) or type(problem).__name__
