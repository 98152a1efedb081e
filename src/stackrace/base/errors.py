"""Tree of all errors that the user can meet, and missing programs as values.

::

    StackraceError                  what was wrong, and the way out
    ├── InputError                  exit 2: a flag, a TOML key, a path
    │   ├── SpecError               race.toml: all its problems at once, with lines
    │   ├── StackError              a stack path: unknown server or setting, illegal link
    │   ├── AppError                the application fails to import or to answer; carries its own traceback
    │   ├── LimitError              a limit of this machine forbids the load; carries the check's finding
    │   ├── MissingError            a server is not installed; carries the command that installs it
    │   ├── RepositoryError              git refuses a repository of another user, or cannot read its settings
    │   └── StoreError              the results cannot be read or written
    ├── LaunchError                 one stack's failure: it becomes that stack's result, the race goes on
    ├── RefusedError                exit 3: the measurement cannot be believed
    ├── BreakdownError              exit 4: something else broke: a full disk, a killed supervisor, a bug of ours
    └── InterruptedRace             exit 130: stopped by the user; what was measured is kept

Only ``stackrace.cli`` prints errors.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from traceback import walk_tb
from typing import TYPE_CHECKING, Self

from .secrets import masked

if TYPE_CHECKING:
    from .verdict import Finding


class StackraceError(Exception):
    """Base of all errors shown to the user; ``detail`` is printed below the message unchanged.

    Both may quote output of the app, so the app's secrets are masked in both.
    """

    exit_code = 2

    def __init__(self, message: str, *, detail: str = "") -> None:
        message, detail = masked(message), masked(detail)
        super().__init__(f"{message}\n{detail}" if detail else message)
        self.message = message
        self.detail = detail

    def about(self, subject: str, more: str = "") -> Self:
        """Return this error with ``subject`` before its message and ``more`` at its end."""
        StackraceError.__init__(self, f"{subject}: {self.message}{more}", detail=self.detail)
        return self

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the error without calling its constructor, whose arguments differ by class."""
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[StackraceError], args: tuple[object, ...], words: dict[str, object]) -> StackraceError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(words)
    return error


class InputError(StackraceError):
    """A wrong flag, key or file; the message names it and the remedy."""


class SpecError(InputError):
    """The race file is wrong; ``detail`` lists every problem with its line."""


class StackError(InputError):
    """A stack path that names an unknown server or setting, or an illegal link."""


class AppError(InputError):
    """The user's application does not import or does not answer; ``detail`` is its own traceback."""


class LimitError(InputError):
    """A limit of this machine forbids the load; ``finding`` names the limit, and reports make sentences of it."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(f"{finding.check}: {finding.value} where the limit is {finding.limit}")
        self.finding = finding


class MissingError(InputError):
    """Something a stack needs is not installed here; the message holds the command that installs it."""


class RepositoryError(InputError):
    """Git refuses a repository that belongs to another user, or cannot read its settings.

    ``detail`` has git's own words and way out.
    """


class StoreError(InputError):
    """The results database cannot be opened, read or written."""


class LaunchError(StackraceError):
    """A stack did not start, answered wrongly, died or could not be stopped; ``detail`` is its log's tail."""


class RefusedError(StackraceError):
    """No believable measurement was made; the message says which check refused it."""

    exit_code = 3


class BreakdownError(StackraceError):
    """The input is right, but something else broke; the message says whether the race can go on."""

    exit_code = 4


class InterruptedRace(StackraceError):  # noqa: N818 (nobody made an error)
    """The user stopped the race; finished slices are stored."""

    exit_code = 130


SHORTAGES = {
    errno.ENOSPC: ("the disk is full, or its inodes are used up", "free some space"),
    errno.EDQUOT: ("the quota of the disk is used up", "free some space"),
    errno.EFBIG: ("a file would be larger than ulimit -f allows", "raise that limit"),
    errno.EMFILE: ("more files would be open than ulimit -n allows", "raise that limit"),
    errno.ENFILE: ("more files would be open than this machine allows", "end other programs"),
    errno.ENOMEM: ("the memory does not suffice", "end other programs, or raise ulimit -v"),
    errno.EAGAIN: ("no more processes or threads may be started", "end some, or raise ulimit -u"),
    errno.EIO: ("the disk fails", "look for its errors with: dmesg"),
}
"""Errors caused by this machine, not by the input: the shortage and the remedy, by error number."""
DISK = (errno.ENOSPC, errno.EDQUOT)


def shortage_of(error: BaseException | None, variable: str = "") -> BreakdownError | None:
    """Return the shortage of this machine that ``error`` reports; None for all other errors.

    ``variable`` is the environment variable for the folder of the files on the disk.
    """
    match error:
        case MemoryError():
            number = errno.ENOMEM
        case RuntimeError() if _module_of(error) == "threading":
            number = errno.EAGAIN
        case OSError(errno=int(number)) if number in SHORTAGES:
            pass
        case _:
            return None
    said, way_out = SHORTAGES[number]
    if (file := getattr(error, "filename", None)) is not None:
        said += f": {file}"
    if variable and number in DISK:
        way_out += f", or set {variable} to a folder with more room"
    return BreakdownError(f"{said}; {way_out}")


def _module_of(error: BaseException) -> str | None:
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    return frames[-1].f_globals.get("__name__") if frames else None


@contextmanager
def shortages_named(variable: str = "") -> Iterator[None]:
    """Raise shortages of this machine as BreakdownError, so that they are not mistaken for wrong input."""
    try:
        yield
    except (OSError, MemoryError, RuntimeError) as error:
        if (shortage := shortage_of(error, variable)) is not None:
            raise shortage from error
        raise


UNANSWERED: dict[str, str] = {}
"""Sentences about programs that did not answer, by path; such a program is asked once, and reported at the end."""


def said_by(error: BaseException, *, where: bool = False) -> str:
    """Return the message of ``error`` without its number and its quotes; with ``where`` also the file's name.

    >>> said_by(FileNotFoundError(2, "No such file or directory", "a.har"))
    'No such file or directory'
    """
    if isinstance(error, UnicodeDecodeError):
        return "it is not text in UTF-8"
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    return f"{error.strerror}: {error.filename}" if where and error.filename is not None else error.strerror


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingItem:
    """A server, service or app that is not installed here."""

    name: str
    """Name for ``stackrace install``: a server, a service or a bundled app."""
    missing: str
    """Missing program or file: ``no program nginx``."""
    packages: tuple[str, ...] = ()
    """Packages of this system that contain it."""
    elsewhere: str = ""
    """Sentence that tells how to get it where this system has no package of it."""

    @property
    def state(self) -> str:
        """State in one phrase: "missing" if ``stackrace install`` can install it, else "not installed"."""
        return "not installed" if self.elsewhere else "missing"

    @property
    def install(self) -> str:
        """Command that installs it; empty if there is none."""
        return "" if self.elsewhere else f"stackrace install {self.name}"

    @property
    def words(self) -> str:
        """Name and what is missing, in one phrase."""
        return f"{self.name} ({self.missing})"
