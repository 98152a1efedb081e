"""Results of a race: values that are stored and shown."""
