"""What made a launch or a stack fail, in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ...measure.launch import Failure, FailureKind, Lack
from .findings import remedy, seen

__all__ = ["kind", "message"]

_KINDS: Mapping[FailureKind, str] = {
    FailureKind.NOT_STARTED: "did not start",
    FailureKind.NOT_READY: "never became ready",
    FailureKind.WRONG_ANSWER: "gave a wrong answer",
    FailureKind.DIED: "died under load",
    FailureKind.NOT_STOPPED: "ignored the request to stop",
    FailureKind.REFUSED: "gave no believable measurement",
    FailureKind.INTERRUPTED: "was cut short with its race",
}
_INTERRUPTED = "Its block was interrupted, and is raced again."

_LACKS: Mapping[Lack, str] = {
    Lack.RIGHT_ANSWER: "None of its requests got a right answer.",
    Lack.LAUNCH: "The race ended before its first launch.",
}


def kind(failure: Failure) -> str:
    """Say how the stack failed, as what follows its name: ``did not start``."""
    return _KINDS[failure.kind]


def message(failure: Failure) -> str:
    """Say what happened; empty where the kind of failure says it all."""
    if failure.before is not None:
        before = replace(failure, kind=failure.before, before=None)
        return f"{_INTERRUPTED} Before, it {kind(before)}: {message(before)}"
    if failure.kind is FailureKind.INTERRUPTED:
        return failure.message or _INTERRUPTED
    if failure.finding is not None:
        return f"{seen(failure.finding).rstrip('.')}. {remedy(failure.finding)}"
    return failure.message if failure.lack is None else _LACKS[failure.lack]
