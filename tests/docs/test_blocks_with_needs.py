"""The code blocks of the documentation that need servers, other frameworks, or Ctrl+C."""

import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from select import select
from tempfile import TemporaryDirectory

import pytest

import paimon_explore as pe
from catalogs.homes import Homes
from peers import PeersMissingError, run_by_peers
from support import torch_stub
from support.code_blocks import Block, Page, Run, documentation, environment
from support.required import lacking
from support.s3 import S3Place, s3_place

PAGES = {page.name: page for page in documentation() if any(block.needs for block in page.blocks)}
OTHER_ENGINES = ".github/docs/how-to/other-engines.md"
FOLLOW_CHANGES = ".github/docs/how-to/follow-changes.md"
SERVERS = "catalog servers and an object store"
SERVER_PAGE = ".github/docs/how-to/object-stores-and-catalogs.md"
KEY = "secret"


def test_each_page_with_needs_is_run_here() -> None:
    needs = {
        name: {block.needs for block in page.blocks if block.needs} for name, page in PAGES.items()
    }
    assert needs == {
        SERVER_PAGE: {SERVERS},
        OTHER_ENGINES: {"PyTorch", "Ray", "Daft"},
        FOLLOW_CHANGES: {"Ctrl+C"},
    }


def run_all(
    page: Page, folder: Path, providers: Mapping[str, Callable[[Block, Run], str]]
) -> dict[str, list[str]]:
    """Run a page; the outputs of the blocks that need something, by their needs."""
    outputs: dict[str, list[str]] = {}
    for block, output in page.outputs(folder, providers):
        if block.needs:
            outputs.setdefault(block.needs, []).append(output)
    assert outputs.keys() == {block.needs for block in page.blocks if block.needs}
    return outputs


# ---------------------------------------------------------------- servers


@dataclass
class Opening:
    """The library, with a note of the catalogs that a page opens."""

    catalogs: list[pe.Catalog]

    def __getattr__(self, name: str) -> object:
        return getattr(pe, name)

    def Catalog(self, *args: object, **options: object) -> pe.Catalog:  # noqa: N802 - a page's name
        """As `pe.Catalog`."""
        made: pe.Catalog = getattr(pe, "Catalog")(*args, **options)  # noqa: B009 - any arguments
        self.catalogs.append(made)
        return made


@pytest.fixture(name="store", scope="module")
def object_store() -> Iterator[S3Place]:
    """A bucket with the table of the pages, whose address and keys are in the environment, too."""
    with s3_place("bucket") as place, pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", place.options["s3.endpoint"])
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, KEY)
        catalog = pe.Catalog("s3://bucket/warehouse", place.options)
        catalog.create_database("shop")
        catalog.create_table("shop.orders", {"id": "INT"}).append([{"id": 7}])
        yield place


@pytest.mark.slow
@pytest.mark.interop
def test_catalogs_of_servers_are_opened_as_shown(
    homes: Homes, store: S3Place, tmp_path: Path
) -> None:
    """Each with the addresses of servers on this machine; all of them list their databases."""
    places = {
        "https://minio.example:9000": store.options["s3.endpoint"],
        "https://…": store.options["s3.endpoint"],
        "https://host": homes.get("rest-2.0.0").options["uri"],
        "jdbc:postgresql://host/db": homes.get("jdbc-postgres").options["uri"],
        "thrift://host:9083": homes.get("hive").options["uri"],
        "s3://…": "s3://bucket/warehouse",
        '"me"': '"postgres"',
        '"…"': f'"{KEY}"',
    }
    opening = Opening([])
    options = f"{{uri: 'jdbc:sqlite:{tmp_path}/c.db', metastore: jdbc, warehouse: {tmp_path}/w}}"
    (tmp_path / ".paimon.yaml").write_text(f"catalog:\n  prod: {options}\n", encoding="utf-8")

    def with_servers(block: Block, run: Run) -> str:
        code = block.code
        for shown, real in places.items():
            code = code.replace(shown, real)
        assert re.findall("//host|…", code) == []
        page.namespace["pe"] = opening
        try:
            return run(replace(block, code=code))
        finally:
            page.namespace["pe"] = pe

    page = PAGES[SERVER_PAGE]
    run_all(page, tmp_path, {SERVERS: with_servers})
    assert len(opening.catalogs) >= 4
    for catalog in opening.catalogs:
        assert isinstance(catalog.databases(), list)
        catalog.close()
    if "table" in page.namespace:
        table = page.namespace["table"]
        assert isinstance(table, pe.Table)


# ---------------------------------------------------------------- frameworks


def with_torch(block: Block, run: Run) -> str:
    """By a stub, as PyTorch is large."""
    with pytest.MonkeyPatch.context() as patch:
        torch_stub.install(patch)
        return run(block)


def with_ray(block: Block, run: Run) -> str:
    """In a cluster of one process."""
    ray = pytest.importorskip("ray", reason="Ray is not installed")
    with TemporaryDirectory(dir="/tmp") as folder:  # sockets need short paths
        ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, _temp_dir=folder)
        try:
            return run(block)
        finally:
            ray.shutdown()


def with_daft(block: Block, _: Run) -> str:
    """In the environment of the peers, as it needs another PyArrow."""
    opened = "import paimon_explore as pe\ntable = pe.open_table('demo-warehouse/demo.db/orders')\n"
    try:
        return run_by_peers(opened + block.code, Path.cwd())
    except PeersMissingError as error:
        lacking("peers", str(error))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Ray's own code
@pytest.mark.interop
def test_datasets_of_frameworks_are_made_as_shown(tmp_path: Path) -> None:
    providers = {"PyTorch": with_torch, "Ray": with_ray, "Daft": with_daft}
    assert PAGES[OTHER_ENGINES].differences(tmp_path, providers) == []


# ---------------------------------------------------------------- until Ctrl+C


def test_a_table_is_followed_in_a_terminal_until_ctrl_c(tmp_path: Path) -> None:
    def until_interrupted(block: Block, _: Run) -> str:
        with subprocess.Popen(  # noqa: S603 - a command of our own pages
            ["bash", "-c", f"exec {block.code}"],  # noqa: S607
            env=environment(os.environ),
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            table = pe.open_table("changing-warehouse/demo.db/customers")
            while not select([process.stdout], [], [], 1)[0]:  # it shows commits after its start
                table.upsert([{"id": 77, "name": "Zoe", "city": "Lyon"}])
            lines = [process.stdout.readline() for _ in ("columns", "line", "row")]
            process.send_signal(signal.SIGINT)
        assert process.returncode == 0
        return "".join(lines)

    (output,) = run_all(PAGES[FOLLOW_CHANGES], tmp_path, {"Ctrl+C": until_interrupted})["Ctrl+C"]
    columns, _, row = output.splitlines()
    assert columns.split() == ["_snapshot", "rowkind", "id", "name", "city"]
    assert row.split()[2:] == ["77", "Zoe", "Lyon"]
