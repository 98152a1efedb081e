"""Public projects, raced as their developers would: do they race as they are?

    python -m benchmarks.projects ~/checkouts

The folder holds checkouts of the projects in projects.toml, each set up as its own README says; what is not there
is left out. Nothing is fetched. In each project `stackrace run` runs with at most one flag. The table says which
version was raced, what the race answered and whether a file of the project changed. `--write` puts it into
docs/projects.md.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "projects.md"
BEGIN, END = "<!-- table -->", "<!-- end of the table -->"
COLUMNS = ("project", "version", "answer", "stacks")


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A public project and how to race it."""

    name: str
    repository: str
    framework: str
    database: str = ""
    folder: str = "."
    """Where its developer would stand, below the checkout."""
    flags: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    """What its README has exported."""


def projects() -> Iterator[Project]:
    """Yield the projects of projects.toml."""
    table = tomllib.loads((HERE / "projects.toml").read_text(encoding="utf-8"))
    for name, entry in table.items():
        yield Project(name=name, **{**entry, "flags": tuple(entry.get("flags", ()))})


def version(checkout: Path) -> str:
    """Return the commit of a checkout and its day."""
    command = ["git", "-C", str(checkout), "log", "-1", "--format=%h (%cs)"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def contents(checkout: Path) -> str:
    """Return a hash of all files of a checkout with their names, git's own aside."""
    total = hashlib.sha256()
    for path in sorted(checkout.rglob("*")):
        if path.is_file() and ".git" not in path.relative_to(checkout).parts:
            total.update(str(path.relative_to(checkout)).encode() + b"\0")
            total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def raced(project: Project, checkout: Path, budget: str) -> dict[str, str]:
    """Race a project and return its row; an answer that is no answer is the error's first line."""
    before = contents(checkout)
    command = [sys.executable, "-m", "stackrace", "run", "--json", "--budget", budget, *project.flags]
    cwd, variables = checkout / project.folder, {**os.environ, **project.environment}
    run = subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True, check=False)
    sys.stderr.write(run.stderr)
    stacks, answer = described(json.loads(run.stdout)) if run.returncode == 0 else ("–", error(run.stderr))
    if contents(checkout) != before:
        answer += " A file of the project changed."
    return {"project": named(project), "version": version(checkout), "answer": answer, "stacks": stacks}


def named(project: Project) -> str:
    """Return what is raced: ``[shop](…): Django, Redis; `--url /ok/```."""
    flags = [f"`{' '.join(project.flags)}`"] if project.flags else []
    parts = "; ".join([", ".join(filter(None, (project.framework, project.database))), *flags])
    return f"[{project.name}](https://github.com/{project.repository}): {parts}"


def described(document: Mapping[str, object]) -> tuple[str, str]:
    """Return how many stacks were measured out of how many, and the answer in short."""
    stacks, withdrawals, words = document["stacks"], document["withdrawals"], document["words"]
    assert isinstance(stacks, list) and isinstance(withdrawals, list) and isinstance(words, dict)
    out = "; ".join(f"{lost['stack']}: {lost['failure']['kind']}" for lost in withdrawals)
    count = f"{len(stacks) - len(withdrawals)} of {len(stacks)}"
    return f"{count} ({out})" if out else count, in_short(str(words["answer"]))


def in_short(answer: str) -> str:
    """Return the first clause of an answer, without its level."""
    return re.split(r"[:;] ", answer.partition(" connections, ")[2] or answer, maxsplit=1)[0].removesuffix(".")


def error(text: str) -> str:
    """Return the line of an error, or the last line of all."""
    lines = [line for line in text.splitlines() if line.strip()]
    return next((line for line in lines if line.startswith("error:")), lines[-1] if lines else "no word")


def table(rows: list[dict[str, str]]) -> str:
    """Return rows as a Markdown table."""
    head = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}\n"
    return head + "".join(
        f"| {' | '.join(row[column].replace('|', chr(92) + '|') for column in COLUMNS)} |\n" for row in rows
    )


def main() -> None:
    """Race the projects of a folder and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="checkouts, each set up")
    parser.add_argument("--only", action="append", help="only this project; may be repeated")
    parser.add_argument("--budget", default="3min", help="time for each race (default: 3min)")
    parser.add_argument("--write", action="store_true", help="put the table into docs/projects.md")
    given = parser.parse_args()
    rows = []
    for project in projects():
        checkout = given.folder / project.name
        if (given.only and project.name not in given.only) or not checkout.is_dir():
            continue
        print(f"## {project.name}", file=sys.stderr)
        rows.append(raced(project, checkout, given.budget))
    print(table(rows))
    if given.write:
        page = PAGE.read_text(encoding="utf-8")
        new = page[: page.index(BEGIN)] + f"{BEGIN}\n{table(rows)}" + page[page.index(END) :]
        PAGE.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
