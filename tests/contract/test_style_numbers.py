"""The measures of the house: sizes of functions and files, annotations, docstrings, comments, tests."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from statistics import median

import pytest
from source import ROOT, Source, functions_of, read_sources

SOURCES = read_sources()
BROAD_ALLOWED = {"tonnage.ui.cli.guard"}  # the entry of the process
MARKS = ("# type:", "# noqa", "# fmt:", "#!")  # told to tools, not to readers
FORMULA_ROOMS = ("layout", "memory", "speed", "cost", "engines")
FORMULA_LITERALS = {0, 1, 2, 8}

Function = ast.FunctionDef | ast.AsyncFunctionDef


def p90(values: list[int]) -> int:
    """The smallest value that nine tenths do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * 9 // 10) - 1)]


def without_docstring(node: Function) -> list[ast.stmt]:
    """The statements of a body after its docstring."""
    return node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body


def body_lines(node: Function) -> int:
    """Lines from the first statement to the last."""
    body = without_docstring(node)
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def parameters(node: Function) -> list[ast.arg]:
    """The parameters a caller gives."""
    args = node.args
    named = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    extra = [arg for arg in (args.vararg, args.kwarg) if arg]
    return [*(arg for arg in named if arg.arg not in {"self", "cls"}), *extra]


def functions() -> list[tuple[Source, Function]]:
    """Every function with its file."""
    return [(source, node) for source in SOURCES for node in functions_of(source)]


def named(limit: int, measured: list[tuple[int, str]]) -> str:
    """The offenders above `limit`, worst first."""
    return "\n".join(f"{value} {name}" for value, name in sorted(measured, reverse=True) if value > limit)


def public_nodes(tree: ast.Module) -> Iterator[ast.Module | ast.ClassDef | Function]:
    """The module, its public functions and classes, and the public methods of those."""
    yield tree
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from (m for m in node.body if isinstance(m, Function) and not m.name.startswith("_"))


def count_comments(text: str) -> int:
    """Lines with a comment for readers."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(token.type == tokenize.COMMENT and not token.string.startswith(MARKS) for token in tokens)


def docstring_lines(tree: ast.Module) -> int:
    """Lines taken by docstrings."""
    holders = (n for n in ast.walk(tree) if isinstance(n, ast.Module | ast.ClassDef | Function))
    held = (n.body[0] for n in holders if ast.get_docstring(n, clean=False) is not None)
    return sum((node.end_lineno or 0) - node.lineno + 1 for node in held)


def filled_lines(text: str) -> int:
    """Lines that are not blank."""
    return sum(bool(line.strip()) for line in text.splitlines())


def test_function_length() -> None:
    measured = [(body_lines(node), f"{source.name}.{node.name}") for source, node in functions()]
    lengths = [length for length, _ in measured]
    assert max(lengths) <= 60, named(60, measured)
    assert p90(lengths) <= 25, named(25, measured)
    assert median(lengths) <= 7, named(15, measured)


def test_file_length() -> None:
    measured = [(len(source.text.splitlines()), source.name) for source in SOURCES]
    lengths = [length for length, _ in measured]
    assert max(lengths) <= 400, named(400, measured)
    assert median(lengths) <= 150


def test_number_of_parameters() -> None:
    measured = [(len(parameters(node)), f"{source.name}.{node.name}") for source, node in functions()]
    counts = [count for count, _ in measured]
    assert max(counts) <= 8, named(8, measured)
    assert p90(counts) <= 4, named(4, measured)


def test_everything_is_annotated() -> None:
    bare = [
        f"{source.name}.{node.name}"
        for source, node in functions()
        if node.returns is None or any(arg.annotation is None for arg in parameters(node))
    ]
    assert not bare, "\n".join(bare)


def test_public_names_have_docstrings() -> None:
    bare = [
        f"{source.name}.{getattr(node, 'name', '')}"
        for source in SOURCES
        for node in public_nodes(source.tree)
        if ast.get_docstring(node) is None and not (source.is_package and not source.text.strip())
    ]
    assert not bare, "\n".join(bare)


def test_share_of_comments() -> None:
    comments = sum(count_comments(source.text) for source in SOURCES)
    code = sum(filled_lines(source.text) - docstring_lines(source.tree) for source in SOURCES)
    assert 0.03 <= comments / code <= 0.08, f"{comments} comments in {code} lines of code: {comments / code:.1%}"


def test_broad_excepts_only_at_the_entry() -> None:
    broad = [
        f"{source.name}:{node.lineno}"
        for source in SOURCES
        if source.name not in BROAD_ALLOWED
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ExceptHandler) and is_broad(node.type)
    ]
    assert not broad, "\n".join(broad)


def is_broad(kind: ast.expr | None) -> bool:
    """Whether a handler takes everything."""
    names = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(n is None or (isinstance(n, ast.Name) and n.id in {"Exception", "BaseException"}) for n in names)


def test_as_many_test_lines_as_code_lines() -> None:
    code = sum(filled_lines(source.text) for source in SOURCES)
    tests = sum(filled_lines(path.read_text("utf-8")) for path in (ROOT / "tests").rglob("*.py"))
    assert tests >= code, f"{tests} lines of tests for {code} lines of code"


def formula_literals(source: Source) -> Iterator[str]:
    """Numbers inside functions that should be named constants."""
    for node in functions_of(source):
        for inner in (part for statement in without_docstring(node) for part in ast.walk(statement)):
            if (
                isinstance(inner, ast.Constant)
                and type(inner.value) in (int, float)
                and inner.value not in FORMULA_LITERALS
            ):
                yield f"{source.path.relative_to(ROOT)}:{inner.lineno} {inner.value}"


@pytest.mark.parametrize("room", FORMULA_ROOMS)
def test_numbers_in_formulas_have_names(room: str) -> None:
    found = [hit for source in SOURCES if source.name.startswith(f"tonnage.{room}") for hit in formula_literals(source)]
    assert not found, "\n".join(sorted(set(found)))
