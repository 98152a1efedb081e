"""The pages of the library. Each docstring tells the number of queries, and a test holds it.

What belongs to the rows of a list is fetched with a query of its own (``prefetch_related``), not with a join:
MariaDB begins such a join with the smaller table, and sorts all of its million rows for the 25 that are shown.
"""

from django.db.models import Count, Max, Min
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe
from seeding.state import unseeded

from .models import Book, Loan, Publisher, Tally
from .seek import seek

SHORT = 10
"""Rows of the lists that are only a part of a page."""


@require_safe
def home(request):
    """Show the newest of everything, in 5 queries."""
    books = Book.objects.prefetch_related("publisher").order_by("-id")[:SHORT]
    loans = Loan.objects.prefetch_related("book").order_by("-id")[:SHORT]
    tallies = {tally.table: tally.total for tally in Tally.objects.all()}
    if not tallies:
        raise unseeded("browse")
    return render(request, "library/home.html", {"books": books, "loans": loans, "tallies": tallies})


@require_safe
def publishers(request):
    """List the publishers, in 2 queries."""
    return _list(request, Publisher.objects.all(), "library/publishers.html")


@require_safe
def books(request):
    """List the books with their publishers, in 3 queries."""
    return _list(request, Book.objects.prefetch_related("publisher"), "library/books.html")


@require_safe
def loans(request):
    """List the loans with their books, in 3 queries."""
    return _list(request, Loan.objects.prefetch_related("book"), "library/loans.html")


@require_safe
def publisher(request, pk):
    """Show a publisher and a page of its books, in 3 queries."""
    publisher = get_object_or_404(Publisher, pk=pk)
    books = publisher.books.all()
    facts = books.aggregate(total=Count("id"), first=Min("year"), last=Max("year"))
    context = {"publisher": publisher, "facts": facts, "page": seek(books, request.GET)}
    return render(request, "library/publisher.html", context)


@require_safe
def book(request, pk):
    """Show a book, how often it was borrowed and its last loans, in 3 queries."""
    book = get_object_or_404(Book.objects.select_related("publisher"), pk=pk)
    context = {"book": book, "total": book.loans.count(), "loans": book.loans.order_by("-id")[:SHORT]}
    return render(request, "library/book.html", context)


def _list(request, queryset, template):
    tally = Tally.objects.filter(pk=queryset.model._meta.model_name).first()
    if tally is None:
        raise unseeded("browse")
    return render(request, template, {"total": tally.total, "page": seek(queryset, request.GET)})
