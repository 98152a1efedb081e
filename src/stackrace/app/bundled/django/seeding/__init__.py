"""Rows in numbers that a migration should not insert: put there only for the pages that need them."""
