"""Which room may import which: downwards only, no cycles, no world outside `seams`, no third party at start-up."""

from __future__ import annotations

import sys

import pytest
from source import Source, imports_of, read_sources

# From the top; rooms of one floor are siblings and may not import each other.
FLOORS = (
    ("__main__",),
    ("ui",),
    ("ops", "port"),
    ("plan",),
    ("engines",),
    ("cost",),
    ("memory", "speed"),
    ("layout",),
    ("model", "catalog"),
    ("figure", "seams"),
    ("units", "errors", "value", "kept", "tally", "json_text", "__version__"),
)
FLOOR = {room: number for number, floor in enumerate(FLOORS) for room in floor}
PURE = {"model", "layout", "memory", "speed", "cost", "engines"}
READERS = {"tonnage.model.read", "tonnage.catalog.load"}
WORLD = {
    "asyncio", "ftplib", "glob", "http", "io", "multiprocessing", "os", "pathlib", "requests", "select", "shutil",
    "signal", "socket", "ssl", "subprocess", "sys", "tempfile", "threading", "time", "urllib", "random", "mmap",
}  # fmt: skip
SLOW_TO_IMPORT = {"asyncio", "http", "urllib", "importlib.metadata", "socket", "ssl", "email", "multiprocessing"}
THIRD_PARTY_ROOMS = {"ui", "ops", "port", "seams"}
FACES = {"cli", "tui", "web", "api"}
ENGINES = {"vllm", "sglang", "llamacpp"}

SOURCES = read_sources()


def room_of(module: str) -> str:
    """The room of `tonnage.ROOM.rest`; empty for the package itself."""
    return module.split(".")[1] if "." in module else ""


def part_of(module: str) -> str:
    """The part of a room, `cli` in `tonnage.ui.cli.fit`."""
    parts = module.split(".")
    return parts[2] if len(parts) > 2 else ""


def inner_imports(source: Source) -> list[str]:
    """The modules of this package that `source` imports."""
    return [found.module for found in imports_of(source) if found.module.split(".")[0] == "tonnage"]


def is_outside_world(source: Source, module: str) -> bool:
    """Whether a pure module reaches past its records and strings."""
    if source.name in READERS:
        return False
    top = module.split(".")[0]
    return top in WORLD or module.startswith("tonnage.seams") or module in READERS


def test_every_top_level_name_has_a_place() -> None:
    unknown = {room_of(source.name) for source in SOURCES} - set(FLOOR) - {""}
    assert not unknown, f"give these a floor in FLOORS: {sorted(unknown)}"


def test_imports_point_down() -> None:
    wrong = []
    for source in SOURCES:
        room = room_of(source.name)
        for module in inner_imports(source):
            target = room_of(module)
            if room and target != room and (not target or FLOOR[target] <= FLOOR[room]):
                wrong.append(f"{source.name} imports {module}")
    assert not wrong, "\n".join(wrong)


def test_no_cycles_between_modules() -> None:
    known = {source.name for source in SOURCES}
    graph = {source.name: {m for m in inner_imports(source) if m in known} - {source.name} for source in SOURCES}
    while leaves := [name for name, targets in graph.items() if not targets & graph.keys()]:
        for name in leaves:
            del graph[name]
    assert not graph, f"in or above a cycle: {sorted(graph)}"


@pytest.mark.parametrize(("room", "parts"), [("ui", FACES), ("engines", ENGINES)])
def test_siblings_inside_a_room_do_not_meet(room: str, parts: set[str]) -> None:
    wrong = [
        f"{source.name} imports {module}"
        for source in SOURCES
        if room_of(source.name) == room and part_of(source.name) in parts
        for module in inner_imports(source)
        if room_of(module) == room and part_of(module) in parts - {part_of(source.name)}
    ]
    assert not wrong, "\n".join(wrong)


def test_views_do_not_know_their_faces() -> None:
    wrong = [
        f"{source.name} imports {module}"
        for source in SOURCES
        if source.name.startswith("tonnage.ui.views")
        for module in inner_imports(source)
        if room_of(module) == "ui" and part_of(module) in FACES
    ]
    assert not wrong, "\n".join(wrong)


def test_pure_rooms_touch_no_world() -> None:
    wrong = [
        f"{source.name}:{found.line} imports {found.module}"
        for source in SOURCES
        if room_of(source.name) in PURE
        for found in imports_of(source)
        if is_outside_world(source, found.module)
    ]
    assert not wrong, "\n".join(wrong)


def test_pure_rooms_open_no_files() -> None:
    import ast

    wrong = [
        f"{source.name}:{node.lineno} calls {node.func.id}"
        for source in SOURCES
        if room_of(source.name) in PURE and source.name not in READERS
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"open", "print", "input"}
    ]
    assert not wrong, "\n".join(wrong)


def test_only_plan_and_above_read_models_and_the_catalogue() -> None:
    wrong = [
        f"{source.name} imports {module}"
        for source in SOURCES
        if room_of(source.name) and FLOOR[room_of(source.name)] > FLOOR["plan"]
        for module in inner_imports(source)
        if module in READERS and room_of(module) != room_of(source.name)
    ]
    assert not wrong, "\n".join(wrong)


def test_third_party_packages_only_late_and_only_where_allowed() -> None:
    allowed = sys.stdlib_module_names | {"tonnage"}
    wrong = [
        f"{source.name}:{found.line} imports {found.module}"
        for source in SOURCES
        for found in imports_of(source)
        if found.module.split(".")[0] not in allowed
        if not found.is_late or room_of(source.name) not in THIRD_PARTY_ROOMS
    ]
    assert not wrong, "\n".join(wrong)


def test_nothing_slow_is_imported_at_module_level() -> None:
    wrong = [
        f"{source.name}:{found.line} imports {found.module}"
        for source in SOURCES
        for found in imports_of(source)
        if not found.is_late
        and any(found.module == slow or found.module.startswith(f"{slow}.") for slow in SLOW_TO_IMPORT)
    ]
    assert not wrong, "\n".join(wrong)


def test_no_module_is_a_drawer() -> None:
    drawers = {"utils", "util", "common", "helpers", "helper", "misc"}
    assert not [source.name for source in SOURCES if drawers & set(source.name.split("."))]
