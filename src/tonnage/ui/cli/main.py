"""The command `tonnage`."""

from __future__ import annotations

import sys

from tonnage.ui.cli.guard import guard
from tonnage.ui.cli.verbs import NAMES, full_parser, load_verb, read_arguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb; the exit code of the process: 0 yes, 1 no, 2 wrong use, 3 the outside world failed."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    return guard(lambda: _dispatch(words), "--debug" in words, "--json" in words)


def _dispatch(words: list[str]) -> int:
    if words and words[0] in NAMES:
        verb = load_verb(words[0])
        return verb.run(read_arguments(words[0], verb, words[1:]))
    if words[:1] == ["--version"]:
        return _dispatch(["version", *words[1:]])
    full_parser().parse_args(words or ["--help"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
