"""From a stack and limits to the configurations that may be raced."""
