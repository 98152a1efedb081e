"""How often `stackrace current --running` agrees with what runs: deployments of many servers, started for real.

python benchmarks/running.py [NAME...]

Each is started as its own documentation starts it, and observed by the process and by the port. Its truth stands
beside its command line. Front ends that this machine lacks are left out.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from stackrace.base.process.view import UNPROTECTED
from stackrace.deploy.environments import Environments

PACKAGES = "bjoern cheroot circus daphne gevent granian gunicorn honcho hypercorn pyuwsgi supervisor uvicorn "
PACKAGES += "uvicorn-worker waitress"
STACKRACE = str(Path(sys.executable).with_name("stackrace"))
CORES = len(os.sched_getaffinity(0))
PATIENCE_S = 40.0
APP = """
def application(environ, start):
    start("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "2")])
    return [b"ok"]


async def asgi(scope, receive, send):
    if scope["type"] == "lifespan":
        for kind in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{kind}.complete"})
        return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})
"""


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """A deployment, as it is started, and what is true of it. ``{port}`` and ``{inner}`` are free ports."""

    name: str
    starts: Sequence[str]
    """Command lines of the shell: the server's or its supervisor's, and that of a front end."""
    hops: str = ""
    """The servers of the stack, and the wire between them; empty where it cannot be raced."""
    package: str = ""
    """Package whose version is told, if not that of the last server."""
    sizes: Mapping[str, str] = field(default_factory=dict)
    """Settings: workers or processes, threads and class, where the server has these."""
    address: str = "127.0.0.1:{port}"
    """Where the server listens."""
    files: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    target: str = ":{port}"
    """How it is named but for its process; empty for a socket of files without a front end."""
    user: int = 0
    """User of a server that root starts."""
    unknown: str = ""
    """Words in the reason why it cannot be raced; empty where it can."""
    packages: str = PACKAGES
    process: int = 0
    """Index of the command line whose process is named."""

    @property
    def installed(self) -> str:
        """Package whose version is told; empty where no package is."""
        last = self.hops.rpartition("/")[2]
        return self.package or {"uwsgi": "pyuwsgi", "apache+mod_wsgi": ""}.get(last, last)

    @property
    def workers(self) -> int | None:
        """Processes that run the app; None where that cannot be known."""
        return None if self.unknown else int(self.sizes.get("workers") or self.sizes.get("processes") or 1)


NGINX = """daemon off; pid {folder}/nginx.pid; error_log stderr; worker_processes 2; events {{}}
http {{
    access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    upstream shop {{ server UPSTREAM; }}
    server {{ listen 127.0.0.1:{port}; location / {{ PASS }} }}
}}
"""


def nginx(upstream: str, passed: str) -> str:
    """Return the file of an nginx in front of ``upstream``."""
    return NGINX.replace("UPSTREAM", upstream).replace("PASS", passed)


HAPROXY = """defaults
    mode http
    timeout connect 5s
    timeout client 50s
    timeout server 50s
frontend web
    bind 127.0.0.1:{port}
    default_backend shop
backend shop
"""
APACHE = """ServerRoot {folder}
PidFile {folder}/apache.pid
ErrorLog {folder}/error.log
ServerName shop
Listen 127.0.0.1:{port}
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule wsgi_module /usr/lib/apache2/modules/mod_wsgi.so
User nobody
Group nogroup
WSGISocketPrefix {folder}/wsgi
WSGIDaemonProcess shop processes=2 threads=5 python-path={folder}
WSGIProcessGroup shop
WSGIApplicationGroup %{{GLOBAL}}
WSGIScriptAlias / {folder}/shop.py
<Directory {folder}>
Require all granted
</Directory>
"""

DEPLOYMENTS = (
    Deployment(name="gunicorn", starts=["gunicorn -w 3 -b 127.0.0.1:{port} shop:application"], hops="gunicorn",
               sizes={"workers": "3", "class": "sync"}),
    Deployment(name="gunicorn, threads",
               starts=["gunicorn --workers=2 --threads=4 --bind=127.0.0.1:{port} shop:application"],
               hops="gunicorn", sizes={"workers": "2", "class": "gthread", "threads": "4"}),
    Deployment(name="gunicorn, gevent", starts=["gunicorn -k gevent -w 2 -b 127.0.0.1:{port} shop:application"],
               hops="gunicorn", sizes={"workers": "2", "class": "gevent"}),
    Deployment(name="gunicorn, Uvicorn's worker",
               starts=["gunicorn shop:asgi -w 2 -k uvicorn_worker.UvicornWorker -b 127.0.0.1:{port}"],
               # the environment has no httptools
               hops="gunicorn", sizes={"workers": "2", "class": "uvicorn-h11"}),
    Deployment(name="gunicorn, its file", starts=["gunicorn shop:application"],
               files={"gunicorn.conf.py": "import multiprocessing\nbind = '127.0.0.1:{port}'\n"
                                          "workers = multiprocessing.cpu_count() + 1\nthreads = 2\n"},
               hops="gunicorn", sizes={"workers": str(os.cpu_count() + 1), "class": "gthread", "threads": "2"}),
    Deployment(name="gunicorn, GUNICORN_CMD_ARGS", starts=["gunicorn shop:application"],
               environment={"GUNICORN_CMD_ARGS": "--bind=127.0.0.1:{port} --workers=3 --threads 2"},
               hops="gunicorn", sizes={"workers": "3", "class": "gthread", "threads": "2"}),
    Deployment(name="gunicorn, a shell's sum",
               starts=["sh -c 'gunicorn -w $(( $(nproc) * 2 + 1 )) -b 127.0.0.1:{port} shop:application; true'"],
               hops="gunicorn", sizes={"workers": str(CORES * 2 + 1), "class": "sync"}),
    Deployment(name="gunicorn, another user",
               starts=["setpriv --reuid 65534 --regid 65534 --clear-groups "
                       "gunicorn -w 2 --no-control-socket -b 127.0.0.1:{port} shop:application"],
               hops="gunicorn", sizes={"workers": "2", "class": "sync"}, user=65534),
    Deployment(name="nginx, gunicorn's socket",
               starts=["gunicorn --workers 2 --bind unix:{folder}/gunicorn.sock shop:application",
                       "nginx -c {folder}/nginx.conf"],
               files={"nginx.conf": nginx("unix:{folder}/gunicorn.sock fail_timeout=0", "proxy_pass http://shop;")},
               hops="nginx/http/gunicorn", sizes={"workers": "2", "class": "sync"},
               address="unix:{folder}/gunicorn.sock"),
    Deployment(name="HAProxy, gunicorn",
               starts=["gunicorn -w 2 -b 127.0.0.1:{inner} shop:application", "haproxy -W -f haproxy.cfg"],
               files={"haproxy.cfg": HAPROXY + "  server one 127.0.0.1:{inner} check\n"},
               hops="haproxy/http/gunicorn", sizes={"workers": "2", "class": "sync"}, address="127.0.0.1:{inner}"),
    Deployment(name="HAProxy, two uvicorns",
               starts=["uvicorn --port {inner} shop:asgi", "uvicorn --port {second} shop:asgi",
                       "haproxy -W -f haproxy.cfg"],
               files={"haproxy.cfg": HAPROXY + "  server one 127.0.0.1:{inner} check\n"
                                               "  server two 127.0.0.1:{second} check\n"},
               hops="haproxy/http/uvicorn", sizes={"workers": "1", "instances": "2"}, address="127.0.0.1:{inner}",
               process=-1),
    Deployment(name="gunicorn, a title", packages="gunicorn setproctitle",
               starts=["gunicorn -w 2 --threads 3 -b 127.0.0.1:{port} shop:application"], hops="gunicorn",
               sizes={"workers": "2", "class": "unknown"}),
    Deployment(name="gevent's own", starts=["python serve.py"],
               files={"serve.py": "import gevent.pywsgi\nimport shop\n"
                                  "gevent.pywsgi.WSGIServer(('127.0.0.1', {port}), "
                                  "shop.application).serve_forever()\n"},
               package="gevent", unknown="serve.py:1 starts a server"),
    Deployment(name="supervisord, gunicorn", starts=["supervisord -n -c supervisord.conf"],
               files={"supervisord.conf": "[supervisord]\nlogfile={folder}/log2\npidfile={folder}/supervisord.pid\n"
                                          "[program:shop]\n"
                                          "command=gunicorn -w 2 -b 127.0.0.1:{port} shop:application\n"
                                          "directory={folder}\n"},
               hops="gunicorn", sizes={"workers": "2", "class": "sync"}),
    Deployment(name="uWSGI",
               starts=["uwsgi --http 127.0.0.1:{port} --wsgi-file shop.py --master --processes 4 --threads 2"],
               hops="uwsgi", sizes={"processes": "4", "threads": "2"}),
    Deployment(name="uWSGI, its file", starts=["uwsgi --ini uwsgi.ini"],
               files={"uwsgi.ini": "[uwsgi]\nhttp-socket = 127.0.0.1:{port}\nmaster = true\nprocesses = 3\n"
                                   "threads = 2\n"
                                   "wsgi-file = shop.py\n"},
               hops="uwsgi", sizes={"processes": "3", "threads": "2"}),
    Deployment(name="uWSGI, emperor",
               starts=["uwsgi --emperor {folder}/vassals --emperor-wrapper $(command -v uwsgi)"],
               files={"vassals/shop.ini": "[uwsgi]\nhttp-socket = 127.0.0.1:{port}\nmaster = true\nprocesses = 2\n"
                                          "chdir = {folder}\nwsgi-file = {folder}/shop.py\n"},
               hops="uwsgi", sizes={"processes": "2", "threads": "1"}),
    Deployment(name="nginx, uWSGI",
               starts=["uwsgi --socket 127.0.0.1:{inner} --wsgi-file shop.py --master --processes 2",
                       "nginx -c {folder}/nginx.conf"],
               files={"nginx.conf": nginx("127.0.0.1:{inner}",
                                          "include /etc/nginx/uwsgi_params; uwsgi_pass shop;")},
               hops="nginx/uwsgi/uwsgi", sizes={"processes": "2"}, address="127.0.0.1:{inner}"),
    Deployment(name="uvicorn, workers", starts=["uvicorn shop:asgi --port {port} --workers 4"], hops="uvicorn",
               sizes={"workers": "4"}),
    Deployment(name="uvicorn, a socket", starts=["uvicorn --uds {folder}/uvicorn.sock shop:asgi"], hops="uvicorn",
               sizes={"workers": "1"}, address="unix:{folder}/uvicorn.sock", target=""),
    Deployment(name="Caddy, uvicorn", starts=["uvicorn --port {inner} shop:asgi", "caddy run --config Caddyfile"],
               files={"Caddyfile": "{{\n\tadmin off\n}}\nhttp://127.0.0.1:{port} {{\n"
                                   "\treverse_proxy localhost:{inner}\n}}\n"},
               hops="caddy/http/uvicorn", sizes={"workers": "1"}, address="127.0.0.1:{inner}"),
    Deployment(name="honcho, uvicorn", starts=["honcho start"],
               files={"Procfile": "web: uvicorn --port {port} --workers 2 shop:asgi\n"}, hops="uvicorn",
               sizes={"workers": "2"}),
    Deployment(name="hypercorn", starts=["hypercorn --workers 3 --bind 127.0.0.1:{port} shop:asgi"],
               hops="hypercorn", sizes={"workers": "3"}),
    Deployment(name="granian",
               starts=["granian --interface wsgi --port {port} --workers 2 --blocking-threads 3 shop:application"],
               hops="granian", sizes={"workers": "2", "interface": "wsgi", "blocking_threads": "3"}),
    Deployment(name="circus, daphne", starts=["circusd circus.ini"],
               files={"circus.ini": "[circus]\nendpoint = ipc://{folder}/endpoint\n"
                                    "pubsub_endpoint = ipc://{folder}/pubsub\n"
                                    "[watcher:shop]\ncmd = daphne -p {port} shop:asgi\nworking_dir = {folder}\n"
                                    "copy_env = True\n"},
               hops="daphne"),
    Deployment(name="waitress", starts=["waitress-serve --listen=127.0.0.1:{port} --threads=6 shop:application"],
               hops="waitress", sizes={"threads": "6"}),
    Deployment(name="Apache, mod_wsgi", starts=["apache2 -f {folder}/apache.conf -DFOREGROUND"],
               files={"apache.conf": APACHE}, hops="apache+mod_wsgi", sizes={"processes": "2", "threads": "5"}),
    Deployment(name="cheroot", starts=["python -m cheroot --bind 127.0.0.1:{port} shop:application"],
               package="cheroot", unknown="Cheroot"),
    Deployment(name="bjoern", starts=["python serve.py"],
               files={"serve.py": "import bjoern\nimport shop\n"
                                  "bjoern.run(shop.application, '127.0.0.1', {port})\n"},
               package="bjoern", unknown="serve.py:1 starts a server"),
)  # fmt: skip


def free_ports(number: int) -> list[int]:
    """Return ports on which nobody listens."""
    with ExitStack() as kept:
        bound = [kept.enter_context(socket.socket()) for _ in range(number)]
        for each in bound:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in bound]


@contextmanager
def running(command: str, folder: Path, environment: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command line of a shell, and all that it starts, in a session of its own."""
    with (folder / "log").open("ab") as log:
        started = subprocess.Popen(
            ["sh", "-c", f"exec {command}"],
            cwd=folder,
            env=environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        yield started
    finally:
        left = below(started.pid)
        started.send_signal(signal.SIGINT if command.startswith("honcho") else signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            started.wait(5)
        for pid in [*left, started.pid]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        started.wait()


def parents() -> dict[int, int]:
    """Return the parent of each process of the machine."""
    found = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            found[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    return found


def below(pid: int) -> list[int]:
    """Return all processes below one."""
    known, found = parents(), [pid]
    for each in found:
        found += [child for child, parent in known.items() if parent == each]
    return found[1:]


def wait_for(address: str, pid: int, log: Path) -> None:
    """Wait until an address answers, and no further process has come for a while."""
    deadline, before, since = time.monotonic() + PATIENCE_S, [-1], 0.0
    while time.monotonic() < deadline:
        seen = below(pid)
        before, since = (before, since) if seen == before else (seen, time.monotonic())
        if answers(address) and time.monotonic() - since > 1.0:
            return
        time.sleep(0.1)
    raise TimeoutError(f"nobody answers at {address}: {log.read_text()[-2000:]}")


def answers(address: str) -> bool:
    """Tell whether a server answers a request with the app's page."""
    is_file = address.startswith("unix:")
    host, _, port = address.rpartition(":")
    with socket.socket(socket.AF_UNIX if is_file else socket.AF_INET) as asked, suppress(OSError):
        asked.settimeout(2)
        asked.connect(address[5:] if is_file else (host, int(port)))
        asked.sendall(b"GET / HTTP/1.1\r\nHost: shop\r\nConnection: close\r\n\r\n")
        return b" 200 " in asked.recv(64)
    return False


@dataclass(frozen=True)
class Seen:
    """What one call says, and what it takes."""

    wrong: tuple[str, ...]
    wall_s: float
    cpu_s: float


def current(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run ``stackrace current`` in a folder, with byte code, as an installation has it."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder.parent / "pyc")}
    command = [STACKRACE, "current", "--project", str(folder), *words]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def observed(deployment: Deployment, target: str, folder: Path, address: str, version: str) -> Seen:
    """Observe a target, and compare what is said with the truth."""
    begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = current(folder, "--running", target, "--json")
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode:
        return Seen((f"{target}: {(done.stderr or done.stdout).strip()}",), wall, cpu)
    wrong = differences(deployment, json.loads(done.stdout), address, version)
    return Seen(tuple(f"{target}: {each}" for each in wrong), wall, cpu)


def differences(deployment: Deployment, said: Mapping, address: str, version: str) -> Iterator[str]:
    """Yield where a document of ``current`` differs from the truth."""
    found, hops, server = said["deployment"], said["hops"], said["observed"]["server"]
    path = found["stack"]
    if deployment.unknown and (path or deployment.unknown not in found["problem"]):
        yield f"{path or found['problem']!r} in place of an unknown {deployment.unknown}"
    for wire in ("http", "uwsgi"):
        path = path.replace(f"/{wire}/", f"\0{wire}\0")
    shown = "/".join(part.partition(":")[0] for part in path.split("\0"))
    if shown != deployment.hops:
        yield f"the stack is {found['stack'] or found['problem']!r}, not {deployment.hops}"
    facts = {fact["what"]: fact["value"] for fact in hops[-1]["facts"]} if hops else {}
    truth = {**deployment.sizes, **({"version": version} if hops and version else {})}
    for what, value in truth.items():
        if facts.get(what) != value:
            yield f"{what} is {facts.get(what)}, not {value}"
    if address not in server["addresses"]:
        yield f"it listens on {server['addresses']}, not {address}"
    if server.get("workers") != deployment.workers:
        yield f"{server.get('workers')} processes run the app, not {deployment.workers}"
    if server["user"] != (deployment.user or os.geteuid()):
        yield f"user {server['user']}"
    if deployment.installed and server["versions"].get(deployment.installed) != version:
        yield f"{deployment.installed} {server['versions'].get(deployment.installed)}, not {version}"
    front = (said["observed"].get("front") or {}).get("name", "")
    if front != ("" if "/" not in deployment.hops else deployment.hops.partition("/")[0]):
        yield f"the front end is {front!r}"


def tried(deployment: Deployment, python: Path, around: Path) -> list[Seen]:
    """Start a deployment, observe it by its process and its port, and end it."""
    folder = Path(tempfile.mkdtemp(dir=around))
    folder.chmod(0o755)
    ports = free_ports(3)
    names = {"folder": str(folder), "port": ports[0], "inner": ports[1], "second": ports[2]}
    for name, text in deployment.files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text.format(**names))
    (folder / "shop.py").write_text(APP)
    environment = {"PATH": f"{python.parent}:{os.environ['PATH']}:/usr/sbin", "HOME": str(folder)}
    environment |= {name: value.format(**names) for name, value in deployment.environment.items()}
    asked = [str(python), "-c", f"from importlib.metadata import version; print(version({deployment.installed!r}))"]
    version = subprocess.run(asked, capture_output=True, text=True).stdout.strip()
    address = deployment.address.format(**names)
    with ExitStack() as kept:
        commands = [each.format(**names) for each in deployment.starts]
        started = [kept.enter_context(running(each, folder, environment)) for each in commands]
        wait_for(f"127.0.0.1:{ports[0]}" if deployment.target else address, started[0].pid, folder / "log")
        targets = [str(started[deployment.process].pid), *filter(None, [deployment.target.format(**names)])]
        return [observed(deployment, target, folder, address, version) for target in targets]


def interpreter(around: Path, packages: str) -> Path:
    """Return the interpreter of a new environment that every user may read."""
    listed = around / "requirements.txt"
    listed.write_text("\n".join(packages.split()))
    base = Path(sys._base_executable)  # type: ignore[attr-defined]
    python = Environments(around, lambda _: None).of_requirements(listed, base, UNPROTECTED)
    python.parents[2].chmod(0o755)
    return python


def main() -> None:
    """Try every deployment that this machine can start, or those that are named, and count the agreeing ones."""
    path = f"{os.environ['PATH']}:/usr/sbin"
    fronts = {"nginx", "haproxy", "caddy", "apache2"}
    there = fronts & {each for each in fronts if shutil.which(each, path=path)}
    chosen = [
        each
        for each in DEPLOYMENTS
        if not {start.split()[0] for start in each.starts} & (fronts - there)
        and (not each.user or os.geteuid() == 0)
        and (not sys.argv[1:] or each.name in sys.argv[1:])
    ]
    with tempfile.TemporaryDirectory() as made:
        around = Path(made)
        around.chmod(0o755)
        pythons = {each: interpreter(around, each) for each in {each.packages for each in chosen}}
        # what is imported first is compiled
        (around / "empty").mkdir()
        current(around / "empty")
        results = [(each, tried(each, pythons[each.packages], around)) for each in chosen]
    for deployment, seen in results:
        wrong = [each for one in seen for each in one.wrong]
        wall, cpu = max(one.wall_s for one in seen), max(one.cpu_s for one in seen)
        print(f"  {deployment.name:28} {'differs' if wrong else 'agrees':8} {wall:5.2f} s {cpu:5.2f} s of CPU")
        for each in wrong:
            print(f"      {each}")
    good = sum(not any(one.wrong for one in seen) for _, seen in results)
    longest = max(one.wall_s for _, seen in results for one in seen)
    print(f"{good} of {len(results)} agree, in at most {longest:.2f} s")


if __name__ == "__main__":
    main()
