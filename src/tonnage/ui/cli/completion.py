"""tonnage completion: a script that completes verbs and options in a shell."""

from __future__ import annotations

from tonnage.errors import MissingExtraError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

SUMMARY = "Print a completion script for a shell."
SHELLS = ("bash", "zsh", "tcsh")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The shell."""
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=", ".join(SHELLS))


def run(args: argparse.Namespace) -> int:
    """Print the script; MissingExtraError without the extra."""
    try:
        import shtab
    except ImportError as missing:
        raise MissingExtraError("shtab", "not installed", "pip install 'tonnage[completion]'") from missing
    from tonnage.ui.cli.verbs import full_parser

    script = shtab.complete(full_parser(), args.shell)
    if args.json:
        from tonnage.ui.cli.print_json import print_json

        print_json({"shell": args.shell, "script": script})
    else:
        print(script)
    return 0
