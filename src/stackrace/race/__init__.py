"""Races, from the request to the result. This package sends typed events and prints nothing."""
