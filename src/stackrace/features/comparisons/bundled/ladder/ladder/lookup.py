"""The key and the value of the lookup, the same on every rung."""

KEY = 1
VALUE = "Hello world!"

TABLE = "lookup"
QUERY = f"SELECT value FROM {TABLE} WHERE id = %s"
