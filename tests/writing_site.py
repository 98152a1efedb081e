"""A Django project that writes on each request: a row into its SQLite file and a file into its media folder."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

SETTINGS = """
from pathlib import Path

BASE = Path(__file__).resolve().parent
SECRET_KEY = "x"
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "urls"
INSTALLED_APPS = ["django.contrib.staticfiles"]
DATABASES = {{
    "default": {{"ENGINE": "django.db.backends.sqlite3", "NAME": "{database}", "OPTIONS": {{"timeout": 30}}}}
}}
MEDIA_ROOT = "{media}"
STATIC_URL = "/static/"
STATIC_ROOT = BASE / "collected"
STATICFILES_DIRS = [BASE / "style"]
"""

URLS = """
import uuid
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.http import HttpResponse
from django.urls import path


def page(request):
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO visit VALUES (1)")
    Path(settings.MEDIA_ROOT, "last.txt").write_text(str(uuid.uuid4()))
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


def make_site(root: Path, data: Path) -> Path:
    """Make the project in ``root``, its database and media in ``data``; both are new folders."""
    for folder in (root / "style", data / "media"):
        folder.mkdir(parents=True)
    (root / "manage.py").write_text(MANAGE)
    (root / "settings.py").write_text(SETTINGS.format(database=data / "data.sqlite3", media=data / "media"))
    (root / "urls.py").write_text(URLS)
    (root / "style" / "site.css").write_text("p { color: red }")
    with closing(sqlite3.connect(data / "data.sqlite3")) as connection:
        connection.execute("CREATE TABLE visit (at)")
    return root


def digest(folder: Path) -> str:
    """Return what stands for every name and every byte below ``folder``, byte code included."""
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        whole.update(f"{path.relative_to(folder)}\0{path.stat().st_mode}\0{path.stat().st_mtime_ns}\0".encode())
        whole.update(path.read_bytes() if path.is_file() else b"")
    return whole.hexdigest()
