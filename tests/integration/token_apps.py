"""Apps whose scripts carry tokens: Django by JSON, cookie and header, FastAPI with a JWT, Flask-WTF by meta tag.

Each process has secrets of its own, so what another gave is wrong. ``python token_apps.py NAME`` prints its port.
"""

import os
import socket
import sys
import uuid
from datetime import UTC, datetime, timedelta
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

REQUIREMENTS = "django\nfastapi\nflask-wtf\npyjwt\npython-multipart\nuvicorn\n"


def django_spa():
    """The page asks for a token, which requests repeat in a header beside the cookie."""
    from django.conf import settings

    settings.configure(
        SECRET_KEY="x",
        ALLOWED_HOSTS=["*"],
        ROOT_URLCONF="urls",
        MIDDLEWARE=["django.middleware.csrf.CsrfViewMiddleware"],
    )
    import types

    from django.core.wsgi import get_wsgi_application
    from django.http import JsonResponse
    from django.middleware.csrf import get_token
    from django.urls import path

    urls = sys.modules["urls"] = types.ModuleType("urls")
    urls.urlpatterns = [
        path("session/", lambda request: JsonResponse({"user": None, "csrfToken": get_token(request)})),
        path("save/", lambda request: JsonResponse({"saved": True})),
        path("save-more/", lambda request: JsonResponse({"saved": True})),
    ]
    return get_wsgi_application()


def flask_wtf():
    """Pages hold the token in a meta tag, in a script, and in an attribute of htmx."""
    from flask import Flask, render_template_string
    from flask_wtf.csrf import CSRFProtect

    app = Flask(__name__)
    app.secret_key = os.urandom(16)
    CSRFProtect(app)
    pages = {
        "meta": '<meta name="csrf-token" content="{{ csrf_token() }}">',
        "script": "<script>window.app = {csrf: '{{ csrf_token() }}'}</script>",
        "htmx": """<body hx-headers='{"X-CSRFToken": "{{ csrf_token() }}"}'></body>""",
    }
    app.add_url_rule("/<name>/", "page", lambda name: render_template_string(pages[name]))
    app.add_url_rule("/<name>/save", "save", lambda name: {"saved": name}, methods=["POST"])
    return app


def fastapi_jwt():
    """A login gives a JWT, which requests send as Authorization; what a POST makes has an id of its own."""
    import jwt
    from fastapi import Body, Depends, FastAPI, HTTPException
    from fastapi.security import OAuth2PasswordBearer, OAuth2PasswordRequestForm

    app, secret, items = FastAPI(), os.urandom(32), set()

    def tokens():
        claims = {"sub": "ann", "exp": datetime.now(UTC) + timedelta(hours=1), "jti": uuid.uuid4().hex}
        return {
            "access_token": jwt.encode({**claims, "for": "access"}, secret, "HS256"),
            "refresh_token": jwt.encode({**claims, "for": "refresh"}, secret, "HS256"),
            "token_type": "bearer",
        }

    def checked(token: str = Depends(OAuth2PasswordBearer("token"))):
        try:
            return jwt.decode(token, secret, ["HS256"])["sub"]
        except jwt.InvalidTokenError as error:
            raise HTTPException(401) from error

    def login(form: OAuth2PasswordRequestForm = Depends()):  # noqa: B008
        return tokens()

    def refresh(refresh_token: str = Body(embed=True)):
        checked(refresh_token)
        return tokens()

    def make(user: str = Depends(checked)):
        key = uuid.uuid4().hex
        items.add(key)
        return {"id": key, "by": user}

    def item(key: str, user: str = Depends(checked)):
        if key not in items:
            raise HTTPException(404)
        return {"id": key, "by": user}

    app.post("/token")(login)
    app.post("/refresh")(refresh)
    app.get("/me")(lambda user=Depends(checked): {"user": user})  # noqa: B008
    app.post("/items")(make)
    app.get("/items/{key}")(item)
    return app


class Threaded(ThreadingMixIn, WSGIServer):
    """Serves WSGI."""

    daemon_threads = True


class Quiet(WSGIRequestHandler):
    """Logs nothing."""

    def log_message(self, *words):
        """Be quiet."""


def serve(name):
    """Serve an app on a free port."""
    if name == "fastapi":
        import uvicorn

        with socket.create_server(("127.0.0.1", 0)) as listener:
            say(listener.getsockname()[1])
            uvicorn.Server(uvicorn.Config(fastapi_jwt(), log_level="error")).run([listener])
    else:
        server = Threaded(("127.0.0.1", 0), Quiet)
        server.set_app({"django": django_spa, "flask": flask_wtf}[name]())
        say(server.server_port)
        server.serve_forever()


def say(port):
    """Tell the test the port."""
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    serve(sys.argv[1])
