"""What a check may keep with its race."""

from __future__ import annotations

from tests.core.store.arbitrary import of

from stackrace.features.regression.model import GateFacts

PART = of(GateFacts)
