"""The values every room speaks in. This room imports nothing else of ours."""
