"""The documentation names what is there: verbs, options, fields, files and switches between versions."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from process import run_tonnage
from source import PACKAGE, read_sources
from validation.write_screen import put_screen

from tonnage.plan.question import Question
from tonnage.ui.cli.verbs import NAMES
from tonnage.ui.views.options import OPTIONS
from tonnage.value import fields

DOCS = ("cli", "json", "rooms", "rules", "accuracy")
PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", *(f"docs/{name}.md" for name in DOCS))
SETUP = re.compile(r"^python3 -m venv \.venv && .*$", re.MULTILINE)


def page(root: Path, name: str) -> str:
    """The text of a page."""
    return (root / name).read_text("utf-8")


def keys_of(record: Any) -> Iterator[str]:
    """Every key of a record and of what is in it, but for the fields of a question and what is named by lines."""
    if isinstance(record, dict):
        for key, entry in record.items():
            yield key
            yield from () if key in ("change", "settings", "differences", "arch") else keys_of(entry)
    elif isinstance(record, list):
        for entry in record:
            yield from keys_of(entry)


def undescribed(record: Any, text: str) -> list[str]:
    """Keys that a page names neither in a sentence nor in an example."""
    return sorted(key for key in set(keys_of(record)) if f"`{key}`" not in text and f'"{key}"' not in text)


def answer(*words: str) -> Any:
    """The object that a command prints."""
    return json.loads(run_tonnage([*words, "--json"]).stdout)


def switches() -> Iterator[tuple[str, str]]:
    """File and name of every constant that holds a version."""
    for source in read_sources():
        if source.name.startswith("tonnage.engines."):
            for node in source.tree.body:
                if isinstance(node, ast.Assign) and "Version(" in (ast.get_source_segment(source.text, node) or ""):
                    yield from ((source.path.name, name.id) for name in ast.walk(node.targets[0]) if is_name(name))


def is_name(node: ast.AST) -> bool:
    """Whether a node is the name of a constant about versions; those of lists beside them are not."""
    return isinstance(node, ast.Name) and node.id not in {"FOLLOWED_METHODS"}


@pytest.mark.parametrize("verb", NAMES)
def test_every_verb_is_in_the_readme_and_has_its_section(verb: str, root: Path) -> None:
    assert f"tonnage {verb}" in page(root, "README.md")
    assert re.search(rf"^## .*\b{verb}\b", page(root, "docs/cli.md"), re.MULTILINE)


def test_the_readme_shows_the_result_first_and_two_commands(root: Path) -> None:
    text = page(root, "README.md")
    assert text.index("$ tonnage fit moonshotai/Kimi-K3") < text.index("## Set-up")
    assert len(SETUP.findall(text)) == 2
    assert text.index("<!-- accuracy:start -->") < text.index("<!-- accuracy:end -->")


def test_the_readme_shows_what_is_printed_today(root: Path) -> None:
    text = page(root, "README.md")
    assert put_screen(text) == text, "python -m validation.write_screen"


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.flag)
def test_every_option_is_described(option: Any, root: Path) -> None:
    text = page(root, "docs/cli.md")
    assert f"`{option.flag}" in text
    assert f"`{option.field}`" in text


def test_every_field_of_a_question_is_described(root: Path) -> None:
    text = page(root, "docs/json.md")
    assert [name for name in fields(Question) if f"`{name}`" not in text] == []


@pytest.mark.parametrize(
    "words",
    [
        ("fit", "deepseek-ai/DeepSeek-V3", "--on", "4xMI300X", "--offload-gib", "60"),
        ("fit", "Qwen/Qwen3-8B", "--on", "3xH100", "--tp", "3"),
        ("cards", "Qwen/Qwen3-8B"),
        ("catalog", "show", "Qwen/Qwen3-8B"),
        ("catalog", "list", "models", "qwen3-8b"),
    ],
    ids=" ".join,
)
def test_every_key_of_an_answer_is_described(words: tuple[str, ...], root: Path) -> None:
    assert undescribed(answer(*words), page(root, "docs/json.md")) == []


def test_every_key_of_a_receipt_is_described(root: Path, tmp_path: Path) -> None:
    (tmp_path / "log").write_text("INFO Model loading took 14.9889 GiB and 3.6 seconds\n")
    (tmp_path / "q.toml").write_text('model = "meta-llama/Llama-3.1-8B"\ngpu = "H100"\n')
    found = answer("receipt", str(tmp_path / "log"), "--against", str(tmp_path / "q.toml"))
    assert undescribed(found, page(root, "docs/json.md")) == []


def test_every_file_is_in_the_list_of_rooms(root: Path) -> None:
    text = page(root, "docs/rooms.md")
    missing = []
    for path in sorted(PACKAGE.rglob("*.py")):
        folder = str(path.parent.relative_to(PACKAGE))
        section = text.partition("### the leaves\n" if folder == "." else f"### `{folder}`\n")[2].partition("\n###")[0]
        if path.name != "__init__.py" and f"| `{path.name}` |" not in section:
            missing.append(f"{folder}/{path.name}")
    assert not missing, f"python -m validation.write_rooms: {missing}"


@pytest.mark.parametrize(("file", "name"), list(switches()))
def test_every_switch_between_versions_is_listed(file: str, name: str, root: Path) -> None:
    lines = page(root, "docs/rules.md").splitlines()
    assert any(f"`{file}`" in line and f"`{name}`" in line for line in lines)


@pytest.mark.parametrize("name", PAGES)
def test_no_page_speaks_of_one_machine(name: str, root: Path) -> None:
    assert re.findall(r"/(?:home|root|tmp|work|Users)/\S*", page(root, name)) == []


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name: str, root: Path) -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#]+)\)", page(root, name))
    assert [target for target in targets if not (root / name).parent.joinpath(target).exists()] == []
