"""The command ``stackrace``, and ``python -m stackrace``."""

from .cli import main

if __name__ == "__main__":
    main()
