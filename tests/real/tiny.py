"""Read tiny.toml: configurations small enough to build for real, as the engine's config.json wants them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

Config = dict[str, Any]

SOURCE = Path(__file__).with_name("tiny.toml")


def spread(value: Any) -> Any:
    """Write out a repeated list."""
    if isinstance(value, dict) and "repeat" in value:
        return list(value["repeat"]) * int(value["times"])
    return value


def merge(blocks: dict[str, Config], table: Config) -> Config:
    """Return a table's fields over those of the blocks it starts from."""
    layers = [blocks["base"], *(blocks[name] for name in table.get("with", [])), table]
    merged = {key: spread(value) for layer in layers for key, value in layer.items()}
    dropped = {"with", "without", *merged.get("without", [])}
    return {key: value for key, value in merged.items() if key not in dropped}


def read_tiny() -> dict[str, Config]:
    """Return every configuration by name."""
    tables = tomllib.loads(SOURCE.read_text(encoding="utf-8"))
    blocks = tables.pop("blocks")
    return {name: merge(blocks, table) for name, table in tables.items()}


def write_folders(into: Path) -> dict[str, Path]:
    """Write every configuration as a folder with a config.json and return the folders by name."""
    folders = {}
    for name, config in read_tiny().items():
        folders[name] = into / name
        folders[name].mkdir()
        (folders[name] / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folders
