"""The six tests that published comparisons of frameworks are made of."""
