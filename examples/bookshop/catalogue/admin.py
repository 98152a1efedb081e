"""The shopkeeper's view."""

from django.contrib import admin

from .models import Author, Book

admin.site.register(Author)


@admin.register(Book)
class BookAdmin(admin.ModelAdmin):
    """Books in a searchable list."""

    list_display = ("title", "author", "year", "price")
    search_fields = ("title", "author__name")
