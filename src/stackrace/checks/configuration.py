"""Does what runs differ from what the stack declares?"""

from __future__ import annotations

from ..model.stack import Hop
from ..model.verdict import Effect, Finding
from .declaration import Declaration, Limits, Made
from .launch_view import LaunchView

__all__ = ["other_configuration", "reloader"]

_DECLARED_BY = {
    "granian": "workers",
    "gunicorn": "workers",
    "hypercorn": "workers",
    "mod_wsgi": "processes",
    "nginx": "workers",
    "puma": "workers",
    "unit": "processes",
    "uvicorn": "workers",
    "uwsgi": "processes",
}
"""The setting that says how many processes a server has for its work."""

_BESIDE = 4
"""Masters, routers, loggers and the like that an instance may have beside those: Unit has four."""

_BESIDE_EACH = 2
"""As many may manage each server of a group, an Apache and the mod_wsgi in it."""


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
    follows the load (uWSGI's cheaper) may have fewer.
    """
    for group, name in zip(view.stack.processes, _names(view), strict=True):
        seen = [hop.processes for one in view.launch.slices for hop in one.usage if hop.hop == name]
        hop = next((hop for hop in group if _declared(hop)), None)
        if hop is None or not seen:
            continue
        copies = int(group[0].settings.get("instances", 1))
        least = _declared(hop) * copies
        follows_load = int(hop.settings.get("cheaper", 0)) > 0
        too_few = max(seen) < least and not follows_load
        beside = _BESIDE + len(group) * _BESIDE_EACH + sum(_children(one) for one in group if one is not hop)
        if too_few or min(seen) > least + beside * copies:
            return other_configuration.finding(
                value=max(seen) if too_few else min(seen), limit=least, hop=name, setting=_DECLARED_BY[hop.server]
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


def _declared(hop: Hop) -> int:
    """Return how many processes ``hop`` says that it has, 0 when it does not."""
    if hop.server == "mod_wsgi" and hop.settings.get("mode") != "daemon":
        return 0
    number = hop.settings.get(_DECLARED_BY.get(hop.server, ""))
    return number if isinstance(number, int) and not isinstance(number, bool) else 0


def _children(hop: Hop) -> int:
    """Return how many children ``hop`` may have where it houses another server, which does the work."""
    if hop.server != "apache":
        return 0
    return int(hop.settings["max_workers" if hop.settings["mpm"] == "prefork" else "processes"])


def _names(view: LaunchView) -> list[str]:
    """Name each group of hops as the probe does; a server that stands in a stack twice is numbered."""
    plain = ["+".join(hop.server for hop in group) for group in view.stack.processes]
    return [
        name if plain.count(name) == 1 else f"{name}#{plain[: index + 1].count(name)}"
        for index, name in enumerate(plain)
    ]
