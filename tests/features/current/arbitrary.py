"""What a race may keep of the present deployment."""

from __future__ import annotations

from tests.core.store.arbitrary import of

from stackrace.features.current.model import CurrentDeployment

PART = of(CurrentDeployment)
