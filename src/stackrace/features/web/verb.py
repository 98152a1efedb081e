"""``stackrace web``."""

from __future__ import annotations

import click

from ...cli.options import store_option


@click.command(
    epilog="""\b
Examples:
  stackrace web                       browse every race at http://127.0.0.1:8765/
  stackrace web --port 9000 --store sqlite:////srv/races.sqlite3
  stackrace web --edit                also name races"""
)
@click.option("--port", default=8765, type=click.IntRange(1, 65535), help="Port to listen on. Default: 8765.")
@click.option("--edit", is_flag=True, help="Allow to name races. Default: the site only reads.")
@store_option
def command(port: int, edit: bool, store: str | None) -> None:
    """Browse your races, on this machine only: watch one while it runs, search and compare. Ctrl-C stops it."""
    import os
    from socketserver import ThreadingMixIn
    from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

    from ...deploy.sockets import LOOPBACK, claim
    from .site import results_site

    class Server(ThreadingMixIn, WSGIServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """Log nothing about a browser that went away."""

    class Quiet(WSGIRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            """Log nothing: the browser shows the result."""

    claim(port, f"choose another, such as --port {port % 65535 + 1}, or look at http://{LOOPBACK}:{port}/")
    site = results_site(store, edit=edit)
    # a race may be measured beside it
    if hasattr(os, "nice"):
        # elsewhere no race runs beside the site
        os.nice(_NICE)
    with make_server(LOOPBACK, port, site, server_class=Server, handler_class=Quiet) as server:
        click.echo(f"Races at http://{LOOPBACK}:{port}/ — Ctrl-C stops it.")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            click.echo("\nstopped")


_NICE = 10
