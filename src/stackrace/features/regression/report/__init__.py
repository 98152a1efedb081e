"""A check in every format: one sheet for people, a document for programs, and what CI systems read."""
