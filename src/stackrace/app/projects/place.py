"""The file system that a command of an image or a machine sees, and what its shell scripts may call there."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path, PurePosixPath
from types import MappingProxyType

from ...base.files import by_last_parts, is_file, is_folder, is_present, walk
from ..project_files import ProjectFiles
from .deployment_command import text_of

_MOST_SCRIPTS = 40
_WORD = re.compile(r"(?<![\w./+~-])[\w./+~-]*\w")
_NAME = re.compile(r"[A-Za-z_][\w.+-]*")
_COMMAND = re.compile(
    r"(?:^|[;&|(`]|\b(?:exec|then|do|else|if|while|until|!)\s)[ \t]*(\.{0,2}/[\w./-]*\w)", re.MULTILINE
)
_GONE_TO = re.compile(r"\bcd\s+[\"']?(/[\w./-]*\w)")
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)")
_DECIDED = re.compile(
    r"\$\{([A-Za-z_]\w*):?[-=+?]|-[nz]\s+\"?\$\{?([A-Za-z_]\w*)"
    r"|(?:^|[;&|(]|\b(?:exec|then|do|else)\s)[ \t]*\"?\$\{?([A-Za-z_]\w*)\}?\"?/",
    re.MULTILINE,
)
"""Places where a script handles an unset variable, or calls a program in a folder that the variable may name."""
_AROUND = re.compile(
    r"(?:^|[;&|(]|\b(?:exec|then|do|else)\s)[ \t]*((?:\"?\$\{?[A-Za-z_]\w*\}?\"?)+)[ \t]+[\w./$]", re.MULTILINE
)
"""Variables in front of a program, which may name a wrapper or be empty."""
_ASSIGNED = re.compile(
    r"(?:^|[\s;&|({])(?:export\s+|local\s+|readonly\s+|declare\s+(?:-\w+\s+)*)?([A-Za-z_]\w*)\+?="
    r"|\bread\s+(?:-\w+\s+)*(\w+)|\bfor\s+(\w+)|\bgetopts\s+\S+\s+(\w+)",
    re.MULTILINE,
)
_SET = re.compile(r"^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)=(.+)", re.MULTILINE)
_SOURCED = re.compile(r"(?:^|[;&|({]|\b(?:then|do|else)\b)[ \t]*(?:\.|source)[ \t]++([^;&|\n]+)", re.MULTILINE)
_OF_SHELLS = frozenset({
    "PWD", "OLDPWD", "HOME", "PATH", "USER", "HOSTNAME", "UID", "EUID", "RANDOM", "LINENO", "SECONDS", "IFS",
    "OPTARG", "OPTIND", "SHELL", "LANG", "TERM", "FUNCNAME", "PPID", "PIPESTATUS", "REPLY", "OSTYPE", "MACHTYPE",
    "DIRSTACK", "SHLVL", "TMPDIR", "BASH_SOURCE", "BASH", "BASH_VERSION", "BASHPID", "NF", "NR",
})  # fmt: skip


class Place:
    """File system that a command sees, with the paths of its image or machine.

    It contains the project at its places, its scripts, and recorders for all programs that the command names.
    """

    def __init__(
        self,
        *,
        project: ProjectFiles,
        file: Path,
        folder: str = "",
        copies: Mapping[str, str] = MappingProxyType({}),
        user: int = 0,
    ) -> None:
        """Take the command's ``file``, its working directory ``folder`` and the ``copies`` of its image, if any."""
        self.project, self.root = project, project.root
        self.file, self.folder, self.copies, self.user = file, folder, copies, user
        near = (file.parent, *file.parents[1:4])
        inside = [folder for folder in near if folder.is_relative_to(self.root)] or [self.root]
        # an image is built in the folder that has most of what it copies
        brought = [source.lstrip("/") for source in copies.values()]
        self.contexts = sorted(inside, key=lambda folder: -sum(is_present(folder / each) for each in brought))
        self.places: dict[str, str] = {}
        """Paths relative to the project, by their path in the place."""
        self.scripts: dict[Path, None] = {}
        self.programs: set[str] = set()
        self.tools: set[str] = set()
        self.texts: list[str] = []
        """The command's words and the scripts."""
        for target, source in copies.items():
            self._copy(target, source)

    def script(self, word: str) -> Path | None:
        """Return the project's shell script at the path ``word`` of the place; None if there is no such script."""
        path = self.named(word)
        return path if path in self.scripts else None

    def read(self, words: Sequence[str], variables: Mapping[str, str], of_interest: Callable[[str], bool]) -> bool:
        """Collect the programs and scripts that ``words``, and the files and variables named in them, may call.

        Return whether any text that was read is ``of_interest``.
        """
        self.texts, texts, known, asked = [*words], [*words], set(), set()
        values = [*variables.items()]
        for text in texts:
            named = self._read_text(text) if len(self.scripts) < _MOST_SCRIPTS else []
            sourced = {PurePosixPath(word).name for line in _SOURCED.findall(text) for word in _WORD.findall(line)}
            for path in (path for path in dict.fromkeys(named) if path not in known):
                known.add(path)
                content = text_of(path)
                if path in self.scripts or path.name in sourced:
                    self.texts.append(content)
                    texts.append(content)
                # variables may come from any file
                values += _SET.findall(content)
            asked |= {*_VARIABLE.findall(text)}
            texts += [value for name, value in values if name in asked]
            values = [(name, value) for name, value in values if name not in asked]
        if not any(map(of_interest, texts)):
            return False
        for folder in (self.folder, *(each for text in self.texts for each in _GONE_TO.findall(text))):
            self._folder(folder)
        self.places.setdefault(str(self.root), ".")
        for value in variables.values():
            self._read_text(value)
        return True

    def bare(self, known: AbstractSet[str]) -> list[str]:
        """Return the variables that the texts read but neither set nor check, and that are not ``known``."""
        text = "\n".join(self.texts)
        matches = [match for found in (_DECIDED, _ASSIGNED) for match in found.finditer(text)]
        said = {name for match in matches for name in match.groups()}
        read = dict.fromkeys(_VARIABLE.findall(text))
        said |= {name for words in _AROUND.findall(text) for name in _VARIABLE.findall(words)}
        return [name for name in read if name not in said | known | _OF_SHELLS]

    def _copy(self, target: str, source: str) -> None:
        """Record that an image has ``source`` of the project at ``target``."""
        if not target.startswith("/") or "$" in target:
            return
        for context in self.contexts:
            path = Path(os.path.normpath(context / source.lstrip("/")))
            if path.is_relative_to(self.root) and is_present(path):
                place = PurePosixPath(target)
                known = self.places.get(str(place))
                is_inside = target.endswith("/") or str(place) == self.folder
                is_inside = is_inside or (known is not None and is_folder(self.root / known))
                place /= path.name if is_inside and is_file(path) else ""
                self.places[str(place)] = str(path.relative_to(self.root))
                return

    def _folder(self, place: str) -> None:
        """Record the project's folder for a folder of the image, by its last parts; else the project itself."""
        if place.startswith("/") and not any(PurePosixPath(place).is_relative_to(each) for each in self.places):
            inside = by_last_parts(place, [self.root], is_folder)
            self.places[place] = str(inside.relative_to(self.root)) if inside else "."

    def _read_text(self, text: str) -> list[Path]:
        """Record the programs and scripts that ``text`` names, and return the project's files that it names."""
        found: dict[str, list[Path]] = {}
        for word in dict.fromkeys(_WORD.findall(text)):
            near = [
                self.root / name
                for place, name in self.places.items()
                if place.endswith(f"/{word}") or place.startswith(f"{word}/")
            ]
            if _NAME.fullmatch(word) and not word.endswith(".sh"):
                self.programs.add(word)
            elif path := self.named(word):
                # a loop may run all files of a folder, though hardly of the project or the build folder
                inside = () if path in (*self.contexts, self.root) else next(walk(path), ("", (), ()))[2]
                near += [path, *(path / name for name in sorted(inside)[:_MOST_SCRIPTS])]
            found[word] = [path for path in near if is_file(path)]
            self.scripts |= dict.fromkeys(filter(_is_script, found[word]))
        # a program that is not in the project may be made with the image
        self.programs |= {word for word in _COMMAND.findall(text) if not found.get(word)}
        return [path for paths in found.values() for path in paths]

    def named(self, word: str) -> Path | None:
        """Record the program, script or folder that ``word`` names; return its path in the project, else None."""
        root, parts = self.root, PurePosixPath(word)
        is_program = parts.parent.name in ("bin", "sbin")
        path = self.copied(word)
        if path is None and (path := self.project.named(word, [*self.contexts, root])):
            if is_program and not _is_script(path):
                path = None
            elif parts.is_absolute():
                self.places[str(parts)] = str(path.relative_to(root))
        if path is not None and is_file(path) and _is_script(path):
            self.scripts.setdefault(path)
        elif is_program and self._has_scripts(parts.parent):
            self.programs.add(word)
        elif is_program:
            self.tools.add(str(parts.parent))
            self.programs.add(parts.name)
        elif path is not None and is_file(path) and (os.access(path, os.X_OK) or text_of(path).startswith("#!")):
            self.programs.add(word)
        return path if path is not None and is_present(path) else None

    def _has_scripts(self, folder: PurePosixPath) -> bool:
        inside = [] if folder.is_absolute() else [each / folder for each in self.contexts]
        return any(is_folder(each) and not is_present(each / "activate") for each in inside)

    def copied(self, word: str) -> Path | None:
        """Return the project's path for a path in the image, even if no file is there; None if none matches."""
        whole = os.path.normpath(PurePosixPath(self.folder or "/", word))
        if whole in self.places and is_file(self.root / self.places[whole]):
            return self.root / self.places[whole]
        for place, name in sorted(self.places.items(), key=lambda pair: -len(pair[0])):
            if PurePosixPath(word).is_relative_to(place):
                inside = self.root / name / PurePosixPath(word).relative_to(place)
                # a base image may set a WORKDIR, which is unknown here
                if place != "/" or is_present(inside):
                    return inside
        return None


def _is_script(path: Path) -> bool:
    text = text_of(path)
    return _is_shell_script(text) or (path.suffix == ".sh" and not text.startswith("#!"))


def _is_shell_script(text: str) -> bool:
    return text.startswith("#!") and bool(re.search(r"\b(ba|da|a|k)?sh\b", text.partition("\n")[0]))
