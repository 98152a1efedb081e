"""Applications: the bundled one, and the loader of the user's own project in its own environment."""
