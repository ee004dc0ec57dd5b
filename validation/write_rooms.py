"""Write the list of all files into docs/rooms.md, each with the first line of its docstring.

python -m validation.write_rooms
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE, PAGE = ROOT / "src" / "tonnage", ROOT / "docs" / "rooms.md"
START, END = "<!-- files:start -->", "<!-- files:end -->"
# From the faces down to the leaves, as the rooms import each other.
ORDER = (
    "ui/cli", "ui/views", "plan", "engines", "engines/vllm", "engines/sglang", "engines/llamacpp", "memory", "layout",
    "model", "model/config", "model/mixer", "model/ffn", "model/quantization", "model/quantization/method",
    "model/headers", "model/headers/safetensors", "model/headers/gguf", "catalog", "seams", ".",
)  # fmt: skip


def main() -> None:
    """Replace what stands between the marks."""
    before, _, rest = PAGE.read_text("utf-8").partition(START)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{START}\n{render_files()}{END}{after}", encoding="utf-8")


def render_files() -> str:
    """A table for each folder; folders that are not in `ORDER` come last."""
    folders = {str(path.parent.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py")}
    known = [folder for folder in ORDER if folder in folders]
    return "".join(map(_render_folder, [*known, *sorted(folders - set(ORDER))]))


def _render_folder(folder: str) -> str:
    rows = [f"| `{path.name}` | {_first_line(path)} |" for path in _files(folder)]
    if not rows:
        return ""
    title = "the leaves" if folder == "." else f"`{folder}`"
    return "\n".join([f"\n### {title}\n", "| file | what it holds |", "|---|---|", *rows, ""])


def _files(folder: str) -> Iterator[Path]:
    return (path for path in sorted((PACKAGE / folder).glob("*.py")) if path.name != "__init__.py")


def _first_line(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return text.partition("\n")[0].rstrip(".").replace("``", "`").replace("|", "\\|")


if __name__ == "__main__":
    main()
