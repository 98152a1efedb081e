"""All files of an export, by their path below its folder."""

from __future__ import annotations

from ...app.project_files import MARK
from .compose import compose
from .docker import dockerfile, dockerignore
from .health import SCRIPT, health_script
from .logrotate import logrotate
from .packages import app_requirements, constraints, debian, requirements
from .procfile import procfile
from .readme import environment_example, readme
from .units import units
from .wanted import Export

__all__ = ["exported_files"]


def exported_files(export: Export, evidence: str) -> dict[str, str]:
    """Return the texts; ``evidence`` is that of EVIDENCE.md."""
    packages = export.packages
    files = {f"{process.name}/{name}": text for process in export.processes for name, text in process.files.items()}
    files |= export.deployed.files
    files |= {f"systemd/{name}": text for name, text in units(export).items()}
    files["Dockerfile"] = dockerfile(export)
    files["Dockerfile.dockerignore"] = dockerignore(export)
    files["compose.yaml"] = compose(export)
    files["Procfile"] = procfile(export)
    if text := logrotate(export):
        files["logrotate"] = text
    if packages.debian:
        files["packages.txt"] = debian(packages)
    if export.has_python:
        files[SCRIPT] = health_script()
        files["requirements.txt"] = requirements(packages, export.source)
        files["constraints.txt"] = constraints(packages)
        if not packages.asked:
            files["requirements-app.txt"] = app_requirements(packages)
        files[".env.example"] = environment_example(export)
    files["EVIDENCE.md"] = evidence
    files[MARK] = "Made by stackrace export. No app of the project is looked for in this folder.\n"
    files["README.md"] = readme(export, list(files))
    return files
