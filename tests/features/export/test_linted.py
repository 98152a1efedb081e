"""What the field's own linters say of exported images and services: nothing."""

import pytest
from tests.linters import lint

from .exports import files_of
from .test_files import MANY


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """The files of many stacks, a folder each."""
    folder = tmp_path_factory.mktemp("exported")
    for number, path in enumerate(MANY):
        for name, text in files_of(path).items():
            file = folder / str(number) / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    return folder


def test_hadolint_finds_nothing_in_any_dockerfile(exported):
    lint("hadolint", "--no-color", *exported.glob("*/Dockerfile"))


def test_every_compose_file_is_as_the_compose_specification_says(exported):
    lint("check-jsonschema", "--builtin-schema", "vendor.compose-spec", *exported.glob("*/compose.yaml"))
