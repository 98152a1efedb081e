"""From a request to a race that can begin: app examined, stacks chosen, environments built. Prints nothing."""
