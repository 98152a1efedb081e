"""Print gunicorn's settings from its configuration file and environment. Run by the app's interpreter.

Usage: ``inspector.py FILE``. The last line of output is a JSON object of gunicorn's settings, by their names
in a file. The file is run, the app is not loaded. If the interpreter has no gunicorn, or gunicorn rejects a
folder or a user that this machine lacks, only the names assigned in the file are printed.
"""

from __future__ import annotations

import json
import runpy
import sys

_LONGEST = 80


def _settings(file: str) -> dict[str, object]:
    try:
        from gunicorn.app.wsgiapp import WSGIApplication  # type: ignore[import-untyped]

        sys.argv = ["gunicorn", "-c", file, "app:app"]
        return {name: setting.get() for name, setting in WSGIApplication().cfg.settings.items()}
    except (ImportError, SystemExit):
        return dict(runpy.run_path(file))


def main(file: str) -> None:
    """Print the settings."""
    sys.path.insert(0, "")
    values = _settings(file)
    plain = {name: value for name, value in values.items() if isinstance(value, (str, int)) and name[:1] != "_"}
    kept = {name: value for name, value in plain.items() if len(str(value)) < _LONGEST}
    sys.stdout.write("\n" + json.dumps(kept))


if __name__ == "__main__":
    main(sys.argv[1])
