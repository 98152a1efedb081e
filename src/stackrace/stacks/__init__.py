"""The user's words, read: stack paths and race.toml become model values."""
