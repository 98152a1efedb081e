"""The wheel is all there is to install: no compiler, no checkout, and a race runs."""

import json
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest
from tests.raced import raced, told

import stackrace

REPOSITORY = Path(__file__).parents[2]
UV = Path(sys.executable).with_name("uv")
ENGINE = "stackrace/measure/engine/_engine.abi3.so"
COMPILER = re.compile(r"(^|-)(cc|c\+\+|gcc|g\+\+|c[89]9|clang|clang\+\+|cargo|rustc|zig|maturin)(-[\d.]+)?$")


def run(command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def tracked():
    files = run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "src"], cwd=REPOSITORY)
    return [file.removeprefix("src/") for file in files.splitlines() if (REPOSITORY / file).is_file()]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The file that ``make wheel`` has built (STACKRACE_WHEEL); else one packed around the engine that is here."""
    if built := os.environ.get("STACKRACE_WHEEL"):
        return REPOSITORY / built
    return packed(tmp_path_factory.mktemp("wheel"))


def packed(folder):
    """Pack a wheel without building anything: as PEP 427 has it, the tag being this system's own."""
    table = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    name, version = table["name"], stackrace.__version__
    tag = f"cp311-abi3-{sysconfig.get_platform().replace('-', '_')}"
    about = f"{name}-{version}.dist-info"
    needs = "".join(f"Requires-Dist: {need}\n" for need in table["dependencies"])
    texts = {
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
        f"{about}/WHEEL": f"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: false\nTag: {tag}\n",
        f"{about}/entry_points.txt": "[console_scripts]\nstackrace=stackrace.__main__:main\n",
    }
    files = [*tracked(), ENGINE]
    texts[f"{about}/RECORD"] = "".join(f"{file},,\n" for file in (*files, *texts, f"{about}/RECORD"))
    path = folder / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for file in files:
            archive.write(REPOSITORY / "src" / file, file)
        for file, text in texts.items():
            archive.writestr(file, text)
    return path


@pytest.fixture(scope="module")
def clean(wheel, tmp_path_factory):
    """Run the installed command in an empty folder, with no compiler on PATH."""
    folder = tmp_path_factory.mktemp("clean")
    home = folder / "environment"
    programs = folder / "bin"
    programs.mkdir()
    for program in Path("/usr/bin").iterdir():
        if not COMPILER.search(program.name):
            (programs / program.name).symlink_to(program)
    environment = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(("XDG_", "UV_", "LANG", "TMPDIR", "SSL_", "HOME"))
    }
    environment["PATH"] = str(programs)
    run([UV, "venv", "--quiet", "--no-project", "--python", sys.executable, home], env=environment)
    run([UV, "pip", "install", "--quiet", "--python", home, wheel], env=environment)
    environment["PATH"] = os.pathsep.join((str(home / "bin"), str(programs)))
    # as uvx sets it: the wheel brings none
    environment["UV"] = str(UV)
    project = folder / "empty"
    project.mkdir()

    def call(*arguments, **variables):
        command = [str(home / "bin" / "stackrace"), *arguments]
        given = environment | variables
        return subprocess.run(command, capture_output=True, text=True, check=False, env=given, cwd=project)

    return call


def test_it_fits_every_python_from_3_11(wheel):
    assert "-cp311-abi3-" in wheel.name


def test_everything_of_the_package_is_in_it(wheel):
    assert not {*tracked(), ENGINE} - set(zipfile.ZipFile(wheel).namelist())


@pytest.mark.exhaustive
def test_it_races_where_there_is_no_compiler(clean):
    few = ("-c", "4", "--no-twin", "--repeats", "1", "--requests", "40", "--json")
    done = clean("run", "--stack", "waitress", *few)
    assert told(raced(done)) == {"waitress"}
    assert "<!doctype html>" in Path(re.search(r"The report: (.+)", done.stderr)[1]).read_text(encoding="utf-8")


def test_its_files_are_found(clean):
    assert '"name": "nginx"' in clean("stacks", "--json").stdout
    assert "mysqlclient" in clean("install", "historic/mod-wsgi-2009", "--dry-run").stdout
    assert json.loads(clean("report", "--schema").stdout)["type"] == "object"


def test_without_uv_nothing_is_begun_and_the_way_out_is_a_command(clean, tmp_path):
    without = {"UV": str(tmp_path / "gone"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = clean("run", "--stack", "waitress", **without)
    assert done.returncode == 2, done.stderr
    assert "uv is not installed, and Python's servers need it; run: " in done.stderr
    assert not list(tmp_path.rglob("pyvenv.cfg"))
    assert "uv is not installed" in clean(**without).stdout


def test_uvx_brings_its_own_uv_and_says_what_to_write(wheel, tmp_path):
    folders = {f"XDG_{name}_HOME": str(tmp_path / name) for name in ("DATA", "CONFIG")}
    environment = {name: os.environ[name] for name in os.environ if name.startswith(("UV_", "HOME", "SSL_"))}
    environment |= folders | {"PATH": "/usr/bin:/bin"}
    command = [UV, "tool", "run", "--python", sys.executable, "--from", wheel, "stackrace"]
    done = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, check=False, env=environment, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "uv is not installed" not in done.stdout
    assert done.stderr.endswith(f"`uvx --from … stackrace` instead, or run once: uv tool install {wheel}\n")
