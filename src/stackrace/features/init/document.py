"""What was found of a project, as JSON."""

from __future__ import annotations

import json
from pathlib import Path

from ...race.preparation.pages import Page
from .services import suggestions
from .survey import ProjectSurvey

__all__ = ["document"]


def document(survey: ProjectSurvey) -> str:
    """Return the survey as one JSON document."""
    app, facts = survey.app, survey.examination.python
    return json.dumps(
        {
            "format": "stackrace-survey",
            "version": 1,
            "app": {
                "name": app.name,
                app.entry.kind.value: app.entry.target,
                "root": str(app.root),
                "python": None if app.python is None else str(app.python),
                "python_version": None if facts is None else facts.version,
            },
            "static": {prefix: str(folder) for prefix, folder in static_of(survey).items()},
            "services": [suggestion.service for suggestion in suggestions(survey)],
            "current": _current(survey),
            "pages": [_page(page) for page in survey.pages],
            "urls": [page.path for page in survey.raced],
            "notes": list(survey.notes),
        },
        indent=2,
    )


def _current(survey: ProjectSurvey) -> dict[str, object] | None:
    """Return what is run today, and where that was found."""
    found = survey.current
    if found is None:
        return None
    return {
        "stack": found.deployment.stack if found.stack is None else found.stack.path,
        "place": found.deployment.place,
        "problem": found.deployment.problem or None,
    }


def static_of(survey: ProjectSurvey) -> dict[str, Path]:
    """Return the folders of static files by their prefixes."""
    return {**survey.examination.survey.static, **survey.examination.static}


def _page(page: Page) -> dict[str, object]:
    return {
        "path": page.path,
        "status": page.status,
        "seconds": round(page.seconds, 6),
        "redirected_from": page.via or None,
        "problem": page.problem or None,
    }
