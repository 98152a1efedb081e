"""A Flask site with Flask-WTF's tokens, in a form and in a meta tag; ``python flask_site.py`` prints its port.

Each process has a secret of its own, so a token that another gave is wrong.
"""

import os
import sys
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

REQUIREMENTS = "flask-wtf\n"

PAGE = """<meta name="csrf-token" content="{{ csrf_token() }}">
<form method=post><input type="hidden" name="csrf_token" value="{{ csrf_token() }}"></form>"""


def site():
    """Return the app."""
    from flask import Flask, render_template_string
    from flask_wtf.csrf import CSRFProtect

    app = Flask(__name__)
    app.secret_key = os.urandom(16)
    CSRFProtect(app)
    app.add_url_rule("/note/", "page", lambda: render_template_string(PAGE))
    app.add_url_rule("/note/", "note", lambda: "noted", methods=["POST"])
    app.add_url_rule("/call/", "call", lambda: {"saved": True}, methods=["POST"])
    return app


class Threaded(ThreadingMixIn, WSGIServer):
    """Serves WSGI."""

    daemon_threads = True


class Quiet(WSGIRequestHandler):
    """Logs nothing."""

    def log_message(self, *words):
        """Be quiet."""


if __name__ == "__main__":
    server = Threaded(("127.0.0.1", 0), Quiet)
    server.set_app(site())
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()
