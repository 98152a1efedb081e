"""A published comparison that was run again, in every form."""
