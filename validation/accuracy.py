"""Ask the planner for every committed row and print how near it comes.

python -m validation [--gate] [--misses] [--write-readme] [--write-gate] [--write-misses]
"""

from __future__ import annotations

import argparse
from pathlib import Path

from validation.ask import take_samples
from validation.gate import find_losses, read_gate, write_gate
from validation.misses import PAGE, render_misses
from validation.table import put_between, render_markdown, summarize

README = Path(__file__).resolve().parents[1] / "README.md"


def main(arguments: list[str] | None = None) -> int:
    """Print the table; 1 when `--gate` finds a metric that fell."""
    args = _parse(arguments)
    samples = take_samples()
    lines = summarize(samples)
    table = render_markdown(lines)
    print(render_misses(samples) if args.misses else table)
    if args.write_gate:
        write_gate(lines)
    if args.write_misses:
        PAGE.write_text(render_misses(samples), encoding="utf-8")
    if args.write_readme:
        README.write_text(put_between(README.read_text(encoding="utf-8"), table), encoding="utf-8")
    losses = find_losses(lines, read_gate()) if args.gate else []
    print("".join(f"\nworse: {loss}" for loss in losses))
    return 1 if losses else 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m validation", description=__doc__.partition("\n")[0])
    parser.add_argument("--gate", action="store_true", help="end with 1 when a metric is worse than gate.toml")
    parser.add_argument("--misses", action="store_true", help="print the rows that are not right in place of the table")
    parser.add_argument("--write-readme", action="store_true", help="put the table into README.md")
    parser.add_argument("--write-gate", action="store_true", help="keep today's accuracy in gate.toml")
    parser.add_argument("--write-misses", action="store_true", help="write misses.md")
    return parser.parse_args(arguments)
