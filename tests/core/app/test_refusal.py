"""What an app says when it fails at import is turned into the key that mends it."""

import subprocess
import sys
import traceback
from pathlib import Path

import pytest

from stackrace.app.app import App, EntryKind, entry_of
from stackrace.app.golden import golden
from stackrace.app.refusal import _service_hint, failure_words, import_hint
from stackrace.base.errors import AppError


def refused(made):
    with pytest.raises(AppError) as raised:
        golden(made)
    assert "\n" not in raised.value.message
    return raised.value


HTTPS = {"Location": "https://shop.example.com/"}
REFUSED = {
    "a missing page": (404, {}, {}, ("/ answers 404", "/admin/, /books/", "--url")),
    "no page at all": (404, {}, {"django": False}, ("lists no others", "--url", "--wsgi MODULE:FUNCTION()")),
    "a host": (400, {}, {"allowed_hosts": (".org",)}, ("one of ALLOWED_HOSTS (.org) in [workload] host",)),
    "every host": (400, {}, {"allowed_hosts": ()}, ("ALLOWED_HOSTS in shop.settings is empty",)),
    "an accepted host": (400, {}, {"allowed_hosts": (".example.com",)}, ("Django accepts the Host",)),
    "a host of no Django": (400, {}, {"django": False}, ("[workload] host",)),
    "a redirect": (
        302, {"Location": "/login/?next=/"}, {"via": "/start"},
        ("after a redirect from /start", "--url /login/?next=/ ")),
    "another site": (301, {"Location": "http://www.example.com/"}, {}, ("http://www.example.com/, another site",)),
    "https": (301, HTTPS, {}, ("SECURE_PROXY_SSL_HEADER = (",)),
    "https by a header": (
        301, HTTPS, {"https_header": "X-Scheme"}, ('[workload] headers = { "X-Scheme" = "https" }',)
    ),
    "https by a switch": (
        301, HTTPS, {"https_header": "X-Forwarded-Ssl"}, ('[workload] headers = { "X-Forwarded-Ssl" = "on" }',)
    ),
    "https of no Django": (
        301, HTTPS, {"django": False}, ('[workload] headers = { "X-Forwarded-Proto" = "https" }',)
    ),
    "no user": (401, {}, {}, ("login",)),
    "no right": (403, {}, {}, ("login",)),
    "a silent error": (503, {}, {}, ("no traceback",)),
    "an odd status": (418, {}, {}, ("answers 418, which is no success",)),
    **{
        f"a missing table of {frame}": (
            500,
            {"traceback": f'  File "/srv/{frame}", line 3, in f\nOperationalError: no such table: pages_row'},
            {"django": frame.startswith("django")},
            (f'[app] prepare = ["{command}"]',),
        )
        for frame, command in (
            ("django/db/models/query.py", "python manage.py migrate"),
            ("site-packages/flask/app.py", "flask db upgrade"),
            ("site-packages/starlette/routing.py", "alembic upgrade head"),
        )
    },
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_answer_says_what_helps(reply, examination, case):
    status, said, facts, parts = REFUSED[case]
    error = refused(examination(reply(status, **said), **facts))
    assert [part for part in parts if part not in error.message] == []


def test_many_routes_are_cut_short(reply, examination):
    error = refused(examination(reply(404), routes=tuple(f"/{n}/" for n in range(30))))
    assert ", …;" in error.message
    assert "/29/" not in error.message


def test_no_routes_are_invented_for_other_apps(reply, examination):
    assert "routes" not in refused(examination(reply(404), django=False)).message


def test_a_server_error_carries_the_apps_traceback_once(reply, examination):
    text = "Traceback (most recent call last):\n  File …\nZeroDivisionError: division by zero\n"
    error = refused(examination(reply(500, traceback=text)))
    assert error.message == "/ answers 500: ZeroDivisionError: division by zero"
    assert error.detail == text


def test_what_does_not_exist_need_not_be_a_table(reply, examination):
    error = refused(examination(reply(500, traceback="shop.Missing: user 5 doesn't exist")))
    assert "[app] prepare" not in error.message


FRAMES = 'Traceback (most recent call last):\n  File "/srv/settings.py", line 3, in <module>\n    x = y\n'
ENVIRON = FRAMES + '  File "<frozen os>", line 679, in __getitem__\n'


def hint(root, error, frames=FRAMES, **environment):
    app = App(
        name="shop",
        root=root,
        entry=entry_of(EntryKind.WSGI, "shop:app"),
        python=Path("/usr/bin/python3"),
        environment=environment,
    )
    return import_hint(frames + error + "\n", app, {"PATH": "", "HOME": str(root)})


MISSING = {
    "os.environ": "KeyError: 'SECRET_KEY'",
    "decouple": "decouple.UndefinedValueError: SECRET_KEY not found. Declare it as envvar or define a default.",
    "django-environ": "django.core.exceptions.ImproperlyConfigured: Set the SECRET_KEY environment variable",
    "environs": 'environs.EnvError: Environment variable "SECRET_KEY" not set',
    "starlette": "KeyError: \"Config 'SECRET_KEY' is missing, and has no default.\"",
    "pydantic": "pydantic_core._pydantic_core.ValidationError: 1 validation error for Settings\nsecret_key\n"
    "  Field required [type=missing, input_value={}, input_type=dict]",
}


@pytest.mark.parametrize("library", MISSING)
def test_a_variable_that_a_file_here_has_names_the_file(tmp_path, monkeypatch, library):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("export SECRET_KEY=x\n")
    assert hint(tmp_path, MISSING[library], ENVIRON) == "; there is a .env here: --env-file .env ([app] env_file)"


@pytest.mark.parametrize("name", ["development.env", ".env-local", ".env.staging", "prod.env"])
def test_files_of_variables_have_many_names(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text("SECRET_KEY=x\n")
    line = f"; there is a {name} here: --env-file {name} ([app] env_file)"
    assert hint(tmp_path, MISSING["os.environ"], ENVIRON) == line


def test_a_variable_may_stand_in_a_file_behind_the_apps_own_prefix(tmp_path):
    (tmp_path / "development.env").write_text("TOZO_QUART_DB_DATABASE_URL=x\n")
    assert "--env-file" in hint(tmp_path, "KeyError: 'QUART_DB_DATABASE_URL'")
    assert "--env-file" not in hint(tmp_path, "ValueError: the URL is wrong")


@pytest.mark.parametrize(
    ("target", "error", "line"),
    [
        ("shop:make()", "make() missing 1 required positional argument: 'config'", 'make(config="…")'),
        (
            "shop:make(1)",
            "make() missing 2 required keyword-only arguments: 'name' and 'at'",
            'make(1, name="…", at="…")',
        ),
    ],
)
def test_the_arguments_of_a_factory_are_asked_for(target, error, line):
    app = App(
        name="shop", root=Path("/srv"), entry=entry_of(EntryKind.WSGI, target), python=Path("/usr/bin/python3")
    )
    assert import_hint(f"{FRAMES}TypeError: {error}\n", app, {}) == f"; give it: --wsgi 'shop:{line}' ([app] wsgi)"
    assert import_hint(f"{FRAMES}TypeError: {error.replace('make', 'other')}\n", app, {}) == ""


def test_a_setting_of_the_apps_own_is_no_variable(tmp_path):
    assert hint(tmp_path, "SystemExit: 1: server.secret_key is not changed") == ""


@pytest.mark.parametrize("library", MISSING)
def test_a_variable_that_no_file_has_is_to_be_set(tmp_path, library):
    assert "[app] env = { SECRET_KEY =" in hint(tmp_path, MISSING[library], ENVIRON)


DEPLOYED = {
    "compose.yaml": 'services: {web: {command: gunicorn shop:app, environment: {SECRET_KEY: "a b"}}}',
    "docker-compose.yml": 'services: {web: {command: gunicorn shop:app, environment: ["SECRET_KEY=a b"]}}',
    "render.yaml": 'services: [{startCommand: gunicorn shop:app, envVars: [{key: SECRET_KEY, value: "a b"}]}]',
    "app.yaml": 'entrypoint: gunicorn shop:app\nenv_variables: {SECRET_KEY: "a b"}',
    "Dockerfile": 'ENV SECRET_KEY="a b"\nCMD gunicorn shop:app',
    "shop.service": '[Service]\nExecStart=gunicorn shop:app\nEnvironment="SECRET_KEY=a b"',
}


@pytest.mark.parametrize("name", DEPLOYED)
def test_a_variable_of_a_deployment_file_is_shown_with_its_value_unless_that_is_secret(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(DEPLOYED[name])
    line = f'; {name} sets it: [app] env = {{ SECRET_KEY = "…" }}'
    assert hint(tmp_path, MISSING["os.environ"], ENVIRON) == line
    (tmp_path / name).write_text(DEPLOYED[name].replace("SECRET_KEY", "GREETING"))
    line = f'; {name} sets it: [app] env = {{ GREETING = "a b" }}'
    assert hint(tmp_path, "KeyError: 'GREETING'", ENVIRON) == line


def test_a_file_of_variables_that_a_deployment_file_names_is_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "compose.yaml").write_text(
        "services: {web: {command: gunicorn shop:app, env_file: [{path: web.conf}], environment: {SECRET_KEY: $X}}}"
    )
    assert "[app] env" in hint(tmp_path, MISSING["os.environ"], ENVIRON), "what is to be filled in is no value"
    (tmp_path / "web.conf").write_text("SECRET_KEY=1")
    assert "--env-file web.conf" in hint(tmp_path, MISSING["os.environ"], ENVIRON)


UNSET = FRAMES.replace("x = y", 'HOSTS = os.environ.get("SHOP_HOSTS").split(" ")')


def test_a_variable_that_is_read_without_a_default_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    error = "AttributeError: 'NoneType' object has no attribute 'split'"
    assert '[app] env = { SHOP_HOSTS = "…" }' in hint(tmp_path, error, UNSET)
    assert hint(tmp_path, error, UNSET, SHOP_HOSTS="a") == ""
    assert hint(tmp_path, "AttributeError: 'Shop' object has no attribute 'split'", UNSET) == ""
    (tmp_path / ".env.dev").write_text("SHOP_HOSTS=a b\n")
    assert "--env-file .env.dev" in hint(tmp_path, error, UNSET)


def test_deployment_files_above_a_project_are_read_within_its_repository_only(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    (tmp_path / "compose.yaml").write_text(DEPLOYED["compose.yaml"].replace("SECRET_KEY", "GREETING"))
    assert "sets it" not in hint(tmp_path / "src", "KeyError: 'GREETING'", ENVIRON)
    (tmp_path / ".git").mkdir()
    assert "compose.yaml sets it" in hint(tmp_path / "src", "KeyError: 'GREETING'", ENVIRON)


def test_a_file_above_and_a_template_are_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    (tmp_path / ".env.example").write_text("SECRET_KEY=\n")
    assert "copy .env.example to .env" in hint(tmp_path / "src", MISSING["os.environ"], ENVIRON)
    (tmp_path / ".env").write_text("SECRET_KEY=x\n")
    assert "--env-file .env" in hint(tmp_path / "src", MISSING["os.environ"], ENVIRON)


def test_a_variable_that_was_given_is_not_asked_for_again(tmp_path):
    (tmp_path / ".env").write_text("SECRET_KEY=x\n")
    assert "--env-file" not in hint(tmp_path, "KeyError: 'SECRET_KEY'", SECRET_KEY="x")


def test_another_key_error_is_no_variable(tmp_path):
    (tmp_path / ".env").write_text("SECRET_KEY=x\n")
    assert hint(tmp_path, "KeyError: 'price'") == ""


def test_a_database_url_is_what_a_service_gives(tmp_path):
    words = hint(tmp_path, "django.core.exceptions.ImproperlyConfigured: Set the DATABASE_URL environment variable")
    assert 'services = ["postgresql"]' in words


def test_an_app_that_asks_for_its_own_version_is_told_how_to_install_itself(tmp_path):
    words = hint(tmp_path, "importlib.metadata.PackageNotFoundError: No package metadata was found for shop")
    assert "shop is not installed" in words and "uv pip install -e ." in words


def test_a_missing_module_names_the_interpreter_and_the_others(tmp_path):
    other = tmp_path / "venv" / "bin" / "python"
    other.parent.mkdir(parents=True)
    other.write_text("")
    other.chmod(0o755)
    words = hint(tmp_path, "ModuleNotFoundError: No module named 'flask.ext'")
    assert "not installed for /usr/bin/python3 (--python, [app] python)" in words
    assert f"there are also {other} (venv/ in the project)" in words
    assert "[app] root" in hint(tmp_path, "ModuleNotFoundError: No module named 'shop'")


def test_a_missing_module_in_a_folder_above_is_pointed_at(tmp_path):
    (tmp_path / "gallery").mkdir()
    (tmp_path / "gallery" / "__init__.py").touch()
    (tmp_path / "example").mkdir()
    words = hint(tmp_path / "example", "ModuleNotFoundError: No module named 'gallery'")
    assert f'it is in {tmp_path}: [app] env = {{ PYTHONPATH = "{tmp_path}" }}' in words


@pytest.mark.parametrize(
    ("error", "service"),
    [
        ('OperationalError: connection to server at "::1", port 5432 failed: Connection refused', "postgresql"),
        ('OperationalError: (2002, "Can\'t connect to local server (111)") Connection refused', "mariadb"),
        (
            'OperationalError: could not translate host name "db" to address: Name or service not known',
            "postgresql",
        ),
        ("OperationalError: failed to resolve host 'db': [Errno -2] Name or service not known", "postgresql"),
        ("OperationalError: (2005, \"Unknown MySQL server host 'db' (-2)\")", "mariadb"),
        ("RuntimeError: lifespan.startup.failed: [Errno 111] Connect call failed ('0.0.0.0', 5432)", "postgresql"),
        ("OSError: [Errno 111] Connect call failed ('127.0.0.1', 6379)", "redis"),
        ("redis.exceptions.ConnectionError: Error 111 connecting to localhost:6379. Connection refused.", "redis"),
    ],
)
def test_a_service_that_does_not_answer_is_named(error, service):
    words = _service_hint(FRAMES + error)
    assert f'services = ["{service}"]' in words and "docs/services.md" in words
    assert _service_hint(FRAMES + "ValueError: x") == ""


def test_any_refused_connection_is_a_service(tmp_path):
    assert "[app] services" in hint(tmp_path, "ConnectionRefusedError: [Errno 111] Connection refused")


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("uv.lock", "uv sync"),
        ("poetry.lock", "poetry install"),
        ("pyproject.toml", "poetry install"),
        ("pdm.lock", "pdm install"),
        ("Pipfile", "pipenv install"),
        ("environment.yml", "conda env create"),
        ("requirements.txt", "/usr/bin/python3 -m pip install -r requirements.txt"),
    ],
)
def test_a_missing_module_names_what_installs_the_packages(tmp_path, monkeypatch, name, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text("[tool.poetry]\n")
    words = hint(tmp_path, "ModuleNotFoundError: No module named 'flask'")
    assert f"; did you run {command}? There is {name}" in words


def test_a_pyproject_of_nobody_installs_nothing(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    assert "did you run" not in hint(tmp_path, "ModuleNotFoundError: No module named 'flask'")


def test_djangos_own_words_name_the_settings_that_are_here(tmp_path):
    (tmp_path / "shop" / "settings").mkdir(parents=True)
    for name in ("development.py", "clever-cloud.py"):
        (tmp_path / "shop" / "settings" / name).write_text("INSTALLED_APPS = []\n")
    error = (
        "django.core.exceptions.ImproperlyConfigured: Requested setting LOGGING_CONFIG, but settings are not "
        "configured. You must either define the environment variable DJANGO_SETTINGS_MODULE or call "
        "settings.configure() before accessing settings."
    )
    assert hint(tmp_path, error) == "; name the settings: --django shop.settings.development"
    assert "DJANGO_SETTINGS_MODULE" in hint(tmp_path / "shop" / "settings", error)
    assert "LOGGING_CONFIG" not in hint(tmp_path / "shop" / "settings", error)


def sql(message):
    raise LookupError(message)


def traceback_of(call, *arguments):
    try:
        call(*arguments)
    except Exception as error:
        return "".join(traceback.format_exception(error))


SQL = """(psycopg2.errors.UndefinedTable) relation "note" does not exist
LINE 2: FROM note
             ^

[SQL: SELECT 1
  File "nowhere.py", line 1
]"""


def test_of_an_exception_of_several_lines_the_first_is_shown_and_where_it_came_from():
    here, line = Path(__file__), sql.__code__.co_firstlineno + 1
    words = failure_words(traceback_of(sql, SQL), here.parent)
    said = 'LookupError: (psycopg2.errors.UndefinedTable) relation "note" does not exist'
    assert words == f"{said} ({here.name}, line {line})"
    assert failure_words(traceback_of(sql, "\nx"), here.parent).startswith("LookupError: x (")
    assert failure_words(traceback_of(sql, "x"), Path("/nowhere")) == "LookupError: x"
    assert failure_words("", here.parent) == ""


def test_of_chained_and_grouped_exceptions_the_last_is_shown():
    def chained():
        try:
            sql("first\nof two")
        except LookupError as error:
            raise OSError("second\nof two") from error

    def grouped():
        try:
            sql("inner\nof two")
        except LookupError as error:
            raise ExceptionGroup("a group", [error])  # noqa: B904

    assert failure_words(traceback_of(chained), Path("/nowhere")) == "OSError: second"
    assert failure_words(traceback_of(grouped), Path("/nowhere")) == "LookupError: inner"


def test_where_a_file_cannot_be_read_as_python_it_is_named(tmp_path):
    (tmp_path / "shop.py").write_text("x = 1\ny = (\n")
    done = subprocess.run([sys.executable, "-c", "import shop"], cwd=tmp_path, capture_output=True, text=True)
    assert failure_words(done.stderr, tmp_path) == "SyntaxError: '(' was never closed (shop.py, line 2)"


def test_of_several_templates_the_one_with_the_missing_variable_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env.dev.example").write_text("ENVIRONMENT=dev\nOTHER_SECRET_KEY=\n")
    (tmp_path / ".env.example").write_text("SECRET_KEY=\n")
    for library in ("django-environ", "os.environ", "pydantic"):
        assert "copy .env.example to .env" in hint(tmp_path, MISSING[library], ENVIRON)
    (tmp_path / ".env.more.example").write_text("SECRET_KEY=\nA_KEY=\nB_KEY=\n")
    fields = "".join(f"{name}\n  Field required [type=missing]\n" for name in ("a_key", "secret_key", "b_key"))
    error = f"pydantic_core.ValidationError: 3 validation errors for Settings\n{fields}"
    assert "copy .env.more.example to .env" in hint(tmp_path, error)
    (tmp_path / ".env").write_text("MODE=dev\n")
    line = "; .env.more.example has it: add it to .env, and give --env-file .env"
    assert hint(tmp_path, error) == line, "a file that is filled in is not written over"


def test_code_that_is_installed_in_the_project_is_not_the_users(tmp_path):
    frames = "".join(
        f'  File "{tmp_path / place}", line {line}, in f\n    f()\n    ~^^\n'
        for line, place in enumerate(["app.py", ".venv/lib/python3.11/site-packages/flask/app.py"], start=7)
    )
    text = f"Traceback (most recent call last):\n{frames}ValueError: 1\n"
    assert failure_words(text, tmp_path) == "ValueError: 1 (app.py, line 7)"
