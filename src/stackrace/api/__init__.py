"""The verbs' actions as typed functions, without the command line. ``import stackrace`` offers the stable part."""
