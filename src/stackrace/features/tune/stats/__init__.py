"""Which configurations race on, which one is the best by what its launches deliver, and which settings matter."""
