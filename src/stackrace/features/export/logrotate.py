"""logrotate's part: logs turned by the day, two weeks kept."""

from __future__ import annotations

from .layout import Process
from .wanted import Export

__all__ = ["logrotate"]


def logrotate(export: Export) -> str:
    """Return the file for /etc/logrotate.d; empty where the journal has all logs.

    Logs of a server that cannot open them again are copied and emptied.
    """
    parts = [_part(export, process) for process in export.processes if process.log_files]
    return f"# logrotate(8); made by {export.source}\n" + "\n".join(parts) if parts else ""


def _part(export: Export, process: Process) -> str:
    target = export.target
    signal = process.recipe.reopens
    how = (
        "    copytruncate\n"
        if signal is None
        else "    delaycompress\n    sharedscripts\n    postrotate\n"
        f"        systemctl kill --kill-whom=main --signal={signal.name} {target.unit(process.name)}.service\n"
        "    endscript\n"
    )
    return (
        f"{target.logs(process.name)}/*.log {{\n    daily\n    rotate 14\n    compress\n    missingok\n"
        f"    notifempty\n    su {target.user} {target.user}\n{how}}}\n"
    )
