"""The site's addresses."""

from __future__ import annotations

from django.urls import path

from . import views

urlpatterns = [
    path("", views.index, name="index"),
    path("<slug:race_id>/", views.report, name="report"),
    path("<slug:race_id>.json", views.document, name="document"),
]
