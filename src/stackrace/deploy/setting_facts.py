"""Whose choice each setting of a stack is: default, recommended, historic, tuned, or the user's own."""

from __future__ import annotations

from collections.abc import Iterator

from ..base.secrets import masked_settings
from ..stacks.facts import ChangeFact, SettingFact
from ..stacks.native_options import CONFIG
from ..stacks.stack import Hop, Origin
from ..stacks.stack_path import setting_text

__all__ = ["change_facts", "setting_facts"]


def setting_facts(hop: Hop) -> Iterator[SettingFact]:
    """Yield the settings of ``hop`` as the catalogue orders them, then what is in the server's own language."""
    for name, origin in hop.origins.items():
        yield SettingFact(hop=hop.server, name=name, value=_value(hop, name), origin=origin)
    if hop.config:
        yield SettingFact(hop=hop.server, name=CONFIG, value=hop.config, origin=Origin.OWN)
    for option in hop.options:
        value = "on" if option.value is None else option.value
        yield SettingFact(hop=hop.server, name=f"--{option.name}", value=masked_settings(value), origin=Origin.OWN)


def change_facts(hop: Hop) -> Iterator[ChangeFact]:
    """Yield what had to be changed in the configuration file that ``hop`` has from the user."""
    for change in hop.file.reading.changes if hop.file else ():
        yield ChangeFact(
            hop=hop.server, key=change.key, theirs=masked_settings(change.theirs), concern=change.concern
        )


def _value(hop: Hop, name: str) -> str:
    if name in hop.settings:
        return setting_text(hop.settings[name])
    return hop.file.reading.computed.get(name, "") if hop.file else ""
