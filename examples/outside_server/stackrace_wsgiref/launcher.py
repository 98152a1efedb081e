"""Serves the application of a module with wsgiref and a pool of threads: launcher.py wsgiref.ini."""

import configparser
import os
import signal
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from socketserver import TCPServer
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer


class Pooled(WSGIServer):
    """Hands each connection to a thread of the pool."""

    def server_bind(self):
        # not WSGIServer's own, which looks the host's name up and knows no unix sockets
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "localhost", 80
        self.setup_environ()

    def process_request(self, request, client_address):
        self.pool.submit(self.answer, request, client_address)

    def answer(self, request, client_address):
        try:
            self.finish_request(request, client_address)
        except OSError:
            pass  # the client went away
        finally:
            self.shutdown_request(request)


class PooledUnix(Pooled):
    """The same on a unix socket, whose clients have no address."""

    address_family = socket.AF_UNIX

    def get_request(self):
        connection, _ = super().get_request()
        return connection, ("127.0.0.1", 0)


class Quiet(WSGIRequestHandler):
    """Says nothing, looks up no names, and does not wait for ever for a request."""

    timeout = 75

    def log_message(self, format, *arguments):
        pass

    def address_string(self):
        return self.client_address[0]


def main(path):
    """Serve until TERM."""
    config = configparser.ConfigParser(interpolation=None)
    config.read(path, encoding="utf-8")
    server = config["server"]
    application = import_module(server["module"]).application  # before anybody can connect
    Pooled.request_queue_size = server.getint("queue")
    Pooled.pool = ThreadPoolExecutor(server.getint("threads"))
    if "path" in server:
        listening = PooledUnix(server["path"], Quiet)
    else:
        listening = Pooled((server["host"], server.getint("port")), Quiet)
    listening.set_app(application)
    # at once: threads may wait for requests, and no load is left when a stack is stopped
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    listening.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1])
