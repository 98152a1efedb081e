"""``stackrace completion``."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

__all__ = ["command"]


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
    from .main import cli

    completion = get_completion_class(shell)
    assert completion is not None
    click.echo(completion(cli, {}, "stackrace", "_STACKRACE_COMPLETE").source())
