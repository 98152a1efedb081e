"""The results site: every race kept in a store, to browse."""
