"""What a tuning may keep with its race."""

from __future__ import annotations

from tests.core.store.arbitrary import of

from stackrace.features.tune.model import Tuning

PART = of(Tuning)
