"""The only room that makes sentences of results: from a race and its standing, for all reports alike."""
