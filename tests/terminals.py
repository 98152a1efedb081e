"""A stream that says it is a terminal, for what is told on one."""

import io


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True
