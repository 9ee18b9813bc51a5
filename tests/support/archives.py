"""Archives of tables beside the modules of this folder."""

import shutil
import tarfile
from pathlib import Path


def unpack(archive: Path, name: str, folder: Path) -> Path:
    """Unpack one table of an archive into a folder; returns the path of the table."""
    with tarfile.open(archive) as packed:
        for member in packed:
            stream = packed.extractfile(member)
            if stream is not None and member.name.startswith(f"{name}/"):
                path = folder / member.name
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("wb") as file:
                    shutil.copyfileobj(stream, file)
    return folder / name
