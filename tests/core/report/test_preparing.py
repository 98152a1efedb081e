"""Every step of preparing has its words."""

from __future__ import annotations

import pytest

from stackrace.deploy.preparing import Preparing, Step
from stackrace.report.preparing import preparing_words


@pytest.mark.parametrize("step", Step)
def test_every_step_has_words_on_one_line(step: Step) -> None:
    words = preparing_words(Preparing(step=step, subject="shop"))
    assert words and "{" not in words and "\n" not in words


def test_an_environment_without_packages_is_installed_too() -> None:
    assert preparing_words(Preparing(step=Step.PACKAGES, subject="uvicorn, h11")) == "installing uvicorn, h11"
    assert preparing_words(Preparing(step=Step.PACKAGES)) == "installing an environment"
