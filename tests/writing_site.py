"""A Django project that writes on each request: rows into two SQLite files, a file into each of two folders."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from contextlib import closing
from pathlib import Path

SETTINGS = """
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent
DATA_DIR = {data}
SECRET_KEY = "x"
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "urls"
INSTALLED_APPS = ["django.contrib.staticfiles"]
DATABASES = {{
    name: {{"ENGINE": "django.db.backends.sqlite3", "NAME": path, "OPTIONS": {{"timeout": 30}}}}
    for name, path in (("default", BASE_DIR / "data.sqlite3"), ("other", DATA_DIR / "other.sqlite3"))
}}
MEDIA_ROOT = DATA_DIR / "media"
STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / "collected"
STATICFILES_DIRS = [BASE_DIR / "style"]
"""

URLS = """
import uuid
from pathlib import Path

from django.conf import settings
from django.db import connection, connections
from django.http import HttpResponse
from django.urls import path


def page(request):
    for each in connections.all():
        with each.cursor() as cursor:
            cursor.execute("INSERT INTO visit VALUES (1)")
    for folder in (settings.MEDIA_ROOT, settings.BASE_DIR):
        Path(folder, "last.txt").write_text(str(uuid.uuid4()))
    return HttpResponse("hello", headers={"Content-Length": "5"})


def visits(request):
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM visit")
        return HttpResponse(str(cursor.fetchone()[0]))


urlpatterns = [path("", page), path("visits/", visits)]
"""

MANAGE = """
import os
import sys

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "settings")
from django.core.management import execute_from_command_line

execute_from_command_line(sys.argv)
"""


def make_site(root: Path, data: Path, *, whole_path: bool = False) -> Path:
    """Make the project in ``root``; half of what it writes lies there, half in ``data``.

    Its settings name ``data`` from their place, or by its ``whole_path``.
    """
    for folder in (root / "style", data / "media"):
        folder.mkdir(parents=True)
    place = f"Path({str(data)!r})" if whole_path else f"(BASE_DIR / {os.path.relpath(data, root)!r}).resolve()"
    (root / "manage.py").write_text(MANAGE)
    (root / "settings.py").write_text(SETTINGS.format(data=place))
    (root / "urls.py").write_text(URLS)
    (root / "style" / "site.css").write_text("p { color: red }")
    for database in (root / "data.sqlite3", data / "other.sqlite3"):
        with closing(sqlite3.connect(database)) as connection:
            connection.execute("CREATE TABLE visit (at)")
    return root


def digest(folder: Path, ignored: tuple[str, ...] = ()) -> str:
    """Return what stands for every name and every byte below ``folder``, byte code included.

    What has a name that begins with one of ``ignored`` does not count.
    """
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if any(part.startswith(ignored) for part in name.parts):
            continue
        whole.update(f"{name}\0{path.stat().st_mode}\0{path.stat().st_mtime_ns}\0".encode())
        whole.update(path.read_bytes() if path.is_file() else b"")
    return whole.hexdigest()
