"""Settings as a small site would run in production. See https://docs.djangoproject.com/en/5.2/ref/settings/"""

import os

from .database import database

DEBUG = False
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]"]

# Nothing here is signed or secret; a real site must set its own.
SECRET_KEY = os.environ.get("SECRET_KEY", "this-site-signs-nothing-worth-forging-so-a-published-key-is-harmless")

INSTALLED_APPS = [
    "django.contrib.contenttypes",
    "django.contrib.auth",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "pages",
    "frameworks",
    "library",
    "seeding",
]

# The ordinary list of `startproject`: its cost is part of every real answer, needed by the page or not.
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "sample.urls"
WSGI_APPLICATION = "sample.wsgi.application"
ASGI_APPLICATION = "sample.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {"context_processors": ["django.template.context_processors.request"]},
    }
]

# A connection that lives for a minute spares every request the handshake, as most real sites do; without it a
# race over PostgreSQL would mostly compare the making of connections. asgi.py says why it differs there.
DATABASES = {"default": {**database(), "CONN_MAX_AGE": 60}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

if DATABASES["default"]["ENGINE"].endswith("mysql"):
    import pymysql

    pymysql.install_as_MySQLdb()

STATIC_URL = "/static/"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en-us"
USE_I18N = False

# A race speaks plain HTTP over loopback, logs nobody in and sets no cookie: no HTTPS, and no secret, can be asked.
SILENCED_SYSTEM_CHECKS = ["security.W004", "security.W008", "security.W012", "security.W016"]
