"""Settings of a Django project of one page, in debug mode."""

from django.http import HttpResponse
from django.urls import path

DEBUG = True
SECRET_KEY = "none"
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = __name__


def page(request):
    """Answer with 2000 bytes."""
    return HttpResponse(b"." * 2000)


urlpatterns = [path("", page)]
