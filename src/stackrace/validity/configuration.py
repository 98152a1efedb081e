"""Does what runs differ from what the stack declares?"""

from __future__ import annotations

from ..base.verdict import Effect, Finding
from ..stacks.stack import Hop
from .declaration import Declaration, Limits, Made
from .launch_view import LaunchView

__all__ = ["other_configuration", "reloader"]

_MANAGERS = 4
"""Masters, routers, loggers and the like that an instance may have besides."""

_MANAGERS_EACH = 2
"""As many more for each server of a group, a host and the guest in it."""


@Declaration(
    id="other-configuration",
    number=34,
    title="other configuration",
    made=(Made.LAUNCH,),
    effects=(Effect.WARNS,),
    threshold="{limit:count} by its {setting}, and a few that manage them",
    rule="as declared, and a few that manage them",
    seen="{hop} ran as {value:count} processes",
    remedy="do workers die, or does a variable or a file of the app's own configure this server? Look at its log",
    source="proc_pid_stat(5); each server's own documentation of the setting",
)
def other_configuration(view: LaunchView) -> Finding | None:
    """A server had fewer processes than declared, or many more, during the whole launch.

    Then another configuration was measured than the report names: a setting that did not take, workers that died at
    once, a setting of the app's own. Only servers that count in processes are held to it; those whose number
    follows the load may have fewer.
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
            return other_configuration.finding(
                value=max(counts) if too_few else min(counts),
                limit=declared.most * copies,
                hop=name,
                setting=declared.setting,
            )
    return None


@Declaration(
    id="reloader",
    number=34,
    title="reloader",
    made=(Made.LAUNCH,),
    limits=Limits(warns=0),
    seen="{value:count} processes watch for changed files: {first}",
    remedy="switch the app's or the server's reloader off (DEBUG, --reload)",
    source="Django, django.utils.autoreload (RUN_MAIN); Werkzeug, WERKZEUG_RUN_MAIN; inotify(7)",
)
def reloader(view: LaunchView) -> Finding | None:
    """A process of the stack watches the app's files, to restart it when they change.

    It costs time at random moments, and nobody deploys it.
    """
    reloaders = view.aftermath.reloaders
    return reloader.judge(len(reloaders), first=reloaders[0] if reloaders else "")


def _most(host: Hop) -> int:
    """Return how many processes ``host`` may have for itself while a guest in it does the work."""
    return host.processes.most if host.processes else 0
