"""Checks of launches: only the stack answered, it ran as declared, and nothing of it is left at the end."""

from __future__ import annotations

from ..base.verdict import Effect, Finding
from ..measure.launch import FailureKind
from ..stacks.stack import Hop
from .connections import MORE_FILES, MORE_PORTS
from .declaration import Limits, on_launch
from .observation import Complaint, LaunchView


@on_launch(
    id="leftover-listener",
    number=33,
    limits=Limits(invalidates=0),
    seen={
        "stranger": "another program listens on {ports:ports} of the stack, too",
        "left": "{ports:ports} still listened after the stack was stopped",
    },
    remedy="`ss -ltnp` shows who listens on {ports:ports}: end it, and race again",
    source="socket(7), SO_REUSEPORT; proc_net_tcp(5); proc_pid_fd(5)",
)
def _leftover_listener(view: LaunchView) -> Finding | None:
    """Another program listens on a port of the stack, or the stack still listens after its stop.

    If two programs listen on one port (SO_REUSEPORT), the kernel spreads connections over both: another program
    answered part of the load. A listener that outlives its stack would answer for the next.
    """
    after = view.aftermath
    ports = after.strangers or after.listeners_left
    return _leftover_listener.judge(len(ports), case="stranger" if after.strangers else "left", ports=ports)


@on_launch(
    id="leftover-processes",
    number=33,
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
def _leftover_processes(view: LaunchView) -> Finding | None:
    """Processes of the stack were still alive after they were asked to end.

    Killed processes take nothing from the next launch; processes that could not be killed do.
    """
    left, failure = view.aftermath.processes_left, view.launch.failure
    if left:
        return _leftover_processes.finding(
            effect=Effect.INVALIDATES, value=left, limit=0, case="alive", cure="alive"
        )
    if failure is None or failure.kind is not FailureKind.NOT_STOPPED:
        return None
    return _leftover_processes.finding(case="killed", cure="killed", message=failure.message)


_LOGGED = "the stack's logs say {value:count} times: {complaint}"


@on_launch(
    id="logged-ports-exhausted",
    number=18,
    title="ports exhausted",
    limits=Limits(invalidates=0),
    seen=_LOGGED,
    remedy=f"let its hops speak over Unix sockets (socket=unix), or keep their connections; or {MORE_PORTS}",
    source="connect(2), EADDRNOTAVAIL, as servers log it by strerror(3)",
)
def _logs_complain_of_ports(view: LaunchView) -> Finding | None:
    """A server's log says that it had no local port left to connect to the next one."""
    return _logs_complain_of_ports.judge(
        view.aftermath.complaints.get(Complaint.NO_PORTS, 0), complaint=Complaint.NO_PORTS.value
    )


@on_launch(
    id="logged-descriptors-exhausted",
    number=20,
    title="descriptors exhausted",
    limits=Limits(invalidates=0),
    seen=_LOGGED,
    remedy=MORE_FILES,
    source="accept(2), EMFILE and ENFILE, as servers log it by strerror(3)",
)
def _logs_complain_of_files(view: LaunchView) -> Finding | None:
    """A server's log says that it had no file descriptor left."""
    return _logs_complain_of_files.judge(
        view.aftermath.complaints.get(Complaint.NO_FILES, 0), complaint=Complaint.NO_FILES.value
    )


_MANAGERS = 4
"""Masters, routers, loggers and the like that an instance may have besides its workers."""

_MANAGERS_EACH = 2
"""Further managers for each server of a group, a host and the guest in it."""


@on_launch(
    id="other-configuration",
    number=34,
    effects=(Effect.WARNS,),
    threshold="{limit:count} by its {setting}, and a few that manage them",
    rule="as declared, and a few that manage them",
    seen="{hop} ran as {value:count} processes",
    remedy="do workers die, or does a variable or a file of the app's own configure this server? Look at its log",
    source="proc_pid_stat(5); each server's own documentation of the setting",
)
def _other_configuration(view: LaunchView) -> Finding | None:
    """A server had fewer processes than declared, or many more, during the whole launch.

    Then another configuration was measured than the report names: a setting without effect, workers that died at
    once, a setting of the app's own. Only servers that count in processes are checked; servers whose number follows
    the load may have fewer.
    """
    for group, name in zip(view.stack.processes, view.stack.process_names, strict=True):
        *hosts, worker = group
        counts = [usage.processes for taken in view.launch.slices for usage in taken.usage if usage.hop == name]
        declared = worker.processes
        if declared is None or not counts:
            continue
        copies = group[0].instances
        managers = _MANAGERS + len(group) * _MANAGERS_EACH + sum(_most(host) for host in hosts)
        too_few = max(counts) < declared.least * copies
        if too_few or min(counts) > (declared.most + managers) * copies:
            return _other_configuration.finding(
                value=max(counts) if too_few else min(counts),
                limit=declared.most * copies,
                hop=name,
                setting=declared.setting,
            )
    return None


@on_launch(
    id="reloader",
    number=34,
    limits=Limits(warns=0),
    seen="{value:count} processes watch for changed files: {first}",
    remedy="switch the app's or the server's reloader off (DEBUG, --reload)",
    source="Django, django.utils.autoreload (RUN_MAIN); Werkzeug, WERKZEUG_RUN_MAIN; inotify(7)",
)
def _reloader(view: LaunchView) -> Finding | None:
    """A process of the stack watches the app's files, to restart it when they change.

    Watching costs time at random moments, and nobody deploys a reloader.
    """
    reloaders = view.aftermath.reloaders
    return _reloader.judge(len(reloaders), first=reloaders[0] if reloaders else "")


def _most(host: Hop) -> int:
    """Return the maximum number of processes of ``host`` itself while a guest in it does the work; 0 if unknown."""
    return host.processes.most if host.processes else 0
