"""All lies by the names of their classes."""

import lies_in_answers  # noqa: F401 (its classes are found below)
import lies_of_processes  # noqa: F401
import lies_over_connections  # noqa: F401
from honest import Honest


class Truth(Honest):
    """No lie."""


LIES = {kind.__name__: kind for kind in Honest.__subclasses__()}
