"""The list in docs/checks.md, written from the declarations in the order of the method's numbers."""

from string import Formatter

from stackrace.base.verdict import Effect
from stackrace.report.words.findings import RACE, _limit_in_words
from stackrace.validity.declaration import Check, Made
from stackrace.validity.registry import EVERY_CHECK

__all__ = ["entries"]


class _Placeholders(Formatter):
    """Names what a remedy will know: ``{clients}`` becomes CLIENTS."""

    def get_field(self, field_name, args, kwargs):
        if field_name.startswith("knob."):
            return getattr(RACE, field_name.removeprefix("knob.")), field_name
        return field_name.upper(), field_name

    def format_field(self, value, format_spec):
        return value


HEADINGS = {
    (Made.START,): "Before the start",
    (Made.START, Made.LAUNCH): "Before the start, and on each launch",
    (Made.SLICE, Made.RUN): "On each slice, and on each run of `stackrace load`",
    (Made.SLICE,): "On each slice",
    (Made.LAUNCH,): "On each launch, when it is over",
    (Made.RACE,): "On the race as a whole",
}


def entries() -> list[str]:
    """Return the page's lines: what each check looks at, its limits, its usual remedy and its source."""
    in_order = sorted(EVERY_CHECK, key=lambda check: check.declaration.number or 99)
    lines: list[str] = []
    known: dict[str, str] = {}
    for made, heading in HEADINGS.items():
        listed = [check for check in in_order if check.declaration.made == made]
        lines += [f"## {heading}", "", *(line for check in listed for line in (_entry(check, known), ""))]
    return lines


def _entry(check: Check, known: dict[str, str]) -> str:
    """Write an entry; a remedy that ``known`` has already, by the check that it stands at, is not repeated."""
    declared = check.declaration
    number = f"{declared.number} " if declared.number else ""
    name = declared.title if _id_of(declared.title) == declared.id else f"{declared.title}** (`{declared.id}`)**"
    remedy = _remedy(check)
    before = known.setdefault(remedy, declared.title)
    remedy = remedy if before == declared.title else f"as for {before}."
    source = f" *Source:* {declared.source}." if declared.source else ""
    return f"**{number}{name}**: {check.summary} *Limit:* {_limits(check)}. *Remedy:* {remedy}{source}".replace(
        "****", ""
    )


def _id_of(title: str) -> str:
    return title.lower().replace(" ", "-").replace("_", "-")


def _limits(check: Check) -> str:
    declared = check.declaration
    if declared.rule:
        return f"{declared.rule} ({' or '.join(_effect(check, effect) for effect in declared.possible_effects)})"
    side = "at least " if declared.least else ""
    of = f" {declared.of}" if declared.of else ""
    limits = [
        (f"{side}{_limit_in_words(declared.unit, limit)}{of}" if limit else "none", _effect(check, effect))
        for effect, limit in reversed(declared.limits.gravest_first)
    ]
    return ", ".join(f"{limit} ({effect})" for limit, effect in limits)


def _effect(check: Check, effect: Effect) -> str:
    refuses = effect is Effect.INVALIDATES and Made.START in check.declaration.made
    again = effect is Effect.INVALIDATES and check.declaration.passing
    return "refuses" if refuses else f"{effect.value}, repeated" if again else effect.value


def _remedy(check: Check) -> str:
    """Return the first part of the first remedy, as a sentence."""
    remedy = check.declaration.remedy
    text = remedy if isinstance(remedy, str) else next(iter(remedy.values()))
    short = _Placeholders().vformat(text, (), {}).partition("; ")[0]
    return short if short.endswith("?") else f"{short}."
