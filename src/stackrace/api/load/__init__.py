"""Load for a server that runs already: ``stackrace load`` and ``stackrace capacity`` without the command line."""
