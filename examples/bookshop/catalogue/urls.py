"""The catalogue's URLs."""

from django.urls import path

from . import views

app_name = "catalogue"
urlpatterns = [
    path("", views.Front.as_view(), name="front"),
    path("books/", views.BookList.as_view(), name="books"),
    path("books/<int:pk>/", views.BookDetail.as_view(), name="book"),
]
