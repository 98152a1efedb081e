"""Findings in words: from the declaration, or its own."""

from dataclasses import asdict, replace

import pytest

from stackrace.base.verdict import Effect, Finding, Unit
from stackrace.measure.launch import EndedBy, Failure, FailureKind, Shortfall
from stackrace.report.words import findings as say
from stackrace.report.words.findings import LOAD
from stackrace.validity.registry import EVERY_CHECK

BUSY = Finding(
    check="generator-busy",
    effect=Effect.INVALIDATES,
    value=0.96,
    limit=0.85,
    unit=Unit.SHARE,
    cure="shared",
    facts={"throughput_per_s": 12_345.0},
)
KEPT = Finding(check="machine speed", effect=Effect.WARNS, seen="it was slow", threshold="fast", remedy="wait")


def test_a_finding_is_said_with_its_values():
    assert say.seen(BUSY) == (
        "the load engine kept a core 96 % busy, so the client was the limit; the stack can do at least 12,345/s"
    )
    assert say.threshold(BUSY) == "at most 85 %"
    assert say.remedy(BUSY) == "give the load engine a core that no stack uses (--engine-cores)"


def test_a_load_has_other_things_to_turn_than_a_race():
    assert "the server can do at least" in say.seen(BUSY, LOAD)
    assert "taskset" in say.remedy(BUSY, LOAD)


def test_a_finding_with_words_of_its_own_keeps_them():
    assert [part(KEPT) for part in (say.title, say.seen, say.threshold, say.remedy)] == [
        "machine speed", "it was slow", "fast", "wait"
    ]  # fmt: skip


def test_a_check_that_this_version_does_not_know_keeps_its_name():
    unknown = Finding(check="moon-phase", effect=Effect.WARNS)
    assert (say.title(unknown), say.seen(unknown)) == ("moon-phase", "")
    assert say.finding_document(unknown).id == "moon-phase"


@pytest.mark.parametrize(
    "changes",
    [{"facts": {}}, {"cure": "unheard-of"}, {"value": None}, {"facts": {"throughput_per_s": "fast"}}],
    ids=str,
)
def test_a_finding_that_lacks_something_is_shown_all_the_same(changes):
    broken = replace(BUSY, **changes)
    assert say.seen(broken) and say.threshold(broken) and say.remedy(broken)


def test_facts_are_shown_and_never_read_as_a_template():
    evil = replace(BUSY, check="accept-queue", facts={"clients": "{knob.__class__}"})
    assert say.remedy(evil) == "sysctl net.core.somaxconn={knob.__class__}"


@pytest.mark.parametrize("check", EVERY_CHECK, ids=lambda check: check.declaration.id)
def test_a_limit_has_a_unit_that_can_be_written(check):
    for _, limit in check.limits.gravest_first:
        assert say._limit_in_words(check.declaration.unit, limit)


def unmeasured(ended_by, *, launches=0, **facts):
    why = Shortfall(ended_by=ended_by, **facts)
    return Failure(kind=FailureKind.UNMEASURED, shortfall=why, launches=launches)


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (Failure(kind=FailureKind.DIED, message="it ended"), "it ended"),
        (
            Failure(kind=FailureKind.DIED, message="it ended", log="FATAL: sorry, too many clients already"),
            "it ended: its database has no connection left, since all stacks of a race stand side by side; raise "
            "the database's max_connections, or race fewer stacks",
        ),
        (unmeasured(EndedBy.INTERRUPTED), "the race was interrupted before its turn"),
        (
            unmeasured(EndedBy.BUDGET, launches=1, spent_s={"resting_s": 9.2, "warming_s": 1.0}),
            "1 launch ended before a slice: the budget was over after 9.2 s of waiting for the stacks to rest",
        ),
        (
            unmeasured(EndedBy.SHARE, launches=2, spent_s={"slices_s": 3.0}),
            "2 launches ended before a slice: its share of the budget was over after 3 s of measuring other cells",
        ),
        (
            unmeasured(EndedBy.ERROR, launches=1, words="No space left on device"),
            "1 launch ended before a slice: the race broke off (No space left on device)",
        ),
        (
            replace(unmeasured(EndedBy.DISTURBED), finding=KEPT),
            "in each of its blocks other programs took the cores from another stack, so none counts: it was slow. "
            "Way out: wait",
        ),
        (Failure(kind=FailureKind.UNMEASURED), "Stackrace recorded no reason for that. Please report it."),
        (
            Failure(kind=FailureKind.INTERRUPTED, shortfall=Shortfall(ended_by=EndedBy.LOST, words="gone")),
            "the machine was lost (gone).",
        ),
        (Failure(kind=FailureKind.REFUSED, finding=KEPT), "it was slow. Way out: wait"),
        (Failure(kind=FailureKind.INTERRUPTED), "Its block was interrupted, and is raced again."),
        (
            Failure(kind=FailureKind.INTERRUPTED, before=FailureKind.DIED, message="it ended"),
            "Its block was interrupted, and is raced again. Before, it died under load: it ended",
        ),
    ],
)
def test_a_failure_is_said(failure, said):
    assert say.failure_message(failure) == said


def test_each_kind_of_failure_has_words_of_its_own():
    assert len({say.failure_kind(Failure(kind=how)) for how in FailureKind}) == len(FailureKind)


def test_a_document_has_the_values_beside_the_sentences():
    assert asdict(say.finding_document(BUSY)) == {
        "id": "generator-busy",
        "check": "generator busy",
        "effect": "invalidates",
        "value": 0.96,
        "limit": 0.85,
        "unit": "share",
        "seen": say.seen(BUSY),
        "threshold": "at most 85 %",
        "remedy": "give the load engine a core that no stack uses (--engine-cores)",
    }
