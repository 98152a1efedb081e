"""Pure functions on arrays: paired blocks, confidence limits, tiers, warm-up. Only this folder imports numpy."""
