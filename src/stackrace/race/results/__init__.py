"""What a race has found: values that are kept and shown."""
