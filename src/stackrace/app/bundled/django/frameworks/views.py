"""The six tests, as their requirements ask.

Source: TechEmpower Framework Benchmarks, "Framework Tests Overview" and the pages of the test types. Only the list
of middleware differs from what is published there for Django: that one is empty, ours is a site's ordinary one.
"""

import random
from operator import attrgetter

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from seeding.state import unseeded

from .models import ROWS, Fortune, World

MOST = 500


def json(request):
    """JSON serialisation: an object made for this request."""
    return JsonResponse({"message": "Hello, World!"})


def plaintext(request):
    """Request routing alone."""
    return HttpResponse("Hello, World!", content_type="text/plain")


def db(request):
    """A single query: one row at random."""
    return JsonResponse(_shown(_row(random.randint(1, ROWS))))


def queries(request):
    """Multiple queries: so many rows at random, each with a query of its own."""
    return JsonResponse([_shown(row) for row in _rows(request)], safe=False)


def updates(request):
    """Database updates: so many rows at random, each read with a query of its own, given another number and kept.

    They are written back together, which the requirements allow. Sorted, so that no two requests lock the same
    rows in opposite orders.
    """
    rows = sorted(_rows(request), key=attrgetter("id"))
    for row in rows:
        row.random_number = random.randint(1, ROWS)
    World.objects.bulk_update(rows, ["random_number"])
    return JsonResponse([_shown(row) for row in rows], safe=False)


def fortunes(request):
    """Fortunes: all rows and one more, sorted here, not in the database, and escaped by the template."""
    rows = list(Fortune.objects.all())
    if not rows:
        raise unseeded("world")
    rows.append(Fortune(id=0, message="Additional fortune added at request time."))
    rows.sort(key=attrgetter("message"))
    return render(request, "frameworks/fortunes.html", {"fortunes": rows})


def _rows(request):
    return [_row(number) for number in random.sample(range(1, ROWS + 1), _number_of_queries(request))]


def _row(number):
    try:
        return World.objects.get(pk=number)
    except World.DoesNotExist as error:
        raise unseeded("world") from error


def _number_of_queries(request):
    """From 1 to 500; anything that is no number counts as 1."""
    try:
        number = int(request.GET.get("queries", ""))
    except ValueError:
        return 1
    return max(1, min(number, MOST))


def _shown(row):
    return {"id": row.id, "randomNumber": row.random_number}
