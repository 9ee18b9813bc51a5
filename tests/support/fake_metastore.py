"""A Thrift server on loopback whose replies to a Hive client are given bytes."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

from thrift.protocol.TBinaryProtocol import TBinaryProtocol
from thrift.Thrift import TApplicationException, TMessageType
from thrift.transport.TTransport import TMemoryBuffer

from paimon_explore.metastore.hive.hive_client import HiveClient
from paimon_explore.metastore.hive.hive_settings import HiveSettings
from paimon_explore.metastore.hive.metastore_methods import GET_ALL_DATABASES, Method
from paimon_explore.metastore.hive.thrift_struct import Message, Struct

R = TypeVar("R")

CLOSE = b"close"
"""The end of a reply after which the connection is closed."""
SILENCE = b"silence"
"""No reply."""
GREETING = "set_ugi"

Answer = Callable[[str, int], bytes]
"""The reply to a method and the number of its request."""


def reply(method: Method[R], number: int, **values: object) -> bytes:
    """Return a reply: `success`, or an exception `o1`, `o2`, ….

    Args:
        method: the method.
        number: the number of the request.
        values: its fields.
    """
    message = Message(method.results)
    for name, value in values.items():
        setattr(message, name, value)
    return framed(method.name, TMessageType.REPLY, number, message)


def framed(name: str, kind: int, number: int, message: Struct | TApplicationException) -> bytes:
    buffer = TMemoryBuffer()
    protocol = TBinaryProtocol(buffer)
    protocol.writeMessageBegin(name, kind, number)
    message.write(protocol)
    protocol.writeMessageEnd()
    return bytes(buffer.getvalue())


def failure(name: str, number: int, kind: int, text: str) -> bytes:
    error = TApplicationException(kind, text)
    return framed(name, TMessageType.EXCEPTION, number, error)


def strings(name: str, number: int, *texts: str) -> bytes:
    """Return the reply of a method with a list of texts."""
    message = Message(GET_ALL_DATABASES.results)
    message.success = list(texts)
    return framed(name, TMessageType.REPLY, number, message)


@contextmanager
def fake_metastore(
    answer: Answer, *, greets: bool = True, requests: list[bytes] | None = None
) -> Iterator[tuple[str, int]]:
    """Serve connections; yield the address.

    Args:
        answer: the replies.
        greets: whether the greeting of a client is answered without it.
        requests: a list to which each request is added before it is answered.
    """
    if greets:
        answer = greeting(answer)
    with socket.create_server(("127.0.0.1", 0)) as server:
        ends = threading.Event()
        thread = threading.Thread(target=_serve, args=(server, answer, ends, requests), daemon=True)
        thread.start()
        address: tuple[str, int] = server.getsockname()
        try:
            yield address
        finally:
            ends.set()
            with suppress(OSError), socket.create_connection(address, 1):
                pass
            thread.join(10)


def greeting(answer: Answer) -> Answer:
    def greeted(name: str, number: int) -> bytes:
        return strings(name, number, "me") if name == GREETING else answer(name, number)

    return greeted


def arguments(method: Method[R], request: bytes) -> Message:
    """Return the arguments of a request: `a1`, `a2`, …."""
    protocol = TBinaryProtocol(TMemoryBuffer(request))
    protocol.readMessageBegin()
    message = Message(method.arguments)
    message.read(protocol)
    return message


def _serve(
    server: socket.socket, answer: Answer, ends: threading.Event, requests: list[bytes] | None
) -> None:
    opened: list[socket.socket] = []
    while not ends.is_set():
        connection, _ = server.accept()
        opened.append(connection)
        threading.Thread(target=_talk, args=(connection, answer, requests), daemon=True).start()
    for connection in opened:
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        connection.close()


def _talk(connection: socket.socket, answer: Answer, requests: list[bytes] | None) -> None:
    with suppress(OSError, EOFError):
        while True:
            name, number, request = _request(connection)
            if requests is not None:
                requests.append(request)
            data = answer(name, number)
            if data != SILENCE:
                connection.sendall(data.removesuffix(CLOSE))
            if data.endswith(CLOSE):
                connection.shutdown(socket.SHUT_RDWR)
                return


def _request(connection: socket.socket) -> tuple[str, int, bytes]:
    """Read one request: requests are small, so that they arrive at once."""
    data = connection.recv(1 << 16)
    if not data:
        raise EOFError
    size = int.from_bytes(data[4:8], "big")
    name = data[8 : 8 + size].decode()
    return name, int.from_bytes(data[8 + size : 12 + size], "big"), data


def client_of(*addresses: tuple[str, int], **settings: float) -> HiveClient:
    """A client that does not wait between attempts."""
    return HiveClient(
        HiveSettings(addresses=addresses, user="me", **{"timeout": 10, **settings}),  # type: ignore[arg-type]
        sleep=lambda _: None,
    )


def unused_address() -> tuple[str, int]:
    """An address that refuses connections."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address: tuple[str, int] = server.getsockname()
    return address


def scripted(*steps: Answer) -> Answer:
    """Answer requests in order; the last step answers all others."""
    remaining = list(steps)

    def answer(name: str, number: int) -> bytes:
        step = remaining.pop(0) if len(remaining) > 1 else remaining[0]
        return step(name, number)

    return answer
