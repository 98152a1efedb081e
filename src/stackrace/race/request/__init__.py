"""What is asked of a race, by flags or race.toml."""
