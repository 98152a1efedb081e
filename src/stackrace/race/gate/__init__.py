"""A check: what the launches of two sides say of each response, and when that is enough. Pure."""
