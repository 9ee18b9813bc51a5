"""Settings of the connection to a Hive metastore: catalog options and `hive-site.xml`."""

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

from paimon_explore.errors import InvalidInputError, StorageError, UnsupportedFeatureError
from paimon_explore.frozen_dataclass import dataclass
from paimon_explore.metastore.catalog_options import CatalogOptions

DEFAULT_PORT = 9083
SITE_FILE = "hive-site.xml"
URIS = "hive.metastore.uris"
_SCHEME = "thrift"
_MAX_SITE_BYTES = 16 * 1024 * 1024
_COUNTS = range(1001)


@dataclass(frozen=True, slots=True, kw_only=True)
class HiveSettings:
    """How to connect to a Hive metastore.

    Attributes:
        addresses: hosts and ports; the first that answers is used.
        user: the user on whose behalf the metastore acts.
        connect_timeout: seconds to wait for a connection.
        timeout: seconds to wait for a part of a reply.
        connect_attempts: how often all addresses are tried.
        retries: how often a request is repeated after a broken connection.
        delay: seconds between attempts.
        framed: whether requests are sent in frames.
        tls: whether the connection is encrypted.
    """

    addresses: tuple[tuple[str, int], ...]
    user: str
    connect_timeout: float = 5
    timeout: float = 120
    connect_attempts: int = 2
    retries: int = 2
    delay: float = 1
    framed: bool = False
    tls: bool = False

    @property
    def uri(self) -> str:
        """The addresses as the option `uri`."""
        return ",".join(f"{_SCHEME}://{_host(host)}:{port}" for host, port in self.addresses)


def hive_configuration(options: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of `hive-site.xml` with the catalog options over them.

    The file is in the folder of the option `hive-conf-dir`, or of the environment variable
    `HIVE_CONF_DIR`.

    Raises:
        StorageError: the file cannot be read.
        InvalidInputError: the file is not a Hadoop configuration.
    """
    folder = options.get("hive-conf-dir") or os.environ.get("HIVE_CONF_DIR")
    settings = _site_settings(Path(folder) / SITE_FILE) if folder else {}
    return {**settings, **options}


def hive_settings(configuration: Mapping[str, str]) -> HiveSettings:
    """Return the settings of the connection.

    Args:
        configuration: what `hive_configuration` returned.

    Raises:
        InvalidInputError: no address, or an unusable value.
        UnsupportedFeatureError: the metastore requires Kerberos.
    """
    options = CatalogOptions(configuration)
    if options.flag("hive.metastore.sasl.enabled", default=False):
        raise UnsupportedFeatureError(
            "Kerberos authentication of a Hive metastore",
            "hive.metastore.sasl.enabled",
            hint="Open the tables by their folders, with open_table or a catalog of the "
            "warehouse's folder, or use a metastore that does not require SASL.",
        )
    return HiveSettings(
        addresses=_addresses(configuration),
        user=current_user(),
        connect_timeout=options.seconds("connect-timeout", 5),
        timeout=options.seconds(
            "timeout", options.seconds("hive.metastore.client.socket.timeout", 120)
        ),
        connect_attempts=max(1, options.integer("hive.metastore.connect.retries", 2, _COUNTS)),
        retries=options.integer("hive.metastore.failure.retries", 2, _COUNTS),
        delay=options.seconds("hive.metastore.client.connect.retry.delay", 1),
        framed=options.flag("hive.metastore.thrift.framed.transport.enabled", default=False),
        tls=options.flag("hive.metastore.use.SSL", default=False),
    )


def current_user() -> str:
    """Return the user as Hadoop sees it: `HADOOP_USER_NAME`, else the user of the process."""
    given = os.environ.get("HADOOP_USER_NAME")
    if given:
        return given
    from getpass import getuser  # noqa: PLC0415 - loads readline's modules

    try:
        return getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def _addresses(configuration: Mapping[str, str]) -> tuple[tuple[str, int], ...]:
    text = configuration.get("uri") or configuration.get(URIS) or ""
    addresses = tuple(_address(uri.strip()) for uri in text.split(",") if uri.strip())
    if not addresses:
        raise InvalidInputError(
            "A catalog with metastore='hive' requires option 'uri'.",
            hint=f"Pass uri='thrift://host:9083', or a folder with {SITE_FILE} as hive_conf_dir.",
        )
    return addresses


def _address(uri: str) -> tuple[str, int]:
    hint = "Write it as 'thrift://host:9083'; several are separated by commas."
    try:
        parts = urlsplit(uri if "://" in uri else f"{_SCHEME}://{uri}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
        parts = None
    if parts is None or parts.scheme != _SCHEME or not host:
        raise InvalidInputError(f"Option 'uri': {uri!r} is not a Hive metastore.", hint=hint)
    return host, port or DEFAULT_PORT


def _host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _site_settings(path: Path) -> dict[str, str]:
    try:
        data = path.read_bytes()
    except OSError as error:
        hint = f"The option 'hive-conf-dir' must be a folder with {SITE_FILE}."
        raise StorageError("read", str(path), error.strerror or str(error), hint=hint) from error
    if len(data) > _MAX_SITE_BYTES or b"<!ENTITY" in data:
        raise InvalidInputError(f"{path} is not a Hadoop configuration file.")
    try:
        root = ET.fromstring(data)  # noqa: S314 - entities are refused above
    except ET.ParseError as error:
        raise InvalidInputError(f"{path} is not a Hadoop configuration file.") from error
    settings = {}
    for entry in root.iter("property"):
        name, value = entry.findtext("name"), entry.findtext("value")
        if name and value is not None:
            settings[name.strip()] = value.strip()
    return settings
