"""The URLs of the pages."""

from pathlib import Path

from django.urls import path
from django.views.static import serve

from . import views

STATIC = Path(__file__).resolve().parent / "static"

urlpatterns = [
    path("", views.index, name="index"),
    path("hello/", views.hello, name="hello"),
    path("ctime/", views.ctime, name="ctime"),
    path("ten-kilobytes/", views.ten_kilobytes, name="ten-kilobytes"),
    path("random-row/", views.random_row, name="random-row"),
    path("fifteen-queries/", views.fifteen_queries, name="fifteen-queries"),
    # Stacks without a front end must answer the static file, too; the others never ask for it.
    path("static/<path:path>", serve, {"document_root": STATIC}),
]
