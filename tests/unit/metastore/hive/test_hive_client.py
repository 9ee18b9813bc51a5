import pickle
import random
from collections.abc import Callable

import pytest
from thrift.Thrift import TApplicationException, TMessageType

from paimon_explore.errors import (
    InvalidInputError,
    InvalidResponseError,
    PaimonError,
    StorageError,
)
from paimon_explore.metastore.hive import metastore_methods as methods
from paimon_explore.metastore.hive import metastore_structs as hms
from paimon_explore.metastore.hive.hive_client import (
    MAX_ELEMENTS,
    LostReplyError,
    UnknownMethodError,
)
from paimon_explore.metastore.hive.thrift_struct import Message, ThriftError
from support.depth import DEEP
from support.fake_metastore import (
    CLOSE,
    SILENCE,
    client_of,
    failure,
    fake_metastore,
    framed,
    reply,
    scripted,
    strings,
    unused_address,
)

DATABASE = hms.Database(
    name="db", description="ä", location_uri="s3://b/db.db", parameters={"a": "1"}, owner_type=1
)


def database(_name: str, number: int) -> bytes:
    return reply(methods.GET_DATABASE, number, success=DATABASE)


def test_a_struct_is_read_with_all_its_fields() -> None:
    with fake_metastore(database) as address:
        client = client_of(address)
        assert client.call(methods.GET_DATABASE, "db") == DATABASE
        assert client.call(methods.GET_DATABASE, "db") == DATABASE
        client.close()


def test_exceptions_of_the_metastore_are_told_apart() -> None:
    missing = hms.NoSuchObjectException("no db")

    def answer(name: str, number: int) -> bytes:
        if name == "get_database":
            return reply(methods.GET_DATABASE, number, o1=missing)
        if name == "create_database":
            return reply(
                methods.CREATE_DATABASE, number, o2=hms.InvalidObjectException("bad\nname")
            )
        return reply(methods.GET_ALL_DATABASES, number, o1=hms.MetaException("no disk"))

    with fake_metastore(answer) as address:
        client = client_of(address)
        with pytest.raises(hms.NoSuchObjectException, match="no db"):
            client.call(methods.GET_DATABASE, "db")
        with pytest.raises(InvalidInputError, match=r"refuses create_database: bad name\."):
            client.call(methods.CREATE_DATABASE, DATABASE)
        with pytest.raises(StorageError, match="no disk"):
            client.call(methods.GET_ALL_DATABASES)
        client.close()


def test_the_next_address_is_used_if_the_first_refuses() -> None:
    with fake_metastore(database) as address:
        client = client_of(unused_address(), address)
        assert client.call(methods.GET_DATABASE, "db") == DATABASE
        client.close()


def test_no_address_answers() -> None:
    first, second = unused_address(), unused_address()
    uri = f"thrift://127.0.0.1:{first[1]},thrift://127.0.0.1:{second[1]}"
    with pytest.raises(StorageError, match="refused") as caught:
        client_of(first, second).call(methods.GET_ALL_DATABASES)
    assert uri in str(caught.value)
    assert "'uri'" in caught.value.hint


def test_an_unknown_host_is_named() -> None:
    with pytest.raises(StorageError, match=r"thrift://no\.such\.host\.invalid:9083"):
        client_of(("no.such.host.invalid", 9083)).call(methods.GET_ALL_DATABASES)


def test_a_request_without_side_effects_is_repeated_after_a_broken_connection() -> None:
    answer = scripted(lambda _name, _number: CLOSE, database)
    with fake_metastore(answer) as address:
        client = client_of(address)
        assert client.call(methods.GET_DATABASE, "db") == DATABASE
        client.close()


def test_a_lost_reply_to_another_request_is_told() -> None:
    requests: list[str] = []

    def answer(name: str, _number: int) -> bytes:
        requests.append(name)
        return CLOSE

    with fake_metastore(answer) as address:
        client = client_of(address)
        with pytest.raises(LostReplyError, match="before the reply to create_database"):
            client.call(methods.CREATE_DATABASE, DATABASE)
        with pytest.raises(LostReplyError, match="before the reply to get_database"):
            client.call(methods.GET_DATABASE, "db")
    assert requests == ["create_database", *["get_database"] * 3]


def test_a_silent_server_times_out() -> None:
    with fake_metastore(lambda _name, _number: SILENCE) as address:
        client = client_of(address, timeout=0.5, retries=0)
        with pytest.raises(StorageError, match=r"no reply to \w+ within 0\.5 s"):
            client.call(methods.GET_ALL_DATABASES)


def test_a_method_that_the_metastore_does_not_know() -> None:
    def answer(name: str, number: int) -> bytes:
        if name == "get_table_req":
            return failure(name, number, TApplicationException.UNKNOWN_METHOD, "Invalid method")
        return failure(name, number, TApplicationException.INTERNAL_ERROR, "Internal error")

    with fake_metastore(answer) as address:
        client = client_of(address)
        with pytest.raises(UnknownMethodError, match="get_table_req"):
            client.call(methods.GET_TABLE_REQUEST, hms.GetTableRequest(db_name="d"))
        with pytest.raises(StorageError, match="get_table failed: Internal error"):
            client.call(methods.GET_TABLE, "d", "t")
        client.close()


WRONG: dict[str, Callable[[str, int], bytes]] = {
    "an HTTP server": lambda _n, _i: b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n",
    "zeros": lambda _n, _i: bytes(64),
    "a reply to another method": lambda _n, i: strings("get_all_tables", i, "a"),
    "a reply to another request": lambda n, i: strings(n, i + 1, "a"),
    "a request": lambda n, i: framed(n, TMessageType.CALL, i, Message(())),
    "a reply without a result": lambda n, i: framed(n, TMessageType.REPLY, i, Message(())),
    "another version": lambda n, i: b"\x80\x02" + strings(n, i, "a")[2:],
    "too many elements": lambda n, i: strings(n, i, "a").replace(
        b"\x00\x00\x00\x01\x00\x00\x00\x01a", (MAX_ELEMENTS + 1).to_bytes(4, "big") + b"\x00" * 9
    ),
    "a text of 2 GB": lambda n, i: strings(n, i, "a").replace(
        b"\x00\x00\x00\x01a", b"\x7f\xff\xff\xffa"
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_reply_that_is_not_of_a_metastore_is_an_error(case: str) -> None:
    with fake_metastore(WRONG[case]) as address:
        client = client_of(address, retries=0, timeout=10)
        with pytest.raises(InvalidResponseError, match="not that of a Hive metastore"):
            client.call(methods.GET_ALL_DATABASES)
        client.close()


def test_half_a_reply_is_an_error() -> None:
    whole = reply(methods.GET_DATABASE, 2, success=DATABASE)
    sizes = iter(range(0, len(whole), 7))

    with fake_metastore(lambda _name, _number: whole[: next(sizes)] + CLOSE) as address:
        client = client_of(address, retries=0)
        for _ in range(0, len(whole), 7):
            with pytest.raises(StorageError, match="reply to get_database"):
                client.call(methods.GET_DATABASE, "db")


def test_damaged_replies_give_named_errors() -> None:
    chance = random.Random(7)  # noqa: S311 - damage
    whole = reply(methods.GET_DATABASE, 2, success=DATABASE)

    def answer(_name: str, _number: int) -> bytes:
        data = bytearray(whole)
        for _ in range(chance.randint(1, 3)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        return bytes(data)

    with fake_metastore(answer) as address:
        for _ in range(3000 if DEEP else 60):
            client = client_of(address, retries=0, timeout=0.02)
            try:
                found = client.call(methods.GET_DATABASE, "db")
            except (PaimonError, ThriftError):
                pass
            else:
                assert isinstance(found, hms.Database)
            client.close()


def test_a_pickled_client_connects_by_itself() -> None:
    with fake_metastore(database) as address:
        client = client_of(address)
        client.call(methods.GET_DATABASE, "db")
        copy = pickle.loads(pickle.dumps(client))  # noqa: S301 - our own bytes
        assert copy.call(methods.GET_DATABASE, "db") == DATABASE
        copy.close()
        client.close()


def test_a_connection_that_the_server_closed_is_opened_again() -> None:
    requests: list[str] = []

    def answer(name: str, number: int) -> bytes:
        requests.append(name)
        return database(name, number)

    with fake_metastore(answer) as address:
        client = client_of(address)
        client.call(methods.GET_DATABASE, "db")
        client.close()
        assert client.call(methods.GET_DATABASE, "db") == DATABASE
        client.close()
    assert requests == ["get_database"] * 2


def test_a_server_that_closes_connections_is_named() -> None:
    with fake_metastore(lambda _name, _number: CLOSE, greets=False) as address:
        with pytest.raises(StorageError, match="broke before the reply to set_ugi") as caught:
            client_of(address).call(methods.GET_ALL_DATABASES)
        assert "'uri'" in caught.value.hint
