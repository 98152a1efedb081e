"""The command ``stackrace``, and ``python -m stackrace``."""

# only what Python has already loaded: Ctrl-C while this is imported would print a traceback
import _signal  # type: ignore[import-not-found]
import _thread
import posix
import sys
import time

_AGAIN_S = 0.01
_SIGINT = 2


def main() -> None:
    """Run the command line; Ctrl-C while it is still being imported prints no traceback either."""
    try:
        sys.unraisablehook = _unraisable
        before = _signal.getsignal(_SIGINT)
        if before is _signal.default_int_handler:
            # as an exception, what is imported may turn it into one of its own
            _signal.signal(_SIGINT, _leave)
        from .cli import main as run

        _signal.signal(_SIGINT, before)
        run()
    except KeyboardInterrupt:
        raise SystemExit(130) from None


def _leave(number: int, frame: object) -> None:
    posix._exit(130)


def _unraisable(lost: "sys.UnraisableHookArgs") -> None:
    """Send Ctrl-C again where Python caught it in a callback, which can raise nothing, and would only print it."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        _thread.start_new_thread(_interrupt_again, ())
    else:
        sys.__unraisablehook__(lost)


def _interrupt_again() -> None:
    import os

    time.sleep(_AGAIN_S)
    os.kill(os.getpid(), _SIGINT)


if __name__ == "__main__":
    main()
