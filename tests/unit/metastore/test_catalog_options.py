from pathlib import Path

import pytest

from paimon_explore import Catalog
from paimon_explore.errors import InvalidInputError, NotFoundError
from paimon_explore.metastore.catalog_options import CatalogOptions, catalog_options

HIDDEN = "hunter2-hunter2"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def configure(home: Path, text: str) -> None:
    (home / ".paimon.yaml").write_text(text, encoding="utf-8")


def test_a_catalog_is_configured_in_a_file(home: Path) -> None:
    warehouse = home / "warehouse"
    configure(home, f"catalog:\n  prod:\n    warehouse: {warehouse}\n")
    Catalog(warehouse).create_database("sales")
    assert Catalog(name="prod").databases() == ["sales"]


def test_variables_override_the_file_and_arguments_override_both(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(
        home, "catalog:\n  my-prod:\n    uri: a\n    token: b\n    warehouse: c\n    s3: {x.y: 1}"
    )
    monkeypatch.setenv("PAIMON_CATALOG__MY_PROD__URI", "from-variable")
    monkeypatch.setenv("PAIMON_CATALOG__MY_PROD__TOKEN__PROVIDER", "bear")
    monkeypatch.setenv("PAIMON_CATALOG__MY_PROD__CATALOG_KEY", "k")
    monkeypatch.setenv("PAIMON_CATALOG__OTHER__URI", "of-another")
    found = catalog_options("my-prod", {"warehouse": "w"}, {"token": "t", "metastore": None})
    assert found.values == {
        "uri": "from-variable",
        "token": "t",
        "warehouse": "w",
        "s3.x.y": "1",
        "token.provider": "bear",
        "catalog-key": "k",
    }


def test_a_catalog_is_configured_by_variables_alone(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAIMON_CATALOG__DEV__WAREHOUSE", str(home))
    assert Catalog(name="dev").warehouse == str(home)


def test_an_unknown_name_is_told_with_the_configured_ones(home: Path) -> None:
    configure(home, "catalog:\n  prod:\n    uri: a\n")
    with pytest.raises(NotFoundError, match=r"'prdo'.*Did you mean 'prod'\?.*'prod'"):
        Catalog(name="prdo")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("catalog: [", "not valid YAML in line"),
        ("catalogs: {}", "no key 'catalog'"),
        ("- 1", "no key 'catalog'"),
        ("", "no key 'catalog'"),
        ("catalog:\n  prod: 3", "'prod'.*not a mapping"),
        ("catalog:\n  prod:\n    uri: [1, 2]", "'uri' must be a text"),
    ],
)
def test_a_file_that_cannot_be_used_is_told(home: Path, text: str, told: str) -> None:
    configure(home, text)
    with pytest.raises(InvalidInputError, match=told):
        Catalog(name="prod")


def test_keywords_are_options_with_other_separators(tmp_path: Path) -> None:
    found = catalog_options(None, None, {"token_provider": "bear", "lock_enabled": True})
    assert found.values == {"token.provider": "bear", "lock.enabled": "true"}
    with pytest.raises(InvalidInputError, match=r"no argument 'tokn'.*Did you mean 'token'"):
        Catalog(str(tmp_path), tokn="x")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"metastore": "hivee"}, r"'metastore' must be one of .*'hivee'.*Did you mean 'hive'"),
        ({"metastore": "filesystem"}, "requires option 'warehouse'"),
        ({"metastore": "filesystem", "warehouse": " "}, "requires option 'warehouse'"),
        ({"metastore": ["x"]}, "'metastore' must be a text"),
    ],
)
def test_wrong_options_are_told(options: dict[str, object], told: str) -> None:
    with pytest.raises(InvalidInputError, match=told):
        Catalog(options=options)


def test_options_of_other_kinds_are_parsed_or_refused_by_name() -> None:
    found = CatalogOptions({"lock-acquire-timeout": "3 min", "lock.enabled": "yes", "n": "0"})
    assert found.duration_ms("lock-acquire-timeout", 1) == 180_000
    assert found.duration_ms("lock-check-max-sleep", 8_000) == 8_000
    assert found.integer("client-pool-size", 2) == 2
    with pytest.raises(InvalidInputError, match=r"'lock.enabled' must be 'true' or 'false'"):
        found.flag("lock.enabled", default=False)
    with pytest.raises(InvalidInputError, match=r"'n' must be an integer from 1 to .*, not '0'"):
        found.integer("n", 2)


def test_secrets_are_not_shown(tmp_path: Path) -> None:
    options = {
        "uri": f"jdbc:postgresql://host/db?user=me&password={HIDDEN}",
        "jdbc.password": HIDDEN,
        "token": HIDDEN,
        "dlf.access-key-secret": HIDDEN,
        "s3.secret-key": HIDDEN,
        "token.provider": "bear",
    }
    catalog = Catalog(str(tmp_path), options=options)
    rows = catalog.system_table("sys.catalog_options").to_arrow().to_pylist()
    for shown in (
        repr(catalog),
        repr(catalog.options()),
        repr(rows),
        repr(CatalogOptions(options)),
    ):
        assert HIDDEN not in shown
    assert catalog.options()["token.provider"] == "bear"
    assert "s3.secret-key" not in catalog.options()


def test_default_options_of_tables_apply_to_new_tables(tmp_path: Path) -> None:
    catalog = Catalog(str(tmp_path), options={"table-default.bucket": 2, "table-default.x": "y"})
    catalog.create_database("db")
    made = catalog.create_table("db.t", {"id": "INT"}, primary_key="id", options={"x": "z"})
    assert dict(made.schema.options) == {"bucket": "2", "x": "z"}
