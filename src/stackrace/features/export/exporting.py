"""The verb itself: everything set up, rendered, proven if wanted, and written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ...deploy.preparing import OnPreparing, unheard
from ...race.preparation.deployment import Deployment, set_up
from .equivalence import Proof
from .evidence import evidence
from .files import exported_files
from .folder import write_folder
from .making import TargetWishes, changes_of, made, target_of
from .subject import Subject
from .wanted import Export
from .words import limits

__all__ = [
    "Rendered",
    "rendered",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """An export that can be written or proven while everything is set up."""

    subject: Subject
    deployment: Deployment
    export: Export

    def files(self, proof: Proof | None = None) -> dict[str, str]:
        """Return all files by their paths below the folder."""
        return exported_files(self.export, _text_of(self, proof))

    def write(self, folder: Path, proof: Proof | None = None, *, force: bool) -> dict[str, str]:
        """Write them; see ``write_folder``."""
        files = self.files(proof)
        write_folder(folder, files, force=force)
        return files


@contextmanager
def rendered(subject: Subject, wishes: TargetWishes, on_preparing: OnPreparing = unheard) -> Iterator[Rendered]:
    """Set the app up as a race does, and yield the export of the one stack; nothing is left running afterwards."""
    # before anything is started
    target_of(wishes, "app")
    with set_up(subject.request, on_preparing) as deployment:
        yield Rendered(subject=subject, deployment=deployment, export=made(deployment, subject, wishes))


def _text_of(this: Rendered, proof: Proof | None) -> str:
    """Return EVIDENCE.md."""
    subject, front = this.subject, this.export.front
    return evidence(
        this.export.stack.path,
        race=subject.race,
        standing=subject.standing,
        limits=limits(
            front.title,
            bodies=any(entry.limits_bodies for entry in front.entries),
            answers=any(entry.limits_answers for entry in front.entries),
            own=front.site.file is not None,
        ),
        changes=changes_of(this.export.stack),
        proof=proof,
        notes=(*subject.notes, *this.deployment.notes),
    )
