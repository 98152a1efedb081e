"""What the product said of one recorded result of each kind, and what it decided in simulated races.

``recorded/`` holds results: real short runs of bundled apps, and some made by ``tests/factories.py``, for what no
machine does on demand. ``golden/`` holds what was shown of each, in every format, with the exit code of its verb.

A difference is a change that users see. Where it is meant: ``STACKRACE_UPDATE_GOLDEN=1 pytest tests/frozen``.
"""
