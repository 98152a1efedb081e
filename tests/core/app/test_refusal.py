import pytest

from stackrace.app.golden import golden
from stackrace.base.errors import AppError


def refused(made):
    with pytest.raises(AppError) as raised:
        golden(made)
    assert "\n" not in raised.value.message
    return raised.value


def test_a_missing_page_lists_the_routes(reply, examination):
    error = refused(examination(reply(404)))
    assert "/ answers 404" in error.message
    assert "/admin/, /books/" in error.message
    assert "--url" in error.message


def test_many_routes_are_cut_short(reply, examination):
    error = refused(examination(reply(404), routes=tuple(f"/{n}/" for n in range(30))))
    assert ", …;" in error.message
    assert "/29/" not in error.message


def test_no_routes_are_invented_for_other_apps(reply, examination):
    assert "routes" not in refused(examination(reply(404), django=False)).message


@pytest.mark.parametrize(
    ("facts", "part"),
    [
        ({}, "one of ALLOWED_HOSTS (shop.example.com) in [workload] host"),
        ({"allowed_hosts": ()}, "ALLOWED_HOSTS in shop.settings is empty"),
        ({"django": False}, "[workload] host"),
    ],
)
def test_a_refused_host_names_the_setting(reply, examination, facts, part):
    assert part in refused(examination(reply(400), **facts)).message


def test_a_redirect_names_its_target(reply, examination):
    error = refused(examination(reply(302, Location="/login/?next=/"), via="/start"))
    assert "after a redirect from /start" in error.message
    assert "--url /login/?next=/ " in error.message


def test_a_redirect_to_another_site_names_it(reply, examination):
    error = refused(examination(reply(301, Location="http://www.example.com/")))
    assert "http://www.example.com/, another site" in error.message


@pytest.mark.parametrize(
    ("facts", "part"),
    [
        ({}, "SECURE_PROXY_SSL_HEADER = ("),
        ({"https_header": "X-Scheme"}, '[workload] headers = { "X-Scheme" = "https" }'),
        ({"https_header": "X-Forwarded-Ssl"}, '[workload] headers = { "X-Forwarded-Ssl" = "on" }'),
        ({"django": False}, '[workload] headers = { "X-Forwarded-Proto" = "https" }'),
    ],
)
def test_a_redirect_to_https_says_which_header_helps(reply, examination, facts, part):
    error = refused(examination(reply(301, Location="https://shop.example.com/"), **facts))
    assert part in error.message


@pytest.mark.parametrize("status", [401, 403])
def test_a_page_behind_a_login_says_so(reply, examination, status):
    assert "login" in refused(examination(reply(status))).message


def test_a_server_error_carries_the_apps_traceback_once(reply, examination):
    text = "Traceback (most recent call last):\n  File …\nZeroDivisionError: division by zero\n"
    error = refused(examination(reply(500, traceback=text)))
    assert error.message == "/ answers 500: ZeroDivisionError: division by zero"
    assert error.detail == text


@pytest.mark.parametrize(
    ("django", "frame", "command"),
    [
        (True, "django/db/models/query.py", "python manage.py migrate"),
        (False, "site-packages/flask/app.py", "flask db upgrade"),
        (False, "site-packages/starlette/routing.py", "alembic upgrade head"),
    ],
)
def test_a_missing_table_points_to_the_migrations(reply, examination, django, frame, command):
    traceback = f'  File "/srv/{frame}", line 3, in f\nOperationalError: no such table: pages_row'
    error = refused(examination(reply(500, traceback=traceback), django=django))
    assert f'[app] prepare = ["{command}"]' in error.message


def test_what_does_not_exist_need_not_be_a_table(reply, examination):
    error = refused(examination(reply(500, traceback="shop.Missing: user 5 doesn't exist")))
    assert "[app] prepare" not in error.message


def test_a_silent_server_error_and_odd_statuses_have_words_too(reply, examination):
    assert "no traceback" in refused(examination(reply(503))).message
    assert "answers 418, which is no success" in refused(examination(reply(418))).message
