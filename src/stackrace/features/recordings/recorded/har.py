"""HAR 1.2 files. Source: HTTP Archive 1.2, <http://www.softwareishard.com/blog/har-12-spec/>."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from .candidate import Candidate, judge
from .json_parts import JsonText
from .session import session_steps
from .skip import LeftOut, Skip, Skips
from .step import MAX_STEPS, RecordingError, Steps


def from_har(content: bytes, limit: int | None = None) -> Steps:
    """Read a HAR file into its first ``limit`` steps, all of them without a limit.

    Kept are the requests to the server that got most of them, in the order they were started in. An entry that
    cannot be replayed is counted, no error.

    RecordingError: the file is no HAR file, has more than ``MAX_STEPS`` entries, or none can be replayed.
    """
    judged = [_judged(entry) for entry in _entries(content)]
    candidates = [result for result in judged if isinstance(result, Candidate)]
    if not candidates:
        raise _nothing(judged)
    # the first of several
    origin = Counter(candidate.origin for candidate in candidates).most_common(1)[0][0]
    skips = Skips()
    for number, result in enumerate(judged, 1):
        if isinstance(result, Skip):
            skips.count(result, number)
        elif result.origin != origin:
            skips.count(Skip.OTHER_SERVER, number)
    steps = session_steps([candidate for candidate in candidates if candidate.origin == origin])
    return Steps(is_session=True, origin=origin, steps=steps[:limit], skipped=skips.counts())


def _judged(entry: object) -> Candidate | Skip:
    try:
        return judge(entry)
    except LeftOut as left_out:
        return left_out.skip


def _entries(content: bytes) -> Iterator[object]:
    """Yield ``log.entries`` one by one, so that no more than one of them is held as objects."""
    try:
        text = JsonText(content.removeprefix(b"\xef\xbb\xbf").decode())
        yield from _entries_of_log(text)
    except UnicodeDecodeError as error:
        raise _broken(f"byte {error.start + 1} is no UTF-8") from error
    except ValueError as error:
        raise error if isinstance(error, RecordingError) else _broken(str(error)) from error


def _entries_of_log(text: JsonText) -> Iterator[object]:
    has_entries = False
    for name in text.members():
        if name != "log" or not text.begins("{"):
            text.skip()
            continue
        for part in text.members():
            if part != "entries" or not text.begins("["):
                text.skip()
                continue
            has_entries = True
            for number, entry in enumerate(text.items(), 1):
                if number > MAX_STEPS:
                    raise RecordingError(f"it has more than {MAX_STEPS} entries; record a shorter session")
                yield entry
    text.end()
    if not has_entries:
        raise RecordingError("it is JSON without a list log.entries; export the session as HAR 1.2")


def _broken(why: str) -> RecordingError:
    return RecordingError(f"it is not a whole HAR 1.2 file ({why}); export the session again")


def _nothing(judged: list[Candidate | Skip]) -> RecordingError:
    skips = Skips()
    for number, result in enumerate(judged, 1):
        if isinstance(result, Skip):
            skips.count(result, number)
    most_frequent = skips.most_frequent()
    if most_frequent is None:
        return RecordingError(
            "its list log.entries is empty; "
            "reload the page while the network panel or the proxy records, then export"
        )
    return RecordingError(
        f"none of its {len(judged)} entries can be replayed, most often as: {most_frequent[0]}; "
        f"the first is entry {most_frequent[1]}; record plain http or https pages"
    )
