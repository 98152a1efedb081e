"""Stacks: the grammar of their paths, the catalogue of servers, and the services of apps."""
