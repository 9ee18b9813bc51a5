"""A TCP proxy on loopback that loses replies on purpose: the server has done the request."""

import random
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_CHUNK = 1 << 16


@contextmanager
def lossy_proxy(target: tuple[str, int], *, losses: float, seed: int = 1) -> Iterator[int]:
    """Forward connections to a server; yield the port.

    Args:
        target: the host and port of the server.
        losses: the share of replies instead of which the connection is closed.
        seed: makes the losses repeatable, but for the order of connections.
    """
    chance = random.Random(seed)  # noqa: S311 - losses
    with socket.create_server(("127.0.0.1", 0)) as server:
        ends = threading.Event()
        thread = threading.Thread(target=_serve, args=(server, target, losses, chance, ends))
        thread.start()
        port: int = server.getsockname()[1]
        try:
            yield port
        finally:
            ends.set()
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                pass
            thread.join(10)


def _serve(
    server: socket.socket,
    target: tuple[str, int],
    losses: float,
    chance: random.Random,
    ends: threading.Event,
) -> None:
    while not ends.is_set():
        client, _ = server.accept()
        if ends.is_set():
            client.close()
            return
        arguments = (client, target, losses, chance)
        threading.Thread(target=_forward, args=arguments, daemon=True).start()


def _forward(
    client: socket.socket, target: tuple[str, int], losses: float, chance: random.Random
) -> None:
    with client, socket.create_connection(target, 10) as server:
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        upstream = threading.Thread(target=_copy, args=(client, server), daemon=True)
        upstream.start()
        with suppress(OSError):
            while data := server.recv(_CHUNK):
                if chance.random() < losses:
                    break
                client.sendall(data)
        for end in (client, server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        upstream.join(10)


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(_CHUNK):
            target.sendall(data)
        target.shutdown(socket.SHUT_RDWR)
