"""The site's URLs, app by app."""

from django.urls import include, path

urlpatterns = [
    path("", include("pages.urls")),
    path("", include("frameworks.urls")),
    path("browse/", include("library.urls")),
]
