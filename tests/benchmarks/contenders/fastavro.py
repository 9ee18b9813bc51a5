"""fastavro, which gives a dictionary per record."""

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import fastavro

Found = dict[str, Any]


def versions() -> Mapping[str, str]:
    return {"fastavro": version("fastavro")}


def decode(warehouse: str, file: str) -> Found:
    with Path(f"{warehouse}/{file}").open("rb") as data:
        return {"records": sum(1 for _ in fastavro.reader(data))}
