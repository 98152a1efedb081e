from pathlib import Path

from stackrace.app.bundle import bundled


def test_everything_the_description_names_exists():
    app = bundled()
    assert (app.root / "manage.py").is_file()
    assert all(folder.is_dir() for folder in app.static.values())
    assert set(app.urls) <= set(app.pages)
    for services in ((), ("postgresql",), ("mariadb", "memcached")):
        assert app.requirements(services).is_file()


def test_a_database_brings_its_driver():
    assert "psycopg" in bundled().requirements(["postgresql"]).read_text()
    assert bundled().requirements(["memcached"]) == bundled().root / "requirements.txt"


def test_its_data_lies_where_the_caller_says(tmp_path):
    app = bundled().app(python=Path("python"), data=tmp_path)
    assert app.environment == {"APP_DATA": str(tmp_path)}
