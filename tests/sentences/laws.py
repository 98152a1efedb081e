"""Laws of sentences: each takes a result and yields what breaks it. None computes a figure as the product does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations, pairwise
from typing import Any

from tests.sentences.results import Result

from stackrace.report.exporter import STANDING
from stackrace.report.sheet import Column, Table

Law = Callable[[Result], Iterator[str]]

LAWS: dict[str, Law] = {}


def law(check: Law) -> Law:
    """Keep ``check`` among the laws, under its own name."""
    LAWS[check.__name__] = check
    return check


# the grammar of numbers

_NUMBER = r"\d[\d,]*(?:\.\d+)?"
_THINGS = (
    "launch|pair|stack|configuration|connection|time|race|check|change|answer|request|slice|other|run|block|trial|"
    "batch|repeat|thread|worker|minute|hour|file|error|level|page"
)
_ONE_OF_MANY = re.compile(rf"(?<![\d.,=–-])1 (?:more |fresh |kept )?(?:{_THINGS})(?:s|es)\b|\b1 [\w ]+? were\b")
_MANY_AS_ONE = re.compile(
    rf"(?<![\d.,=–-])(?:[02-9]|[\d,]*\d\d|\d+,\d+) (?:more |fresh |kept )?(?:{_THINGS})\b(?!-| \w+s\b)"
)


@law
def one_is_singular_and_many_are_plural(result: Result) -> Iterator[str]:
    """No "1 pairs", no "3 launch"."""
    for text in result.sentences:
        for found in (*_ONE_OF_MANY.finditer(text), *_MANY_AS_ONE.finditer(text)):
            yield f"{found[0]!r} in {text!r}"


@law
def a_part_is_no_more_than_its_whole(result: Result) -> Iterator[str]:
    """``N of M``: N ≤ M."""
    for text in result.sentences:
        for part, whole in re.findall(
            rf"(?<![\d.])({_NUMBER}) (?:tried )?of (?:the \w+'s |each |least )?({_NUMBER})\b", text
        ):
            if _value(part) > _value(whole):
                yield f"{part} of {whole} in {text!r}"


@law
def what_needs_more_has_less(result: Result) -> Iterator[str]:
    """Fewer came than the least."""
    for text in result.sentences:
        for came, least in re.findall(rf"({_NUMBER}) of each side came, and ({_NUMBER}) are the least", text):
            if _value(came) >= _value(least):
                yield text


# figures of a document


def _numbers(value: Any, key: str = "") -> Iterator[tuple[str, float]]:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return
    if isinstance(value, (int, float)):
        yield key, float(value)
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield from _numbers(each, name if not name.isdigit() else key)
        if len(value) > 1 and all(isinstance(each, (int, float)) for each in value.values()):
            # what hops need together, and the share of each
            total = float(sum(value.values()))
            yield key, total
            yield from ((key, each / total) for each in value.values() if total)
    else:
        for each in value:
            yield from _numbers(each, key)


def _summary(result: Result) -> dict[str, Any]:
    """Return the document without single launches: no sentence is about one."""
    return {name: each for name, each in result.document.items() if name not in ("launches", "stacks", "host")}


_UNITS: Mapping[str, tuple[float, ...]] = {
    "%": (100.0,), "×": (1.0,), "ms": (1.0, 1e3), "MiB": (1 / 2**20,), "requests/s": (1.0,), "points": (100.0,),
}  # fmt: skip
"""Factors from a document's unit to that of a sentence."""

_QUANTITY = re.compile(rf"(?<![\w.,<=-])({_NUMBER})(?: |(?=×))({'|'.join(_UNITS)})(?![\w/])")
_USUAL = ("95 %",)
"""The confidence of all limits."""


def _is_near(text: str, value: float) -> bool:
    digits = len(text.partition(".")[2])
    return abs(_value(text) - value) <= 0.51 * 10**-digits + 1e-9 * abs(value)


def _pool(result: Result, unit: str) -> list[float]:
    """Return the figures of a document that a sentence may say in ``unit``."""
    found = [*_numbers(_summary(result)), *_settings(result)]
    plain = [value * factor for _, value in found for factor in _UNITS[unit]]
    if unit == "%":
        # a ratio says how much more or less; of a share, the rest
        plain += [100 * abs(value - 1) for _, value in found]
        plain += [100 * abs(1 / value - 1) for key, value in found if value and key in ("low", "high", "value")]
    if result.document.get("schema") == "load-1":
        plain += _of_engine(result, unit)
    if unit == "×":
        plain += [1 / value for key, value in found if value]
        plain += [1 + value for key, value in found if key == "span"]
        for name in ("memory_bytes", "cpu_ms_per_request"):
            needs = [value for key, value in found if key == name and value]
            plain += [ratio for a, b in combinations(set(needs), 2) for ratio in (a / b, b / a)]
    return plain


def _of_engine(result: Result, unit: str) -> list[float]:
    """Return what follows from the engine's seconds: CPU time by answer, and the share of time without a core."""
    run = result.document
    answered = run["ok"] + run["non2xx"] + run["failed"].get("body", 0)
    spent_ms = [1e3 * (run["cpu_s"] - run["spin_s"]) / answered] if answered else []
    return {"ms": spent_ms, "%": [100 * run["wait_s"] / run["duration_s"]]}.get(unit, [])


def _settings(result: Result) -> Iterator[tuple[str, float]]:
    """Yield the findings of launches, which a document has only with them."""
    for launch in result.document["launches"] if result.kind is STANDING else ():
        for each in (launch, *launch["slices"]):
            yield from _numbers([(one["value"] or 0.0, one["limit"] or 0.0) for one in each["findings"]], "finding")


@law
def every_quantity_is_one_of_the_document(result: Result) -> Iterator[str]:
    """Every share, ratio, latency, size and rate is in the JSON document, within its own rounding."""
    pools = {unit: _pool(result, unit) for unit in _UNITS}
    ours = [text for text in result.sentences if text not in result.document.get("notes", ())]
    for text in ours:
        for found, unit in _QUANTITY.findall(text):
            if f"{found} {unit}" not in _USUAL and not any(_is_near(found, value) for value in pools[unit]):
                yield f"{found} {unit} in {text!r}"


@law
def a_race_counts_its_own(result: Result) -> Iterator[str]:
    """Stacks, launches, time and the time that is missing are those of the document."""
    if result.kind is not STANDING:
        return
    race, launches = result.document["race"], result.document["launches"]
    (said, *_) = [text for text in result.sentences if text.startswith("Raced: ")]
    size = re.search(rf": ({_NUMBER}) stacks? at .*?({_NUMBER}) launch(?:es)? in ([\w. ]+) \(", said)
    counts = (len(result.document["stacks"]), len(launches))
    if (
        size is None
        or (_value(size[1]), _value(size[2])) != counts
        or abs(_seconds(size[3]) - race["elapsed_s"]) > 0.5
    ):
        yield said
    for text in result.sentences:
        for more in re.findall(rf"about ({_NUMBER} (?:s|min)) more would decide", text):
            if (
                not 0
                <= _seconds(more) - (result.document["answer"]["needed_s"] or 0)
                < (60 if "min" in more else 1)
            ):
                yield f"{result.document['answer']['needed_s']} s: {text}"


@law
def more_time_is_more_than_there_was(result: Result) -> Iterator[str]:
    """A budget that a sentence about the end of a race advises is larger than that of the race."""
    budget_s = result.document["race"]["budget_s"] or 0 if result.kind is STANDING else 0
    for text in result.sentences:
        for advised in re.findall(r"decide \(--budget (\d+)(s|min)\)", text):
            if _seconds(" ".join(advised)) <= budget_s:
                yield f"{budget_s} s: {text}"


def _seconds(text: str) -> float:
    units = {"s": 1, "min": 60, "h": 3600}
    return sum(_value(number) * units[unit] for number, unit in re.findall(rf"({_NUMBER}) (s|min|h)\b", text))


# answers of races


def _value(text: str) -> float:
    return float(text.replace(",", ""))


def _percent(pattern: str, text: str) -> Iterator[float]:
    for found in re.findall(pattern.replace("N", rf"({_NUMBER})"), text):
        yield _value(found) / 100


def _rows(result: Result) -> list[dict[str, Any]]:
    if result.kind is not STANDING or result.document["headline"] is None:
        return []
    rows: list[dict[str, Any]] = result.document["levels"][result.document["headline"]]["rows"]
    return rows


def _answer(result: Result) -> str:
    words = result.document.get("words")
    return str(words["answer"]) if words else ""


@law
def the_best_is_the_top_row(result: Result) -> Iterator[str]:
    """The stack that the answer names first is the first row, the one that all others are divided by."""
    if result.kind is STANDING and (rows := _rows(result)) and not result.document["void"]:
        first = rows[0]
        if first["ratio"]["value"] != 1 or first["tier"] != 1:
            yield f"the first row is {first['ratio']}"
        if result.document["answer"]["stacks"][0] != first["stack"] or first["stack"] not in _answer(result):
            yield _answer(result)


@law
def within_is_what_the_limits_say(result: Result) -> Iterator[str]:
    """ "The best, or within N of it": N is how far the limits reach above the leader, or less."""
    highs = [row["ratio"]["high"] for row in _rows(result)]
    if None in highs or not highs or result.kind is not STANDING:
        return
    reach = max(highs) - 1
    for share in (
        *_percent(r"or within N % of it", _answer(result)),
        *_percent(r"or at most N % behind", _answer(result)),
    ):
        if share > max(1.03 * reach, reach + 0.0006):
            yield f"limits reach {reach:.3%}: {_answer(result)}"


@law
def a_good_choice_is_as_good_as_its_limits_say(result: Result) -> Iterator[str]:
    """ "No stack is more than N faster": N is how far the limits of that level reach, or less."""
    if result.kind is STANDING:
        for lead, level in zip(result.document["leads"], result.document["levels"], strict=False):
            highs = [row["ratio"]["high"] for row in level["rows"]]
            if lead["within"] is not None and None not in highs and lead["within"] > max(highs) - 1 + 1e-9:
                yield f"{lead} beside {highs}"


@law
def what_is_settled_is_within_what_was_asked(result: Result) -> Iterator[str]:
    """No settled race says "within" more than the difference that does not matter."""
    race = result.document.get("race")
    if result.document.get("settled") and isinstance(race, dict):
        for share in _percent(r"(?:within|at most) N %", _answer(result)):
            if share > race["difference"] * 1.001:
                yield _answer(result)


@law
def all_that_are_slower_are_proved_slower(result: Result) -> Iterator[str]:
    """Stacks that are "slower" have limits below 1; none is in the first tier."""
    if re.search(r"(every other stack is|all others are|\S+ is) slower", _answer(result)):
        named = {*result.document["answer"]["stacks"], *result.document["answer"]["rivals"]}
        for row in _rows(result):
            if row["stack"] not in named and (row["tier"] == 1 or not (row["ratio"]["high"] or 9) < 1):
                yield f"{row['stack']} {row['ratio']}: {_answer(result)}"


@law
def only_the_best_is_proved_best(result: Result) -> Iterator[str]:
    """ "X is the best" has no other stack in the first tier, and limits above 1."""
    if re.search(r"is the best(?!,| of)", _answer(result)) and result.kind is STANDING:
        if any(row["tier"] == 1 for row in _rows(result)[1:]):
            yield _answer(result)
        if (result.document["answer"]["ratio"]["low"] or 0) < 1:
            yield f"{result.document['answer']['ratio']}: {_answer(result)}"


@law
def who_comes_first_shares_no_place(result: Result) -> Iterator[str]:
    """In a settled ranking one stack comes first, or all that nothing tells apart share the first place."""
    top = [row["stack"] for row in _rows(result) if row["tier"] == 1]
    if ("comes first" in _answer(result) and len(top) > 1) or (
        "share the first" in _answer(result) and len(top) < 2
    ):
        yield f"{top}: {_answer(result)}"


@law
def levels_that_say_the_same_are_named_once(result: Result) -> Iterator[str]:
    """No two clauses about one page call the same stacks equally good."""
    for sentence in str(result.document["words"]["leads"] if result.kind is STANDING else "").split(". "):
        alike = re.findall(r"(?:^|[,;] )(?:at|from)[\w ,]*?, (\S.*?) are equally good", sentence.lower())
        sets = [frozenset(re.split(", | and ", each)) for each in alike]
        if len({*sets}) < len(sets):
            yield sentence


@law
def what_gave_no_result_is_no_rival(result: Result) -> Iterator[str]:
    """A stack without a place is named neither as the best nor as what may be better."""
    gone = {one["stack"] for one in result.document.get("withdrawals", ())}
    if (
        gone
        and (answer := result.document["answer"])
        and gone & {*answer["stacks"], *answer["rivals"], answer["next_best"]}
    ):
        yield _answer(result)


@law
def more_time_is_advised_where_it_may_decide(result: Result) -> Iterator[str]:
    """ "A longer budget may decide": the pace is unknown, and the connections are not what limits all alike."""
    if "a longer budget may decide" not in _answer(result):
        return
    answer, level = result.document["answer"], result.document["levels"][result.document["headline"]]
    if answer["needed_s"] is not None or answer["most_blocks"] is not None or not answer["rivals"]:
        yield _answer(result)
    named = [row for row in level["rows"] if row["stack"] in {*answer["stacks"], *answer["rivals"]}]
    waits = [row["latency"]["p50_s"] for row in named]
    full = [row["throughput"]["value"] * row["latency"]["p50_s"] / level["load"]["concurrency"] for row in named]
    if max(waits) < 1.05 * min(waits) and min(waits) > 0.05 and min(full) > 0.95:
        yield f"all wait {min(waits)} s: {_answer(result)}"


@law
def all_forms_say_the_same(result: Result) -> Iterator[str]:
    """The answer stands in the Markdown and on the page as in the document."""
    for name, text in (("Markdown", result.markdown), ("page", result.read)):
        if (answer := _answer(result)) and answer not in text:
            yield f"{name} lacks {answer!r}"


@law
def no_stack_is_named_that_did_not_race(result: Result) -> Iterator[str]:
    """Every path in a sentence is a stack of the race."""
    race = result.document.get("race")
    if result.kind is STANDING and isinstance(race, dict):
        raced = [each["stack"] for each in result.document["stacks"]]
        for text in result.sentences:
            for path in re.findall(r"(?<![\w/(])[a-z_+]+(?::[\w=,]+|/[a-z]+/)[\w/:=,+]*", text):
                if (
                    not any(path.rstrip(",:") in each for each in raced)
                    and f"({path}" not in text
                    and f"/{path}" not in text
                ):
                    yield f"{path} in {text!r}"


@law
def the_first_screen_names_every_version(result: Result) -> Iterator[str]:
    """Every hop and the interpreter, on a screen of 32 lines at most."""
    if result.kind is not STANDING:
        return
    for stack in result.document["stacks"]:
        for name, version in stack["versions"].items():
            if not re.search(
                rf"(?i)\b{re.escape(name)} [\d., ]*{re.escape(version)}", result.screen.replace("\n", " ")
            ):
                yield f"{name} {version} is not on\n{result.screen}"
    if len(result.screen.splitlines()) > 28:
        yield f"{len(result.screen.splitlines())} lines"


# answers of other kinds


@law
def a_setting_matters_as_much_as_its_table_says(result: Result) -> Iterator[str]:
    """Of a single setting, two values differ as their rows do, but for launches that only one of both counts."""
    if found := result.document.get("found"):
        each = {row["values"][0]: row["relative"] for row in found["responses"]}
        for text in result.sentences:
            for best, times, worst in re.findall(rf"settings (\S+) is ({_NUMBER})× as good as (\S+)\.", text):
                if len(found["effects"]) == 1 and not 0.9 < _value(times) / (each[best] / each[worst]) < 1.1:
                    yield f"{each}: {text!r}"


@law
def the_tuned_stack_heads_its_table(result: Result) -> Iterator[str]:
    """What is called the best has no rivals, and stands at 1."""
    if (found := result.document.get("found")) and found["stack"]:
        own = next(row for row in found["responses"] if row["stack"] == found["stack"])
        if abs(own["relative"] - 1) > 1e-9:
            yield f"the tuned stack is {own['relative']}"
        if "is the best" in _answer(result) and (found["rivals"] or found["tried"] < 2):
            yield _answer(result)


@law
def a_check_passes_where_all_is_clear(result: Result) -> Iterator[str]:
    """Passed: every response is clear. Failed: something is slower, fails or changes."""
    if result.document.get("format") == "stackrace-check":
        states = {each["state"] for each in result.document["rulings"]}
        if _answer(result).startswith("Passed") and states != {"clear"}:
            yield f"{states}: {_answer(result)}"
        hopeless = "More time would not decide" in _answer(result)
        if hopeless and any(each["missed"] is None and each["change"] for each in result.document["rulings"]):
            yield _answer(result)


@law
def a_run_accounts_for_each_request_once(result: Result) -> Iterator[str]:
    """Right, failed, unanswered and unsent requests are all; a part named twice has one number."""
    if result.document.get("schema") != "load-1":
        return
    (line,) = [text for text in result.sentences if " requests in " in text and " right" in text]
    total = _value(re.findall(rf"({_NUMBER}) requests in", line)[0])
    parts = {what: _value(n) for n, what in re.findall(rf"({_NUMBER}) (right|failed|unanswered|never sent)", line)}
    if sum(parts.values()) != total:
        yield line
    for text in result.sentences:
        for number, what in re.findall(
            rf"({_NUMBER}) of {_NUMBER} (?:requests )?(?:\([^)]*\) )?were (never sent)(?! or)", text
        ):
            if _value(number) != parts.get(what):
                yield f"{text!r} beside {line!r}"


@law
def a_capacity_is_a_rate_that_was_tried(result: Result) -> Iterator[str]:
    """The capacity lies between its limits, below every rate that missed; "at least" has no rate above it."""
    if "capacity_per_s" in result.document and (found := result.document["capacity_per_s"]):
        low, high = result.document["low_per_s"] or found, result.document["high_per_s"] or found
        if not low <= found <= high:
            yield f"{low} {found} {high}"
        if result.document["at_least"] is not any("At least" in text for text in result.sentences):
            yield result.sentences[0]


# drawings: every length ÷ its figure is alike


def _tables(result: Result) -> Iterator[Table]:
    for section in result.sections:
        yield from (block for block in section.blocks if isinstance(block, Table))


def _unlike(lengths: Iterable[float], figures: Iterable[float], least: float) -> bool:
    """True if the lengths are not in proportion to the figures, each within ``least``."""
    pairs = [(length, figure) for length, figure in zip(lengths, figures, strict=True) if figure]
    if not pairs:
        return False
    longest, largest = max(pairs)
    return any(abs(length - figure * longest / largest) > least for length, figure in pairs)


@law
def bars_are_as_long_as_their_figures(result: Result) -> Iterator[str]:
    """Bars and whiskers of a board of the page are as long as ratios to the leader, and their limits, say."""
    if result.kind is not STANDING:
        return
    levels = {_where(level): level for level in result.document["levels"]}
    board = r'<h2>Standing ([^<]+)</h2>.{,400}?(<table class="bars board".*?</table>)'
    for where, table in re.findall(board, result.page, flags=re.DOTALL):
        lengths, figures = [], []
        bars = [svg for svg in re.findall(r"<svg.*?</svg>", table, flags=re.DOTALL) if 'class="bar' in svg]
        for svg, row in zip(bars, levels[where]["rows"], strict=True):
            ratio = row["ratio"]
            lengths.append(float(re.findall(r'<rect[^>]*width="([\d.]+)%"', svg)[0]))
            figures.append(ratio["value"])
            whisker = re.findall(r'<line x1="([\d.]+)%" x2="([\d.]+)%"[^>]*class="whisker"', svg)
            if bool(whisker) is (ratio["low"] is None or ratio["low"] == ratio["high"]):
                yield f"{row['stack']} {ratio} has a whisker: {bool(whisker)}"
            for ends in whisker:
                lengths += [float(end) - 0.3 for end in ends]
                figures += [ratio["low"], ratio["high"]]
        if _unlike(lengths, figures, 0.1):
            yield f"{where}: {lengths} for {figures}"


def _where(level: dict[str, Any]) -> str:
    on = f"on {level['workload']} " if level["workload"] else ""
    return f"{on}at c={level['load']['concurrency']}"


@law
def a_screens_bars_end_where_their_ratios_are(result: Result) -> Iterator[str]:
    """The dot of a bar in characters is as far as its ratio says, within a character."""
    for table in _tables(result):
        columns = {column.short or column.title: column for column in table.columns}
        drawn = [
            column.cells for column in table.columns if column.cells and all("●" in cell for cell in column.cells)
        ]
        if "vs leader, 95 %" in columns:
            ratios = [_value(cell) for cell in columns["vs leader, 95 %"].cells]
            for cells in drawn:
                if _unlike([cell.index("●") + 0.5 for cell in cells], ratios, 1.1):
                    yield f"{cells} for {ratios}"


@law
def meters_are_as_long_as_their_shares(result: Result) -> Iterator[str]:
    """Bars of a distribution are as long as the share beside them, as far as two digits tell."""
    for table in _tables(result):
        for column, beside in pairwise(table.columns):
            if set("".join(column.cells)) & set("█▏") and all(
                cell in ("", *_shares(beside)) for cell in beside.cells
            ):
                lengths = [cell.count("█") + max("█▏▎▍▌▋▊▉".find(cell[-1:] or "█"), 0) / 8 for cell in column.cells]
                shares = [_value(cell.removesuffix(" %") or "0") for cell in beside.cells]
                if _unlike(lengths, shares, 0.2 + 0.06 * max(lengths)):
                    yield f"{lengths} for {shares}"


def _shares(column: Column) -> list[str]:
    return [cell for cell in column.cells if re.fullmatch(rf"{_NUMBER} %", cell)]


@law
def changes_are_drawn_on_one_scale(result: Result) -> Iterator[str]:
    """Dots of a check's page lie as far from "no difference" as their changes say."""
    if result.document.get("format") == "stackrace-check":
        dots = [float(at) - 50 for at in re.findall(r'<circle cx="([\d.]+)%"[^>]*class="ours', result.page)]
        changes = [each["change"]["value"] for each in result.document["rulings"] if each["change"]]
        if len(dots) != len(changes) or _unlike(map(abs, dots), map(abs, changes), 0.02):
            yield f"{dots} for {changes}"


@law
def quantiles_are_drawn_in_order(result: Result) -> Iterator[str]:
    """Marks of a strip follow each other as its quantiles do."""
    for strip in re.findall(r'<svg[^>]*>(?:(?!</svg>).)*class="dot p50.*?</svg>', result.page, flags=re.DOTALL):
        marks = [float(at) for at in re.findall(r'<circle cx="([\d.]+)%"', strip)]
        if marks != sorted(marks):
            yield strip
