"""What version 0.1.0 wrote before its records had one codec; kept for good, for no later version writes it so."""

from pathlib import Path

_FOLDER = Path(__file__).parent

RACES = _FOLDER / "races.json.gz"
PUBLISHED = _FOLDER / "published.json"
LOAD = _FOLDER / "load.json"
RACE_DOCUMENT = _FOLDER / "race-1.json.gz"
