"""A question's arguments on a command line, and the record they make."""

from __future__ import annotations

from tonnage.ui.cli.numbers import number, whole_number
from tonnage.ui.views.options import OPTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from tonnage.ui.views.options import Option

ENGINES = "vllm, sglang or llamacpp, and a version: vllm@0.11.0; default: vllm, the newest known"


def add_question(parser: argparse.ArgumentParser) -> None:
    """MODEL, the engine and every option of a question; the fleet is the verb's own matter."""
    parser.add_argument("model", metavar="MODEL", nargs="?", help="catalogue id, folder, file or hf:ORG/NAME[@REV]")
    parser.add_argument("--engine", metavar="NAME[@VERSION]", help=ENGINES)
    for option in OPTIONS:
        _add_option(parser, option)


def question_record(args: argparse.Namespace) -> dict[str, Any]:
    """The fields that were given, under the names of the JSON contract."""
    record = {"model": args.model, **{option.field: getattr(args, option.field) for option in OPTIONS}}
    if args.engine:
        name, _, version = args.engine.partition("@")
        record |= {"engine": name, "engine_version": version or None}
    return {field: value for field, value in record.items() if value is not None}


def _add_option(parser: argparse.ArgumentParser, option: Option) -> None:
    if option.kind == "switch":
        parser.add_argument(option.flag, dest=option.field, action="store_const", const=True, help=option.help)
    elif option.kind == "whole":
        parser.add_argument(
            option.flag, dest=option.field, metavar="N", type=whole_number(option.flag), help=option.help
        )
    elif option.kind == "number":
        parser.add_argument(option.flag, dest=option.field, metavar="F", type=number(option.flag), help=option.help)
    else:
        parser.add_argument(option.flag, dest=option.field, metavar="NAME", help=option.help)
