"""A Django site with a login and forms that want their token, and a browser that records a visit as a HAR file."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlencode

SITE = """
    import os, sys
    import django
    from django.conf import settings

    settings.configure(
        SECRET_KEY="x", DEBUG=False, ALLOWED_HOSTS=["127.0.0.1"], ROOT_URLCONF=__name__,
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.environ["SITE_DB"],
                               "OPTIONS": {"timeout": 30}}},
        INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes"],
        MIDDLEWARE=["django.middleware.gzip.GZipMiddleware",
                    "django.contrib.sessions.middleware.SessionMiddleware",
                    "django.middleware.csrf.CsrfViewMiddleware",
                    "django.contrib.auth.middleware.AuthenticationMiddleware"],
        SESSION_ENGINE="django.contrib.sessions.backends.signed_cookies",
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        LOGIN_URL="/login/", USE_TZ=True,
    )
    django.setup()

    from django.contrib.auth import authenticate, login
    from django.contrib.auth.decorators import login_required
    from django.core.wsgi import get_wsgi_application
    from django.http import HttpResponse, HttpResponseRedirect
    from django.middleware.csrf import get_token
    from django.urls import path

    FORM = '<html><head><meta name="csrf-token" content="{token}"></head><form method=post>' \\
           '<input type="hidden" name="csrfmiddlewaretoken" value="{token}">' \\
           '<input type=hidden name=step value="{step}"><input name=text></form>' + "<p>fill</p>" * 50

    def page(request, step):
        return HttpResponse(FORM.format(token=get_token(request), step=step))

    def enter(request):
        if request.method == "GET":
            return page(request, "login")
        user = authenticate(username=request.POST["user"], password=request.POST["password"])
        if user is None:
            return HttpResponse("no", status=401)
        login(request, user)
        return HttpResponseRedirect("/note/")

    @login_required
    def note(request):
        if request.method == "GET":
            return page(request, os.urandom(4).hex())
        request.session["steps"] = request.POST["step"]
        return HttpResponseRedirect("/note/")

    @login_required
    def call(request):
        return HttpResponse('{"ok": true}', content_type="application/json", status=200 if request.body else 400)

    urlpatterns = [path("login/", enter), path("note/", note), path("call/", call)]
    application = get_wsgi_application()

    if __name__ == "__main__":
        from socketserver import ThreadingMixIn
        from wsgiref.simple_server import WSGIRequestHandler, WSGIServer
        from django.core.management import call_command
        from django.contrib.auth.models import User

        class Server(ThreadingMixIn, WSGIServer):
            daemon_threads = True

        class Quiet(WSGIRequestHandler):
            def log_message(self, *words):
                pass

        call_command("migrate", verbosity=0)
        User.objects.create_user("ann", password="secret")
        server = Server(("127.0.0.1", 0), Quiet)
        server.set_app(application)
        print(server.server_port, flush=True)
        server.serve_forever()
"""


@contextmanager
def running_site(folder: Path) -> Iterator[str]:
    """Serve the site, and give its address as "127.0.0.1:8000"."""
    file = folder / "site.py"
    file.write_text(textwrap.dedent(SITE))
    environment = {**os.environ, "SITE_DB": str(folder / "site.sqlite3")}
    with subprocess.Popen(
        [sys.executable, str(file)], stdout=subprocess.PIPE, env=environment, text=True
    ) as server:
        try:
            assert server.stdout is not None
            yield f"127.0.0.1:{int(server.stdout.readline())}"
        finally:
            server.kill()


class Browser:
    """Visits a site and writes down what it asked and was answered."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._cookies: dict[str, str] = {}
        self._entries: list[dict[str, object]] = []

    def ask(
        self, method: str, path: str, form: dict[str, str] | None = None, document: object = None, **headers: str
    ) -> str:
        """Ask for ``path``, with a form or JSON document where there is one, and return the page."""
        sent = {"Accept-Encoding": "gzip", **{name.replace("_", "-"): value for name, value in headers.items()}}
        if self._cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        body = None if form is None else urlencode(form)
        if body is not None:
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        elif document is not None:
            body, sent["Content-Type"] = json.dumps(document), "application/json"
        with closing(http.client.HTTPConnection(self._address)) as connection:
            # what is kept was sent with Accept-Encoding; what is read here need not be unpacked
            connection.request(method, path, body, {**sent, "Accept-Encoding": "identity"})
            answer = connection.getresponse()
            page = answer.read().decode()
        for line in answer.headers.get_all("Set-Cookie", ()):
            name, _, rest = line.partition("=")
            self._cookies[name] = rest.partition(";")[0]
        self._write_down(method, path, sent, body, answer, page)
        return page

    @property
    def cookies(self) -> dict[str, str]:
        """What it was given."""
        return self._cookies

    def save(self, file: Path) -> Path:
        """Write the HAR file."""
        file.write_text(json.dumps({"log": {"version": "1.2", "entries": self._entries}}))
        return file

    def _write_down(
        self,
        method: str,
        path: str,
        sent: dict[str, str],
        body: str | None,
        answer: http.client.HTTPResponse,
        page: str,
    ) -> None:
        def pairs(headers: object) -> list[dict[str, str]]:
            return [{"name": name, "value": value} for name, value in headers]  # type: ignore[attr-defined]

        request: dict[str, object] = {"method": method, "url": f"http://{self._address}{path}"}
        request["headers"] = pairs(sent.items())
        if body is not None:
            request["postData"] = {"mimeType": sent["Content-Type"], "text": body}
        coded = [*answer.headers.items(), ("Content-Encoding", "gzip")]
        content = {"mimeType": answer.headers.get("Content-Type", ""), "text": page}
        self._entries.append(
            {
                "startedDateTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1.7e9 + len(self._entries))),
                "time": 10,
                "request": request,
                "response": {"status": answer.status, "headers": pairs(coded), "content": content},
            }
        )


def token_of(page: str, name: str = "csrfmiddlewaretoken") -> str:
    """Return the value of a form's hidden field."""
    match = re.search(f'name="?{name}"? value="([^"]+)"', page)
    assert match is not None, page
    return match[1]


def visit(address: str) -> Browser:
    """Log in, send a form twice and call an API with the token in a header, from the cookie and from the page."""
    browser = Browser(address)
    page = browser.ask("GET", "/login/")
    form = {"csrfmiddlewaretoken": token_of(page), "user": "ann", "password": "secret"}
    browser.ask("POST", "/login/", form, Referer=f"http://{address}/login/", Origin=f"http://{address}")
    for _ in range(2):
        page = browser.ask("GET", "/note/")
        form = {"step": token_of(page, "step"), "text": "hello", "csrfmiddlewaretoken": token_of(page)}
        browser.ask("POST", "/note/", form)
    browser.ask("POST", "/call/", {"a": "b"}, X_CSRFToken=browser.cookies["csrftoken"])
    browser.ask("POST", "/call/", {"a": "b"}, X_CSRFToken=token_of(page))
    return browser
