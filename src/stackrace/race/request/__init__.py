"""A race as requested by flags or race.toml."""
