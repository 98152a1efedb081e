"""Print uWSGI's options from its configuration file and environment. Run by the app's interpreter.

Usage: ``inspector.py FILE``. The last line of output is a JSON object of uWSGI's options, with includes,
conditions and placeholders resolved. uWSGI prints them before it loads an app, and is killed then.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_OURS = ("ini", "show-config", "no-server", "if-env", "if-not-env", "if-opt", "endif", "for", "endfor")
"""Options that the inspector adds, and directives without effect once the others are resolved."""
_END = ";end of configuration"


def _options(program: str, file: str) -> Iterator[tuple[str, str]]:
    command = [program, "--ini", file, "--show-config", "--no-server"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout
        is_inside = False
        for line in process.stdout:
            if line.startswith(_END):
                process.kill()
                return
            name, equals, value = line.strip().partition(" = ")
            if is_inside and equals:
                yield name.replace("_", "-"), value
            is_inside = is_inside or line.startswith("[uwsgi]")
    raise SystemExit("uWSGI shows no configuration")


def main(file: str) -> None:
    """Print the options; exits with an error if there is no uWSGI."""
    program = shutil.which("uwsgi", path=str(Path(sys.executable).parent)) or shutil.which("uwsgi")
    if program is None:
        raise SystemExit("there is no uWSGI")
    found = dict(_options(program, file))
    sys.stdout.write("\n" + json.dumps({name: found[name] for name in found if name not in _OURS}))


if __name__ == "__main__":
    main(sys.argv[1])
