"""Actions of the verbs without the command line, typed. ``import stackrace`` offers the stable part."""
