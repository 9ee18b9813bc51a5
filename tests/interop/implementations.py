"""Java, pypaimon and pypaimon-rust, each started once, or a skip that says what to install."""

import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from oracle import JavaPaimon, OracleUnavailableError
from paimon_explore import Catalog, Table
from peers import Peers, PeersMissingError
from support.required import lacking
from support.written import KINDS, make

JAVA = os.environ.get("PAIMON_EXPLORE_JAVA", "2.0.0")
"""The version of Java that tests take as the newest; the next one if it has been built."""


def _java(version: str) -> Iterator[JavaPaimon]:
    try:
        started = JavaPaimon(version, heap="1g")
    except OracleUnavailableError as error:
        lacking("java", str(error))
    with started:
        yield started


@pytest.fixture(scope="session")
def java() -> Iterator[JavaPaimon]:
    """The newest Java release, or the version that the environment names."""
    yield from _java(JAVA)


@pytest.fixture(scope="session")
def java_1_4() -> Iterator[JavaPaimon]:
    """Java 1.4.2."""
    yield from _java("1.4.2")


@pytest.fixture(scope="session")
def java_0_9() -> Iterator[JavaPaimon]:
    """Java 0.9.0."""
    yield from _java("0.9.0")


@pytest.fixture(scope="session")
def peers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peers]:
    """Both Python peers."""
    try:
        started = Peers(tmp_path_factory.mktemp("peers"))
    except PeersMissingError as error:
        lacking("peers", str(error))
    yield started
    started.close()


@pytest.fixture
def warehouse(tmp_path: Path) -> Path:
    """The folder of an empty warehouse."""
    folder = tmp_path / "warehouse"
    folder.mkdir()
    return folder


@pytest.fixture
def catalog(warehouse: Path) -> Catalog:
    """The empty warehouse, opened."""
    return Catalog(warehouse)


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Table]:
    """The table of each kind that we write, for tests that do not change it."""
    catalog = Catalog(tmp_path_factory.mktemp("written"))
    return cache(lambda name: make(catalog, name, KINDS[name]))
