"""A project's races over time: what is comparable is joined, and changes are marked."""
