"""Basic values that every package uses. This package imports nothing else of Stackrace."""
