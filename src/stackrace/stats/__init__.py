"""Pure functions on arrays: paired blocks, confidence limits, tiers, warm-up. Nobody else knows numpy."""
