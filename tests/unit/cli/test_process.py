"""The process as a whole: Ctrl-C leads to its exit code, wherever Python is."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import stackrace

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(stackrace.__file__).parents[1])}


def test_an_interruption_within_a_callback_is_neither_lost_nor_printed():
    code = """
        import time
        from stackrace.__main__ import main
        from stackrace.cli import process

        class Dying:
            def __del__(self):
                raise KeyboardInterrupt

        def run():
            Dying()
            time.sleep(60)

        process.run = run
        main()
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "")


def test_an_interruption_that_a_compiler_of_classes_turns_into_its_own_error_is_one():
    code = """
        import signal, sys
        from stackrace.cli import process

        def wrapping(**_):
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                raise RuntimeError("Error building 'model' validator") from None

        sys.modules['stackrace.cli.main'].cli.main = wrapping
        process.main()
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "interrupted\n")


@pytest.mark.parametrize("at", ["stackrace.cli", "stackrace.cli.main", "stackrace.cli.edge"])
def test_an_interruption_while_it_is_imported_is_not_printed(at):
    code = f"""
        import sys
        from stackrace.__main__ import main

        class Interrupting:
            def find_spec(name, path, target=None):
                if name == {at!r}:
                    raise KeyboardInterrupt

        sys.meta_path.insert(0, Interrupting)
        main()
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "")


def test_an_interruption_that_an_import_turns_into_its_own_error_is_one():
    code = """
        import sys
        from stackrace.__main__ import main

        class Named:
            def __set_name__(self, owner, name):
                import signal
                signal.raise_signal(signal.SIGINT)

        class Interrupting:
            def find_spec(name, path, target=None):
                if name == "stackrace.cli":
                    type("Owner", (), {"named": Named()})

        sys.meta_path.insert(0, Interrupting)
        main()
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "")


def test_an_interruption_within_a_callback_of_an_import_is_neither_lost_nor_printed():
    code = """
        import sys
        from stackrace.__main__ import main

        class Dying:
            def __del__(self):
                raise KeyboardInterrupt

        class Interrupting:
            def find_spec(name, path, target=None):
                if name == "stackrace.cli":
                    import time
                    Dying()
                    time.sleep(60)

        sys.meta_path.insert(0, Interrupting)
        main()
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "")


def test_nothing_is_imported_before_it_is_heeded():
    code = """
        import sys
        before = set(sys.modules)
        from stackrace.__main__ import main
        assert set(sys.modules) - before == {"stackrace", "stackrace.__main__"}, set(sys.modules) - before
    """
    subprocess.run([sys.executable, "-S", "-c", textwrap.dedent(code)], check=True, env=ENVIRONMENT)
