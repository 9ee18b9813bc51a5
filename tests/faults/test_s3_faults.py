"""The proxy that fails requests to an S3 server: each fault does what it says."""

import http.client
from collections.abc import Iterator

import pytest

from support.s3 import S3Place, s3_place
from support.s3_faults import FaultyS3, S3Fault, s3_faults

OUTCOMES = {  # what the client sees of a PUT, and whether the object is there
    S3Fault.RESET_BEFORE: ("reset", False),
    S3Fault.RESET_AFTER: ("reset", True),
    S3Fault.ERROR_BEFORE: ("500", False),
    S3Fault.ERROR_AFTER: ("500", True),
    S3Fault.SLOW_DOWN: ("503", False),
    S3Fault.STALL_BEFORE: ("reset", False),
    S3Fault.STALL_AFTER: ("reset", True),
    S3Fault.CUT: ("reset", True),
    S3Fault.STALL_CUT: ("reset", True),
}


@pytest.fixture(scope="module")
def place() -> Iterator[S3Place]:
    with s3_place("faulty") as found:
        yield found


def asked(faulty: FaultyS3, method: str, key: str, body: bytes | None = None) -> tuple[str, bytes]:
    """The status of a request, or "reset"; and the reply."""
    connection = http.client.HTTPConnection(faulty.options["s3.endpoint"][7:], timeout=20)
    try:
        connection.request(method, f"/faulty/{key}", body, {"Authorization": "AWS k:s"})
        reply = connection.getresponse()
        return str(reply.status), reply.read()
    except http.client.IncompleteRead as error:
        return "cut", error.partial
    except (ConnectionError, http.client.BadStatusLine):
        return "reset", b""
    finally:
        connection.close()


@pytest.mark.parametrize("fault", S3Fault)
def test_a_faulty_put_is_carried_out_or_not_as_its_name_says(
    place: S3Place, fault: S3Fault
) -> None:
    with s3_faults(place, stall_seconds=0.2) as faulty:
        faulty.script = [fault]
        seen, _ = asked(faulty, "PUT", fault.name, b"content")
        found, content = asked(faulty, "GET", fault.name)
    assert (seen, found == "200") == OUTCOMES[fault]
    assert not OUTCOMES[fault][1] or content == b"content"
    assert faulty.faults == {fault: 1}
    assert faulty.requests == {"PUT": 1, "GET": 1}


@pytest.mark.parametrize("fault", [S3Fault.CUT, S3Fault.STALL_CUT])
def test_a_cut_reply_holds_half_of_the_content(place: S3Place, fault: S3Fault) -> None:
    with s3_faults(place, stall_seconds=0.2) as faulty:
        asked(faulty, "PUT", "cut", b"0123456789")
        faulty.script = [fault]
        assert asked(faulty, "GET", "cut") == ("cut", b"01234")


def test_a_share_of_the_requests_fails_the_same_ones_each_time(place: S3Place) -> None:
    runs = []
    for _ in range(2):
        with s3_faults(place, rate=0.2, seed=3) as faulty:
            runs.append([asked(faulty, "GET", "no-such-key")[0] for _ in range(100)])
            assert sum(faulty.faults.values()) == 100 - runs[-1].count("404")
    assert runs[0] == runs[1]
    assert 10 <= 100 - runs[0].count("404") <= 30
