"""The URLs of the six tests, where everyone looks for them."""

from django.urls import path

from . import views

app_name = "frameworks"
urlpatterns = [
    path("json/", views.json, name="json"),
    path("plaintext/", views.plaintext, name="plaintext"),
    path("db/", views.db, name="db"),
    path("queries/", views.queries, name="queries"),
    path("fortunes/", views.fortunes, name="fortunes"),
    path("updates/", views.updates, name="updates"),
]
