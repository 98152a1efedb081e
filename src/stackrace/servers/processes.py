"""How many processes a server works with, where one setting says it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from ..model.stack import ProcessCount, SettingValue

__all__ = ["fixed_by"]


def fixed_by(setting: str) -> Callable[[Mapping[str, SettingValue]], ProcessCount | None]:
    """Return what counts the processes of a server that runs as many as ``setting`` says; 0 says nothing."""
    return partial(_count, setting)


def _count(setting: str, settings: Mapping[str, SettingValue]) -> ProcessCount | None:
    # it is not there where a configuration file of the user's computes it
    number = int(settings.get(setting, 0))
    return ProcessCount(setting=setting, least=number, most=number) if number else None
