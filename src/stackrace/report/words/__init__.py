"""Sentences about results, for all reports alike; no other package makes them."""
