"""What made a launch or a stack fail, in words."""

from __future__ import annotations

from collections.abc import Mapping

from ...model.launch import Failure, Lack
from .findings import remedy, seen

__all__ = ["message"]

_LACKS: Mapping[Lack, str] = {
    Lack.RIGHT_ANSWER: "None of its requests got a right answer.",
    Lack.LAUNCH: "The race ended before its first launch.",
}


def message(failure: Failure) -> str:
    """Say what happened; empty where the kind of failure says it all."""
    if failure.finding is not None:
        return f"{seen(failure.finding).rstrip('.')}. {remedy(failure.finding)}"
    return failure.message if failure.lack is None else _LACKS[failure.lack]
