"""Deployment files that Stackrace cannot read, and that may say otherwise than those which it reads."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from ....model.current import CurrentGap
from ....model.own import Weight
from ..containers import MENTIONED, TEMPLATED, manifests
from ..deployment_command import text_of
from ..places import deployment_folders, is_development

__all__ = ["unread_documents"]

_HELM = (
    "Stackrace reads no templates of Helm's: write what they make with helm template, and give --current that file"
)
_KUSTOMIZE = "Stackrace reads no overlays: write what they make with kubectl kustomize, and give --current the file"
_TEMPLATE = "Stackrace reads no templates: give --current a file that was made of it"
_OVERLAYS = re.compile(
    r"^(patches|patchesStrategicMerge|patchesJson6902|replicas|configMapGenerator|components):", re.MULTILINE
)
_MADE = re.compile(
    r"(.+\.service|.*compose.*\.ya?ml|(.+\.)?(Docker|Container)file|Procfile|supervisor.*\.conf|.+\.ini|gunicorn.*\.py|.+\.sh)"
    r"\.(j2|jinja2?|tmpl|tpl|template|erb)"
)
"""Templates of files that say what is started."""


def unread_documents(root: Path, programs: Collection[str]) -> Iterator[CurrentGap]:
    """Yield the files of the project at ``root`` that cannot be read, of templates those that name ``programs``.

    Files for development are left out.
    """
    started = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, programs))})(?![\w-])")
    for path, text in manifests(root):
        kind = MENTIONED.search(text)
        if TEMPLATED in text and kind and kind[1] not in ("ConfigMap", "List"):
            yield _gap(root, path, text, kind, kind[1], _HELM)
    for folder, _, names in deployment_folders(root):
        for path in (folder / name for name in names if not is_development(folder / name, root)):
            if path.stem == "kustomization" and (found := _OVERLAYS.search(text := text_of(path))):
                yield _gap(root, path, text, found, found[1], _KUSTOMIZE)
            elif programs and _MADE.fullmatch(path.name) and (found := started.search(text := text_of(path))):
                yield _gap(root, path, text, found, found[1], _TEMPLATE)


def _gap(root: Path, path: Path, text: str, found: re.Match[str], what: str, why: str) -> CurrentGap:
    line = text.count("\n", 0, found.start(1)) + 1
    return CurrentGap(file=str(path.relative_to(root)), line=line, what=what, why=why, weight=Weight.SIZE)
