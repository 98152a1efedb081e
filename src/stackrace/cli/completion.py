"""``stackrace completion``, and completion of words in bash, which splits a stack's path into several."""

from __future__ import annotations

import os

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    add_completion_class,
    get_completion_class,
    split_arg_string,
)


@add_completion_class
class Bash(BashComplete):
    """Completion in bash, which breaks words at ``:`` and ``=``, too, and replaces only the last piece.

    The script sends the line up to the cursor, and that piece. Each completion leaves out what is before the piece.
    Source: bash(1), Programmable Completion and COMP_WORDBREAKS; E13 of its FAQ.
    """

    source_template = """\
%(complete_func)s() {
    local type value
    COMPREPLY=()
    while IFS=, read -r type value; do
        case $type in
            dir) compopt -o dirnames ;;
            file) compopt -o default ;;
            plain)
                COMPREPLY+=("$value")
                # a stack's path goes on after these
                case $value in *[/:=]) compopt -o nospace ;; esac ;;
        esac
    done < <(env COMP_LINE="${COMP_LINE:0:COMP_POINT}" COMP_PIECE="$2" %(complete_var)s=bash_complete "$1")
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""
    _before = ""
    """Part of the current word that bash keeps."""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the current one, and the current one up to the cursor."""
        line = os.environ["COMP_LINE"]
        words = split_arg_string(line)[1:]
        current = words.pop() if words and not line[-1:].isspace() else ""
        before = current.removesuffix(os.environ["COMP_PIECE"])
        # of --stack=gunicorn:, click completes the value
        self._before = before.partition("=")[2] if before.startswith("-") else before
        return words, current

    def format_completion(self, item: CompletionItem[str]) -> str:
        """Return the type of ``item``, and its value without what bash keeps."""
        return f"{item.type},{item.value.removeprefix(self._before)}"


@click.command(
    epilog="""\b
Examples:
  stackrace completion bash >> ~/.bashrc
  stackrace completion zsh > ~/.zfunc/_stackrace
  stackrace completion fish > ~/.config/fish/completions/stackrace.fish"""
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print a completion script for your shell. It completes verbs, options, servers and stacks."""
    completion = get_completion_class(shell)
    assert completion is not None
    cli = click.get_current_context().find_root().command
    click.echo(completion(cli, {}, "stackrace", "_STACKRACE_COMPLETE").source())
