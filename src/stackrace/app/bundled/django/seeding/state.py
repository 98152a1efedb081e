"""What a page says whose rows are missing."""


class UnseededError(Exception):
    """A page was asked for before its rows were there: an empty page would be raced as if it were the real one."""


def unseeded(name):
    """Return the error of a page that needs the seed ``name``."""
    return UnseededError(
        f"the rows of this page are missing; run: python manage.py seed {name}"
        f' (in a race file: [app] prepare = ["python manage.py seed {name}"])'
    )
