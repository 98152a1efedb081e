"""The visitor's view."""

from django.views.generic import DetailView, ListView, TemplateView

from .models import Author, Book


class Front(TemplateView):
    """The front page: what is in the shop, and the oldest treasures."""

    template_name = "catalogue/front.html"

    def get_context_data(self, **kwargs):
        """Add the counts and five books."""
        return super().get_context_data(
            books=Book.objects.count(),
            authors=Author.objects.count(),
            oldest=Book.objects.select_related("author").order_by("year", "pk")[:5],
            **kwargs,
        )


class BookList(ListView):
    """All books, twenty to a page."""

    queryset = Book.objects.select_related("author")
    paginate_by = 20


class BookDetail(DetailView):
    """One book, and what else its author wrote."""

    queryset = Book.objects.select_related("author")
