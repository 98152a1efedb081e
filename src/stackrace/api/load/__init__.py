"""Load for a running server: ``stackrace load`` and ``stackrace capacity`` without the command line."""
