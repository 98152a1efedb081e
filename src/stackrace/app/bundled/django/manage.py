#!/usr/bin/env python
"""Run Django's management commands for the sample site."""

import os
import sys

from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sample.settings")
    execute_from_command_line(sys.argv)
