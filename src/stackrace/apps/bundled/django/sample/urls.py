"""The site's URLs: everything is in ``pages``."""

from django.urls import include, path

urlpatterns = [path("", include("pages.urls"))]
