"""Is what answered the stack, the whole stack, and is it gone afterwards?"""

from __future__ import annotations

from ..model.launch import FailureKind
from ..model.verdict import Effect, Finding
from .aftermath import Complaint
from .judge import count
from .launch_view import LaunchView
from .supplies import MORE_FILES, MORE_PORTS

__all__ = ["leftover_listener", "leftover_processes", "logs_complain_of_files", "logs_complain_of_ports"]


def leftover_listener(view: LaunchView) -> Finding | None:
    """On a port of the stack listened a process that is none of its own, or its own still listen after the stop.

    Where two listen on one port (SO_REUSEPORT) the kernel deals connections out to both: another program answered
    part of the load. A listener that outlives its stack would answer for the next.

    Source: socket(7), SO_REUSEPORT; proc_net_tcp(5), state 0A; proc_pid_fd(5) for whose socket it is.
    """
    after = view.aftermath
    if not after.strangers and not after.listeners_left:
        return None
    strange, left = _ports(after.strangers), _ports(after.listeners_left)
    return Finding(
        check="leftover listener",
        effect=Effect.INVALIDATES,
        seen=f"another program listens on {strange} of the stack, too"
        if after.strangers
        else f"{left} still listened after the stack was stopped",
        threshold="none",
        remedy=f"`ss -ltnp` shows who listens on {strange or left}: end it, and race again",
    )


def leftover_processes(view: LaunchView) -> Finding | None:
    """Processes of the stack lived on after they were asked to end: killed ones warn, living ones invalidate.

    What was killed takes nothing from the next launch; what could not be killed does.

    Source: kill(2); prctl(2), PR_SET_CHILD_SUBREAPER, by which orphans are found.
    """
    left, failure = view.aftermath.processes_left, view.launch.failure
    if left:
        return Finding(
            check="leftover processes",
            effect=Effect.INVALIDATES,
            seen=f"{count(left)} processes of the stack live on after it was killed",
            threshold="none",
            remedy="do they wait for a device (state D in `ps`)? End them before the next race",
        )
    if failure is None or failure.kind is not FailureKind.NOT_STOPPED:
        return None
    return Finding(
        check="leftover processes",
        effect=Effect.WARNS,
        seen=failure.message,
        threshold="none",
        remedy="does the app start threads or processes that do not end with it? Nothing of them is left now",
    )


def logs_complain_of_ports(view: LaunchView) -> Finding | None:
    """A hop's log says that it had no local port left towards the next one: any invalidates.

    Source: connect(2), EADDRNOTAVAIL, as servers log it by strerror(3).
    """
    number = view.aftermath.complaints.get(Complaint.NO_PORTS, 0)
    if not number:
        return None
    return Finding(
        check="ports exhausted",
        effect=Effect.INVALIDATES,
        seen=f"the stack's logs say {count(number)} times: {Complaint.NO_PORTS}",
        threshold="none",
        remedy=f"let its hops speak over Unix sockets (socket=unix), or keep their connections; or {MORE_PORTS}",
    )


def logs_complain_of_files(view: LaunchView) -> Finding | None:
    """A hop's log says that it had no file descriptor left: any invalidates.

    Source: accept(2), EMFILE and ENFILE, as servers log it by strerror(3).
    """
    number = view.aftermath.complaints.get(Complaint.NO_FILES, 0)
    if not number:
        return None
    return Finding(
        check="descriptors exhausted",
        effect=Effect.INVALIDATES,
        seen=f"the stack's logs say {count(number)} times: {Complaint.NO_FILES}",
        threshold="none",
        remedy=MORE_FILES,
    )


def _ports(numbers: tuple[int, ...]) -> str:
    return ("port " if len(numbers) == 1 else "ports ") + ", ".join(map(str, numbers)) if numbers else ""
