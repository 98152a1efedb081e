"""Is what answered the stack, the whole stack, and is it gone afterwards?"""

from __future__ import annotations

from ..base.verdict import Effect, Finding
from ..measure.launch import FailureKind
from .declaration import Declaration, Limits, Made
from .launch_view import Complaint, LaunchView
from .texts import MORE_FILES, MORE_PORTS

__all__ = ["leftover_listener", "leftover_processes", "logs_complain_of_files", "logs_complain_of_ports"]


@Declaration(
    id="leftover-listener",
    number=33,
    title="leftover listener",
    made=(Made.LAUNCH,),
    limits=Limits(invalidates=0),
    seen={
        "stranger": "another program listens on {ports:ports} of the stack, too",
        "left": "{ports:ports} still listened after the stack was stopped",
    },
    remedy="`ss -ltnp` shows who listens on {ports:ports}: end it, and race again",
    source="socket(7), SO_REUSEPORT; proc_net_tcp(5); proc_pid_fd(5)",
)
def leftover_listener(view: LaunchView) -> Finding | None:
    """Another program listens on a port of the stack, or the stack still listens after its stop.

    Where two listen on one port (SO_REUSEPORT) the kernel deals connections out to both: another program answered
    part of the load. A listener that outlives its stack would answer for the next.
    """
    after = view.aftermath
    ports = after.strangers or after.listeners_left
    return leftover_listener.judge(len(ports), case="stranger" if after.strangers else "left", ports=ports)


@Declaration(
    id="leftover-processes",
    number=33,
    title="leftover processes",
    made=(Made.LAUNCH,),
    effects=(Effect.WARNS, Effect.INVALIDATES),
    threshold="none",
    rule="none that was killed; none alive",
    seen={
        "alive": "{value:count} processes of the stack are still alive after it was killed",
        "killed": "{message}",
    },
    remedy={
        "alive": "do they wait for a device (state D in `ps`)? End them before the next race",
        "killed": "does the app start threads or processes that do not end with it? They are all gone now",
    },
    source="kill(2); prctl(2), PR_SET_CHILD_SUBREAPER",
)
def leftover_processes(view: LaunchView) -> Finding | None:
    """Processes of the stack were still alive after they were asked to end.

    What was killed takes nothing from the next launch; what could not be killed does.
    """
    left, failure = view.aftermath.processes_left, view.launch.failure
    if left:
        return leftover_processes.finding(
            effect=Effect.INVALIDATES, value=left, limit=0, case="alive", cure="alive"
        )
    if failure is None or failure.kind is not FailureKind.NOT_STOPPED:
        return None
    return leftover_processes.finding(case="killed", cure="killed", message=failure.message)


_LOGGED = "the stack's logs say {value:count} times: {complaint}"


@Declaration(
    id="logged-ports-exhausted",
    number=18,
    title="ports exhausted",
    made=(Made.LAUNCH,),
    limits=Limits(invalidates=0),
    seen=_LOGGED,
    remedy=f"let its hops speak over Unix sockets (socket=unix), or keep their connections; or {MORE_PORTS}",
    source="connect(2), EADDRNOTAVAIL, as servers log it by strerror(3)",
)
def logs_complain_of_ports(view: LaunchView) -> Finding | None:
    """A server's log says that it had no local port left to connect to the next one."""
    return logs_complain_of_ports.judge(
        view.aftermath.complaints.get(Complaint.NO_PORTS, 0), complaint=Complaint.NO_PORTS.value
    )


@Declaration(
    id="logged-descriptors-exhausted",
    number=20,
    title="descriptors exhausted",
    made=(Made.LAUNCH,),
    limits=Limits(invalidates=0),
    seen=_LOGGED,
    remedy=MORE_FILES,
    source="accept(2), EMFILE and ENFILE, as servers log it by strerror(3)",
)
def logs_complain_of_files(view: LaunchView) -> Finding | None:
    """A server's log says that it had no file descriptor left."""
    return logs_complain_of_files.judge(
        view.aftermath.complaints.get(Complaint.NO_FILES, 0), complaint=Complaint.NO_FILES.value
    )
