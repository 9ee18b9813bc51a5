"""Copies of files of a store on the local disk."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from paimon_explore.fileio.disk_cache import DiskCache, is_used_once

UUID = "2b9fdd06-ba60-45b0-b1f1-50a923402e4a"
FILE = f"http://h s3://b/t/bucket-0/data-{UUID}-0.parquet"


def content(number: int, size: int = 1000) -> bytes:
    return bytes([number % 251]) * size


def file_of(number: int) -> str:
    return FILE.replace("-0.parquet", f"-{number}.parquet")


def refuse() -> bytes:
    raise AssertionError("the store was asked")


def modified(path: Path) -> float:
    return path.stat().st_mtime


def copies(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_a_file_is_fetched_once_by_all_processes(tmp_path: Path) -> None:
    assert DiskCache(str(tmp_path / "c")).get(FILE, "whole", lambda: b"abc") == b"abc"
    other = DiskCache(str(tmp_path / "c"))
    assert other.get(FILE, "whole", refuse) == b"abc"
    assert other.get(FILE, "0 2", lambda: b"ab") == b"ab", "a part has its own copy"
    assert other.get(file_of(1), "whole", lambda: b"") == b""
    assert other.get(file_of(1), "whole", refuse) == b"", "an empty file"
    mode = (tmp_path / "c").stat().st_mode
    assert os.name == "nt" or mode & 0o077 == 0, "others may not read it"


@pytest.mark.parametrize(
    "path",
    [
        "snapshot/LATEST",
        "snapshot/snapshot-7",
        "schema/schema-0",
        f"tag/tag-{UUID}",
        f"consumer/consumer-{UUID}",
        f"branch/branch-{UUID}/snapshot/snapshot-1",
        f"branch/branch-{UUID}/schema/schema-1",
        "bucket-0/data-1.parquet",
        f"manifest/.probe-{UUID}/x",
    ],
)
def test_files_that_may_change_are_always_fetched(path: str, tmp_path: Path) -> None:
    cache = DiskCache(str(tmp_path / "c"))
    assert cache.get(f"s3://b/t/{path}", "whole", lambda: b"old") == b"old"
    assert cache.get(f"s3://b/t/{path}", "whole", lambda: b"new") == b"new"
    assert copies(tmp_path) == []


@pytest.mark.parametrize(
    "path",
    [
        f"bucket-0/data-{UUID}-0.parquet",
        f"dt=1/bucket-12/changelog-{UUID}-0.orc",
        f"bucket-postpone/data-u-x-s-0-w-{UUID}-0.avro",
        f"bucket-0/data-{UUID}-0.parquet.index",
        f"manifest/manifest-{UUID}-0",
        f"manifest/manifest-list-{UUID}-1",
        f"manifest/index-manifest-{UUID}-1",
        f"index/index-{UUID}-0",
        f"statistics/stat-{UUID}-0",
    ],
)
def test_files_whose_name_is_used_once_have_copies(path: str) -> None:
    assert is_used_once(f"s3://b/t/{path}")


@pytest.mark.parametrize("kept", [0, 3, 15, 16, 40, 1000])
def test_a_damaged_copy_is_fetched_again(kept: int, tmp_path: Path) -> None:
    cache = DiskCache(str(tmp_path))
    cache.get(FILE, "whole", lambda: content(1))
    (copy,) = copies(tmp_path)
    copy.write_bytes(copy.read_bytes()[:kept])
    assert cache.get(FILE, "whole", lambda: content(2)) == content(2)
    assert cache.get(FILE, "whole", refuse) == content(2)


def test_a_changed_byte_of_a_copy_is_seen(tmp_path: Path) -> None:
    cache = DiskCache(str(tmp_path))
    cache.get(FILE, "whole", lambda: content(1, 50))
    (copy,) = copies(tmp_path)
    whole = copy.read_bytes()
    for place in range(len(whole)):
        copy.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert cache.get(FILE, "whole", lambda: content(2, 50)) == content(2, 50), place


def test_copies_that_were_not_used_for_long_are_removed(tmp_path: Path) -> None:
    cache = DiskCache(str(tmp_path), max_bytes=20_000)
    for number in range(100):
        cache.get(file_of(number), "whole", lambda number=number: content(number))  # type: ignore[misc]  # bound now
        for age, copy in enumerate(sorted(copies(tmp_path), key=modified, reverse=True)):
            os.utime(copy, (1e9 - age, 1e9 - age))
        assert cache.get(file_of(0), "whole", refuse) == content(0), "it is used all the time"
    cache.shrink()
    assert sum(copy.stat().st_size for copy in copies(tmp_path)) <= 20_000
    assert len(copies(tmp_path)) >= 15
    assert cache.get(file_of(99), "whole", refuse) == content(99)


def test_a_file_larger_than_a_quarter_of_the_limit_has_no_copy(tmp_path: Path) -> None:
    cache = DiskCache(str(tmp_path), max_bytes=3_000)
    assert cache.get(FILE, "whole", lambda: content(1)) == content(1)
    assert copies(tmp_path) == []


def test_remnants_of_processes_that_ended_are_removed(tmp_path: Path) -> None:
    cache = DiskCache(str(tmp_path))
    cache.get(FILE, "whole", lambda: b"abc")
    (copy,) = copies(tmp_path)
    old, young = copy.with_name("1.tmp"), copy.with_name("2.tmp")
    old.write_bytes(b"x")
    young.write_bytes(b"x")
    os.utime(old, (1e9, 1e9))
    cache.shrink()
    assert copies(tmp_path) == sorted([copy, young])


def test_an_unusable_folder_does_not_fail_a_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    cache = DiskCache(str(tmp_path / "file" / "c"))
    for _ in range(2):
        assert cache.get(FILE, "whole", lambda: b"abc") == b"abc"


def test_an_error_of_the_store_leaves_no_copy(tmp_path: Path) -> None:
    cache = DiskCache(str(tmp_path))
    failing: Callable[[], bytes] = lambda: (_ for _ in ()).throw(OSError("gone"))  # noqa: E731 - short
    with pytest.raises(OSError, match="gone"):
        cache.get(FILE, "whole", failing)
    assert cache.get(FILE, "whole", lambda: b"abc") == b"abc"


_WORKER = """
import random, sys
from paimon_explore.fileio.disk_cache import DiskCache

cache = DiskCache(sys.argv[1], max_bytes=60_000)
draw = random.Random(sys.argv[2])
print("ready", flush=True)
for _ in range(1500):
    number = draw.randrange(90)
    expected = bytes([number]) * 1000
    path = f"http://h s3://b/t/bucket-0/data-2b9fdd06-ba60-45b0-b1f1-50a923402e4a-{number}.parquet"
    assert cache.get(path, "whole", lambda: expected) == expected
"""


def test_processes_that_write_remove_and_die_leave_only_whole_copies(tmp_path: Path) -> None:
    workers = [
        subprocess.Popen(  # noqa: S603 - this very program
            [sys.executable, "-c", _WORKER, str(tmp_path), str(seed)],
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        for seed in range(4)
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    workers[0].kill()
    assert [worker.wait(60) for worker in workers][1:] == [0, 0, 0]
    for worker in workers:
        assert worker.stdout is not None
        worker.stdout.close()
    cache = DiskCache(str(tmp_path), max_bytes=60_000)
    found = [cache.get(file_of(n), "whole", lambda n=n: content(n)) for n in range(90)]  # type: ignore[misc]  # bound now
    assert found == [bytes([n]) * 1000 for n in range(90)]
    cache.shrink()
    assert sum(copy.stat().st_size for copy in copies(tmp_path)) <= 60_000
