"""The pages that the published comparisons measured, and an index of them."""
