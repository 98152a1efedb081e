"""What the verbs do, without the command line: typed in, typed out. ``import stackrace`` offers the stable part."""
