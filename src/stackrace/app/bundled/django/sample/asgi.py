"""The ASGI callable."""

import os

from django.conf import settings
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sample.settings")

# Under ASGI any thread may run a request, so a connection that outlives its request may never be met again.
# Source: https://docs.djangoproject.com/en/5.2/ref/databases/#persistent-database-connections
settings.DATABASES["default"]["CONN_MAX_AGE"] = 0

application = get_asgi_application()
