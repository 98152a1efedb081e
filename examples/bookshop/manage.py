#!/usr/bin/env python
"""Django's command-line utility for the bookshop."""

import os
import sys


def main():
    """Run an administrative task."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bookshop.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
