"""OpenMetrics text, for time-series databases.

Source: the specification OpenMetrics 1.0.0: names, escapes, units, and ``# EOF``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

from ..base.text import one_line

Sample = tuple[Mapping[str, str], float | None]
"""Labels and value of a sample; it is left out if the value is unknown."""


def metric(
    name: str, about: str, samples: Iterable[Sample], *, kind: str = "gauge", unit: str = ""
) -> Iterator[str]:
    """Yield the lines of the metric ``stackrace_NAME``, described by ``about``."""
    whole = f"stackrace_{name}"
    yield f"# TYPE {whole} {kind}"
    if unit:
        yield f"# UNIT {whole} {unit}"
    yield f"# HELP {whole} {about}"
    for labels, value in samples:
        if value is not None and math.isfinite(value):
            written = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
            yield f"{whole}{'_info' * (kind == 'info')}{{{written}}} {float(value):.10g}"


def whole_text(lines: Iterable[str]) -> str:
    """Return ``lines`` as a whole text, which ends with ``# EOF`` and a newline."""
    return "".join(f"{line}\n" for line in (*lines, "# EOF"))


def _escaped(text: str) -> str:
    return one_line(text).replace("\\", "\\\\").replace('"', '\\"')
