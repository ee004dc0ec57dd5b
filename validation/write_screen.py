"""Write today's answer to the README's first question into the README.

python -m validation.write_screen
"""

from __future__ import annotations

from pathlib import Path

from tonnage.plan.fit import answer_question
from tonnage.plan.question import Question
from tonnage.ui.views.fit import fit_rows
from tonnage.ui.views.screen import plain_text

README = Path(__file__).resolve().parents[1] / "README.md"
MODEL, FLEET = "moonshotai/Kimi-K3", "8xMI355X"
START, END = f"```console\n$ tonnage fit {MODEL} --on {FLEET}\n", "\n```\n"
WIDTH = 80


def main() -> None:
    """Replace the screen."""
    README.write_text(put_screen(README.read_text("utf-8")), encoding="utf-8")


def put_screen(text: str) -> str:
    """`text` with the screen of today, as a terminal of 80 columns shows it."""
    before, start, rest = text.partition(START)
    if not start:
        raise ValueError(f"README: no line {START!r}")
    answer = answer_question(Question(MODEL, FLEET), is_calibrated=False)
    screen = "\n".join(plain_text(row) for row in fit_rows(answer, WIDTH))
    return before + START + screen + END + rest.partition(END)[2]


if __name__ == "__main__":
    main()
