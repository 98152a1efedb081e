"""The URLs of the library, below /browse/."""

from django.urls import path

from . import views

app_name = "library"
urlpatterns = [
    path("", views.home, name="home"),
    path("publishers/", views.publishers, name="publishers"),
    path("publishers/<int:pk>/", views.publisher, name="publisher"),
    path("books/", views.books, name="books"),
    path("books/<int:pk>/", views.book, name="book"),
    path("loans/", views.loans, name="loans"),
]
