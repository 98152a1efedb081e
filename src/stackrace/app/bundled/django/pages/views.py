"""The pages, one view each."""

import random
import time

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render

from .models import Row

ROWS = 10
SYLLABLES = ("an", "el", "io", "or", "ut")
TEN_KILOBYTES = ("All work and no play makes a web server a dull thing.\n" * 200)[:10_000]


def index(request):
    """Link to all pages, from a template."""
    return render(request, "pages/index.html")


def hello(request):
    """Return 13 bytes, as mod_wsgi's 2009 comparison did."""
    return HttpResponse("Hello, world!", content_type="text/plain")


def ctime(request):
    """Return the time, as the 2007 comparison with LiteSpeed did."""
    return HttpResponse(time.ctime(), content_type="text/plain")


def ten_kilobytes(request):
    """Return 10,000 bytes, as the 2008 comparison with lighttpd did."""
    return HttpResponse(TEN_KILOBYTES, content_type="text/plain")


def random_row(request):
    """Return one of ten long strings, fetched through the ORM, as the 2007 comparison did."""
    row = get_object_or_404(Row, number=random.randint(1, ROWS))
    return HttpResponse(row.text, content_type="text/plain")


def fifteen_queries(request):
    """Return a page made from 15 queries, as the 2007 comparison of nginx did: ten rows and five counts."""
    rows = [get_object_or_404(Row, number=number) for number in range(1, ROWS + 1)]
    counts = [(syllable, Row.objects.filter(text__contains=syllable).count()) for syllable in SYLLABLES]
    return render(request, "pages/fifteen-queries.html", {"rows": rows, "counts": counts})
