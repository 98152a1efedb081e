"""What is being prepared before a race, in words."""

from __future__ import annotations

from ..deploy.preparing import Preparing, Step

__all__ = ["preparing_words"]

_WORDS = {
    Step.NO_APP: "the race file names no app and its folder holds none: racing the bundled one",
    Step.NO_INTERPRETER: "{}: building a private one",
    Step.ENVIRONMENT: "building an environment from {}",
    Step.SERVICE: "building an empty {}",
    Step.DATA: "building the data of {}",
    Step.OTHER_RACE: "building {}: waiting for another race, which does",
    Step.COPY: "starting {} from a template",
    Step.START: "starting {}",
    Step.DATABASE: "copying {}",
    Step.PROJECT: "copying {}",
    Step.CHANGES: "warning: {}",
    Step.APP: "preparing the app",
    Step.ANSWERS: "asking {} for its answers",
    Step.BURSTS: "trying {} with short loads",
    Step.PAGES: "asking {}",
    Step.CHOSEN: "{}",
    Step.COMPARING: "comparing {} with what the machines of the cluster have",
    Step.MACHINES: "the machines of the cluster prepare the race: {}",
    Step.PORTS: "waiting until connections that are over let go of their ports (TIME_WAIT)",
}


def preparing_words(preparing: Preparing) -> str:
    """Return what is being done, to be followed by an ellipsis."""
    if preparing.step is Step.PACKAGES:
        return f"installing {preparing.subject or 'an environment'}"
    return _WORDS[preparing.step].format(preparing.subject)
