"""From a request to a race that can start: app examined, stacks chosen, environments built. Prints nothing."""
