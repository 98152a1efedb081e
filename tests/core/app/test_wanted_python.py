import pytest

from stackrace.app.interpreter import _wanted_python
from stackrace.base.errors import InputError

REQUIRES = {
    "standard": '[project]\nrequires-python = "{}"\n',
    "poetry": '[tool.poetry.dependencies]\npython = "{}"\n',
}


@pytest.fixture
def environ(tmp_path):
    """An environment in which pyenv has 3.12 and 3.13."""
    for version in ("3.12.1", "3.12.4", "3.13.0"):
        python = tmp_path / "pyenv" / "versions" / version / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.touch()
    return {"PYENV_ROOT": str(tmp_path / "pyenv"), "PATH": ""}


@pytest.fixture
def root(tmp_path):
    (tmp_path / "shop" / ".git").mkdir(parents=True)
    return tmp_path / "shop"


@pytest.mark.parametrize("kind", REQUIRES)
@pytest.mark.parametrize(
    ("words", "version"),
    [(">=3.9", None), (">=3.11,<4", None), (">=3.12", "3.12.4"), ("<3.15,>=3.13", "3.13.0"), ("^3.12", "3.12.4")],
)
def test_what_the_project_asks_for_is_found(root, environ, kind, words, version):
    (root / "pyproject.toml").write_text(REQUIRES[kind].format(words))
    python = _wanted_python(root, environ, own=11)
    assert (python and python.parts[-3]) == version


def test_what_is_not_there_is_named_with_what_installs_it(root, environ):
    (root / "pyproject.toml").write_text(REQUIRES["standard"].format(">=3.14"))
    with pytest.raises(InputError, match=r"wants Python >=3\.14.*uv python install 3\.14.*--python"):
        _wanted_python(root, environ, own=11)


def test_a_pinned_version_wins(root, environ):
    (root / "pyproject.toml").write_text(REQUIRES["standard"].format(">=3.12"))
    (root / ".python-version").write_text("3.13\n")
    python = _wanted_python(root, environ, own=11)
    assert python.parts[-3] == "3.13.0"


@pytest.mark.parametrize("text", ["", "not toml", "[project]\nrequires-python = 3\n"])
def test_a_project_that_says_nothing_takes_any(root, environ, text):
    (root / "pyproject.toml").write_text(text)
    assert _wanted_python(root, environ, own=11) is None
