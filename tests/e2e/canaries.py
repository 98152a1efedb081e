"""A project with a secret in every place where text comes in, and what looks for them where text goes out."""

import base64
import json
import os
import re
import subprocess
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

PLACES = (
    "shell", "shell_url", "option_file", "dotenv", "dotenv_above", "race_file", "database", "bearer", "cookie",
    "basic", "header", "path", "redirect", "sitemap", "prepare", "compose", "procfile", "dockerfile", "gunicorn",
    "unit", "kubernetes", "har_header", "har_cookie", "har_query", "log", "remote", "index", "requirements",
    "store", "couch", "target",
)  # fmt: skip
CORES = {place: f"zq{number:02}kx7w" for number, place in enumerate(PLACES)}
"""What every form of a secret has in it: letters and figures alone are written alike everywhere."""
_FORMS = [
    {core.encode(): place for place, core in CORES.items()},
    *(
        {base64.b64encode(b" " * at + core.encode())[at + (at > 0) : -4]: place for place, core in CORES.items()}
        for at in range(3)
    ),
]
"""The cores as they are, and in Base64 wherever they begin."""
_PATTERNS = [re.compile(min(forms)[:2] + b"(?:" + b"|".join(form[2:] for form in forms) + b")") for forms in _FORMS]
"""Each begins with what all its forms do, which is looked for quickly."""
_PLACES = {form: place for each in _FORMS for form, place in each.items()}


def secret(place: str) -> str:
    """Return the secret of a place, which others write otherwise: in URLs, JSON and HTML."""
    return f'"{CORES[place]}&/+%'


def token(place: str) -> str:
    """Return the same for places in which not every letter may stand."""
    return f"t-{CORES[place]}-t"


def seen(data: bytes | str) -> set[str]:
    """Return the places whose secrets ``data`` gives away."""
    data = data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data
    return {_PLACES[form] for pattern in _PATTERNS for form in pattern.findall(data)}


def seen_in(*folders: Path, since: float) -> dict[str, set[str]]:
    """Return the files below ``folders``, changed ``since`` then, that give secrets away, and whose."""
    files: dict[Path, set[str]] = {}
    for path in (Path(place, name) for top in folders for place, _, names in os.walk(top) for name in names):
        # other tests make and remove files in the same cache
        with suppress(FileNotFoundError):
            if path.is_file() and path.stat().st_ctime >= since:
                files[path] = seen(path.read_bytes())
    return {str(path): places for path, places in files.items() if places}


APP = """
import os, sys

NAMES = ("SHELL_SECRET", "API_TOKEN", "MAIL_PASSWORD", "RACE_SECRET", "DATABASE_URL", "ABOVE_TOKEN", "FEED_URL")
def line(path, name):
    for row in open(path).read().splitlines():
        if row.startswith(name + "="):
            return row.partition("=")[2].strip("'")
HERE = os.path.dirname(os.path.abspath(__file__))
os.environ["MAIL_PASSWORD"] = line(ENV, "MAIL_PASSWORD")
os.environ["ABOVE_TOKEN"] = line(ABOVE, "ABOVE_TOKEN")
WORDS = " ".join(os.environ.get(name, "") for name in NAMES)
print(WORDS, flush=True)
print(repr(WORDS), file=sys.stderr, flush=True)

PATHS = __import__("json").load(open(os.path.join(HERE, "paths.json")))

def body(environ):
    told = " ".join(f"{name}={value}" for name, value in environ.items() if name.startswith("HTTP_"))
    if environ["PATH_INFO"] == "/robots.txt":
        return "Sitemap: http://x.example/sitemap.xml"
    if environ["PATH_INFO"] == "/sitemap.xml":
        return f"<loc>http://x.example{PATHS['sitemap']}</loc><loc>http://x.example/about</loc>"
    if environ["PATH_INFO"] == "/":
        return f"<a href='{PATHS['path']}'>p</a> <a href='/go'>go</a> <a href='/about'>about</a>"
    if "gunicorn" in sys.modules:
        return "a page of its own " + environ["PATH_INFO"] + "?" + environ["QUERY_STRING"] + " " + WORDS + told
    return "the shop"

def app(environ, start_response):
    if environ["PATH_INFO"] == "/fails":
        raise RuntimeError(WORDS + str(environ))
    if environ["PATH_INFO"] == "/go":
        start_response("302 Found", [("Location", PATHS["redirect"]), ("Content-Length", "0")])
        return [b""]
    data = body(environ).encode()
    cookie = "sid=" + os.environ.get("API_TOKEN", "-")
    start_response("200 OK", [("Content-Length", str(len(data))), ("Set-Cookie", cookie)])
    return [data]

if "waitress" in sys.modules:
    raise RuntimeError(WORDS)
"""


class World:
    """The project below ``top``."""

    def __init__(self, top: Path) -> None:
        self.top, self.root, self.outside = top, top / "above" / "shop", top / "outside"
        self.root.mkdir(parents=True)
        self.begun = self.root.stat().st_ctime
        self.outside.mkdir()
        paths = {
            "sitemap": f"/s?token={token('sitemap')}", "path": f"/p?q={token('path')}",
            "redirect": f"/r?password={token('redirect')}",
        }  # fmt: skip
        app = APP.replace("ENV,", repr(str(self.root / ".env")) + ",", 1)
        app = app.replace("ABOVE,", repr(str(top / "above" / ".env")) + ",", 1)
        files = {
            "app.py": app,
            "paths.json": json.dumps(paths),
            ".env": f"MAIL_PASSWORD='{secret('dotenv')}'\n",
            "../.env": f"ABOVE_TOKEN='{secret('dotenv_above')}'\n",
            "vars.env": f"API_TOKEN='{token('path')}'\nOPTION_SECRET='{secret('option_file')}'\n",
            "compose.yaml": "services:\n  web:\n    image: shop\n    command: gunicorn app:app -w 2\n"
            f"    environment:\n      COMPOSE_TOKEN: {token('compose')}\n",
            "Procfile": f"web: PROC_TOKEN={token('procfile')} gunicorn --workers 2 app:app\n",
            "Dockerfile": f"FROM python:3.12\nENV DOCKER_TOKEN={token('dockerfile')}\nCMD gunicorn -w 2 app:app\n",
            "gunicorn.conf.py": f"raw_env = ['GUNICORN_TOKEN={token('gunicorn')}']\nworkers = 2\n",
            "shop.service": "[Service]\nExecStart=/usr/bin/env gunicorn -w 2 app:app\n"
            f"Environment=UNIT_TOKEN={token('unit')}\n",
            "k8s.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: shop}\nspec:\n  template:\n"
            "    spec:\n      containers:\n      - name: shop\n        image: shop\n"
            "        command: [gunicorn, 'app:app']\n"
            f"        env:\n        - {{name: K8S_TOKEN, value: {token('kubernetes')}}}\n",
            "requirements.txt": f"--extra-index-url https://ann:{token('requirements')}@packages.example/simple\n",
        }
        for name, text in files.items():
            (self.root / name).write_text(text)
        git = ("git", "-C", str(self.root), "-c", "user.name=a", "-c", "user.email=a@b.c")
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run(
            [*git, "remote", "add", "origin", f"https://ann:{token('remote')}@git.example/shop.git"], check=True
        )
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", "one"], check=True)
        self.environment = {
            "SHELL_SECRET": secret("shell"),
            "FEED_URL": f"https://ann:{quote(secret('shell_url'), safe='')}@feed.example/",
            "XDG_DATA_HOME": str(top / "data"),
            "HOME": str(top / "home"),
        }
        (top / "home").mkdir()
        self.before = {path: path.read_bytes() for path in self.root.rglob("*") if path.is_file()}

    def race_file(self, more: str = "", urls: str = "") -> Path:
        """Write a race file with secrets in all of its tables."""
        path = self.outside / "race.toml"
        env = {
            "RACE_SECRET": secret("race_file"),
            "DATABASE_URL": f"postgresql://ann:{quote(secret('database'), safe='')}@127.0.0.1:1/shop",
        }
        headers = {
            "Authorization": f"Bearer {token('bearer')}",
            "Proxy-Authorization": "Basic " + base64.b64encode(f"ann:{token('basic')}".encode()).decode(),
            "X-Api-Key": token("header"),
            "Cookie": f"theme=dark; sessionid={token('cookie')}",
        }
        path.write_text(
            f'[app]\nroot = "{self.root}"\nwsgi = "app:app"\nenv_file = ["{self.root}/vars.env"]\n'
            f"env = {{ {', '.join(f'{name} = {json.dumps(value)}' for name, value in env.items())} }}\n"
            f'prepare = ["python -c 1 --api-token={token("prepare")}"]\n'
            f"[workload]\nheaders = {{ {', '.join(f'{name} = {json.dumps(v)}' for name, v in headers.items())} }}\n"
            f"{urls}\n{more}"
        )
        return path

    def har(self) -> Path:
        """Write a recorded session with secrets in its requests."""
        headers = {"Authorization": f"Bearer {token('har_header')}", "Cookie": f"sessionid={token('har_cookie')}"}
        path = self.outside / "session.har"
        url = f"http://shop.example/about?token={token('har_query')}"
        entry = {
            "startedDateTime": "2026-01-01T00:00:00Z", "time": 1,
            "request": {"method": "GET", "url": url, "httpVersion": "HTTP/1.1", "cookies": [], "queryString": [],
                        "headers": [{"name": name, "value": value} for name, value in headers.items()],
                        "headersSize": -1, "bodySize": 0},
            "response": {"status": 200, "statusText": "OK", "httpVersion": "HTTP/1.1", "cookies": [], "headers": [],
                         "content": {"size": 8, "mimeType": "text/plain", "text": "the shop"}, "redirectURL": "",
                         "headersSize": -1, "bodySize": 8},
            "cache": {}, "timings": {"send": 0, "wait": 1, "receive": 0},
        }  # fmt: skip
        path.write_text(json.dumps({"log": {"version": "1.2", "creator": {}, "entries": [entry]}}))
        return path

    def log(self) -> Path:
        """Write an access log with a secret in a query."""
        path = self.outside / "access.log"
        line = (
            f'192.0.2.7 - - [10/Oct/2026:13:55:36 +0000] "GET /about?access_token={token("log")} HTTP/1.1" 200 8\n'
        )
        path.write_text(line)
        return path

    def told(self) -> dict[str, set[str]]:
        """Return what is left anywhere that gives secrets away, but for what was planted."""
        ours = [self.top / "data", self.top / "home", Path(os.environ["XDG_CACHE_HOME"]) / "stackrace"]
        found = seen_in(*(folder for folder in ours if folder.exists()), self.outside, self.root, since=self.begun)
        planted = {str(path) for path in (*self.before, *self.outside.glob("*.toml"), *self.outside.glob("*.har"))}
        planted |= {str(self.outside / "access.log")}
        return {path: places for path, places in found.items() if path not in planted}
