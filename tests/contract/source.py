"""The sources of the package as the contract tests see them: files, trees and imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "tonnage"


@dataclass(frozen=True)
class Source:
    """One Python file of the package."""

    path: Path
    text: str
    tree: ast.Module

    @property
    def name(self) -> str:
        """Dotted module name, `tonnage.model.arch`."""
        parts = self.path.relative_to(PACKAGE.parent).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def is_package(self) -> bool:
        """Whether this is the root of a package."""
        return self.path.name == "__init__.py"


@dataclass(frozen=True)
class Import:
    """One imported module, absolute, and where: at the module's level or inside a function."""

    module: str
    line: int
    is_late: bool


def read_sources() -> list[Source]:
    """All modules of the package, sorted by path."""
    paths = sorted(PACKAGE.rglob("*.py"))
    texts = [(path, path.read_text("utf-8")) for path in paths]
    return [Source(path, text, ast.parse(text)) for path, text in texts]


def imports_of(source: Source) -> Iterator[Import]:
    """Every import of a module, those inside functions and under `if TYPE_CHECKING` included."""
    late = {id(inner) for node in ast.walk(source.tree) if _is_function(node) for inner in ast.walk(node)}
    for node in ast.walk(source.tree):
        for module in _modules(source, node):
            yield Import(module, node.lineno, id(node) in late)  # type: ignore[attr-defined]


def functions_of(source: Source) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function and method, nested ones included."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)


def _modules(source: Source, node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        base = _base(source, node)
        return [
            f"{base}.{alias.name}" if base == "tonnage" or _is_module(base, alias.name) else base
            for alias in node.names
        ]
    return []


def _base(source: Source, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = source.name.split(".")
    kept = parts[: len(parts) - node.level + (1 if source.is_package else 0)]
    return ".".join([*kept, *([node.module] if node.module else [])])


def _is_module(base: str, name: str) -> bool:
    folder = PACKAGE.parent.joinpath(*base.split("."), name)
    return base.startswith("tonnage") and (folder.is_dir() or folder.with_suffix(".py").is_file())
