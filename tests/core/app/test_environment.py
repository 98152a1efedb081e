"""Variables out of .env files."""

from pathlib import Path

import pytest
from tests.growth import is_linear

from stackrace.app.app import App, EntryKind, entry_of
from stackrace.app.environment import app_environment, project_variables, read_env_files
from stackrace.base.errors import InputError
from stackrace.base.secrets import masked


def app(**changes):
    defaults = {
        "name": "shop",
        "root": Path("/srv/shop"),
        "entry": entry_of(EntryKind.DJANGO, "shop.settings"),
        "python": Path("/srv/venv/bin/python"),
    }
    return App(**(defaults | changes))


def test_what_belongs_to_another_python_or_project_is_left_out():
    shell = {"PYTHONPATH": "/x", "VIRTUAL_ENV": "/y", "DJANGO_SETTINGS_MODULE": "other", "LANG": "C"}
    found = app_environment(app(), shell)
    assert found["LANG"] == "C"
    assert found["DJANGO_SETTINGS_MODULE"] == "shop.settings"
    assert not {"PYTHONPATH", "VIRTUAL_ENV"} & set(found)


def test_the_apps_interpreter_leads_the_path():
    assert app_environment(app(), {"PATH": "/usr/bin"})["PATH"] == "/srv/venv/bin:/usr/bin"


def test_the_apps_own_variables_win():
    own = {"PYTHONPATH": "lib", "DJANGO_SETTINGS_MODULE": "shop.fast", "LANG": "de"}
    found = app_environment(app(environment=own), {"LANG": "C"})
    assert own.items() <= found.items()


def rack(**changes):
    own = {"entry": entry_of(EntryKind.RACK, "config.ru"), "python": None, "ruby": Path("/opt/ruby/bin/ruby")}
    return app(**(own | changes))


def test_a_rack_app_runs_in_production_unless_its_own_variables_say_otherwise():
    shell = {"PATH": "/usr/bin", "RAILS_ENV": "development"}
    found = app_environment(rack(), shell)
    assert (found["RACK_ENV"], found["RAILS_ENV"]) == ("production", "production")
    assert found["PATH"] == "/opt/ruby/bin:/usr/bin"
    assert app_environment(rack(environment={"RAILS_ENV": "staging"}), shell)["RAILS_ENV"] == "staging"


def test_plain_files_run_with_what_the_shell_has():
    files = app(entry=entry_of(EntryKind.FILES, "."), python=None)
    assert app_environment(files, {"PATH": "/usr/bin"}) == {"PATH": "/usr/bin"}


def test_other_apps_have_no_settings_module():
    other = app(entry=entry_of(EntryKind.WSGI, "notes:app"))
    assert "DJANGO_SETTINGS_MODULE" not in app_environment(other, {"DJANGO_SETTINGS_MODULE": "shop.settings"})


def test_an_interpreter_that_path_would_cut_in_two_is_refused_by_name():
    app = App(name="x", root=Path("/"), entry=entry_of(EntryKind.WSGI, "m:a"), python=Path("/a:b/bin/python"))
    with pytest.raises(InputError, match=r"/a:b/bin/python cannot lead PATH.*\[app\] python"):
        app_environment(app)


def test_quotes_export_comments_and_references_are_understood(tmp_path):
    path = tmp_path / ".env"
    path.write_text("# comment\nexport A=1\nB='x # y'\nC=\"${A}2\"  # more\nEMPTY=\nNOTHING\n")
    assert read_env_files([path]) == {"A": "1", "B": "x # y", "C": "12", "EMPTY": ""}


def test_a_later_file_wins(tmp_path):
    (tmp_path / "a").write_text("A=1\nB=1\n")
    (tmp_path / "b").write_text("B=2\n")
    assert read_env_files([tmp_path / "a", tmp_path / "b"]) == {"A": "1", "B": "2"}


@pytest.mark.parametrize("content", [b"A=1\n=what\n", b"A=1\nB='x\n", b"A=\0\n", b"\xff\xfe"])
def test_a_file_that_is_none_names_the_key(tmp_path, content):
    (tmp_path / ".env").write_bytes(content)
    with pytest.raises(InputError, match=r"--env-file.*\[app\] env_file"):
        read_env_files([tmp_path / ".env"])


def test_a_file_that_is_not_there_names_the_key(tmp_path):
    with pytest.raises(InputError, match="--env-file"):
        read_env_files([tmp_path / "nowhere"])


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("".join(f"V{number}=x\n" for number in range(200_000)), "512 KiB"),
        ("A=" + "x" * 200_000, "line 1: A is longer than 128 KiB"),
        ("A=" + "${" * 200_000, "line 1: A is longer than 128 KiB"),
        ("B=1\nA=a" + " " * 200_000 + "b", "line 2: A is longer"),
        ("A0=12345678\n" + "".join(f"A{n + 1}=${{A{n}}}${{A{n}}}\n" for n in range(60)), "line 15: A14 is longer"),
    ],
)
def test_a_file_of_more_variables_than_a_process_can_be_given_is_refused(tmp_path, content, problem):
    (tmp_path / ".env").write_text(content)
    with pytest.raises(InputError, match=rf"{problem}.*|.*{problem}"):
        read_env_files([tmp_path / ".env"])


@pytest.mark.parametrize(
    "line",
    [
        "V=${}\n", "V=x\n", 'V="\n', "V='\\'", "V=a" + " " * 150, "V=${V}${V}abc\n", "V=${A:-", "\n", " ", "V = ",
        "export ",
    ],
)  # fmt: skip
def test_files_of_variables_are_read_in_linear_time(tmp_path, line):
    def write_and_learn(text):
        (tmp_path / "x.env").write_text(text)
        project_variables.cache_clear()
        project_variables(tmp_path)

    assert is_linear(write_and_learn, lambda size: line * (size // len(line)))


def test_secrets_of_files_that_only_the_app_loads_are_masked(tmp_path):
    path = tmp_path / "prod.env"
    path.write_text(
        'export API_TOKEN = canary-1 # more\nPW=canary-2\nDATABASE_URL="postgres://ana:${PW}x@db/x"\n'
        "KEY='canary-3\ncanary-4'\nA_TOKEN=\"canary-5\\ncanary-6\"\nno line of it\n" + " " * 3000 + "\n"
    )
    project_variables(tmp_path)
    assert "canary" not in masked("canary-1 canary-2x canary-3 canary-4 canary-5 canary-6")
    path.write_text("A=1\n" * (1 << 20) + "\n")
    project_variables.cache_clear()
    with pytest.raises(InputError, match=r"prod\.env may be loaded.*more than 4 MiB"):
        project_variables(tmp_path)
