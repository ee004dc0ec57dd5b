"""tonnage version: which tonnage this is."""

from __future__ import annotations

from tonnage import __version__
from tonnage.ui.cli.print_json import print_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

SUMMARY = "Print the version."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """No options of its own."""


def run(args: argparse.Namespace) -> int:
    """Print it."""
    if args.json:
        print_json({"version": __version__})
    else:
        print(f"tonnage {__version__}")
    return 0
