"""What an answer is about, in words: model, fleet, layout, engine."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

BRANDS = ("Instinct ", "GeForce ")
ENGINE_NAMES = {"vllm": "vLLM", "sglang": "SGLang", "llamacpp": "llama.cpp"}


def model_words(model: Any) -> str:
    """The last part of a model's id: `Kimi-K3`."""
    name = (model.get("name") or model.get("id")) if isinstance(model, dict) else model
    return str(name or "the model").rstrip("/").rsplit("/", 1)[-1]


def fleet_words(fleet: Mapping[str, Any] | None) -> str:
    """A fleet: `2 x 8 x H100`, `8 x MI355X`, `1 x RTX 4090`."""
    if not fleet:
        return "these cards"
    nodes, count = fleet.get("nodes") or 1, fleet.get("count") or 1
    name = card_words(str(fleet.get("name") or fleet.get("accelerator")))
    return f"{nodes} x {count} x {name}" if nodes > 1 else f"{count} x {name}"


def card_words(name: str) -> str:
    """A card's name without the brand that everyone leaves out: `MI355X`, `RTX 4090`."""
    brand = next((brand for brand in BRANDS if name.startswith(brand)), "")
    return name.removeprefix(brand)


def engine_words(answer: Mapping[str, Any]) -> str:
    """Engine and version: `vLLM 0.33`."""
    engine = str(answer.get("engine") or "")
    return f"{ENGINE_NAMES.get(engine, engine)} {answer.get('engine_version') or ''}".strip()


def layout_words(layout: Mapping[str, Any] | None) -> str:
    """A layout: `TP8 x PP2`; its own words where it brings them, empty where there is none."""
    if not layout:
        return ""
    if layout.get("words"):
        return str(layout["words"])
    sizes = [f"{name.upper()}{layout[name]}" for name in ("tp", "pp", "dp", "dcp") if (layout.get(name) or 1) > 1]
    return " x ".join([*(sizes or ["TP1"]), *(["EP"] if layout.get("ep") else [])])


def setup_words(answer: Mapping[str, Any]) -> str:
    """Layout and engine: `TP8, vLLM 0.33`; a first release goes without its last nought."""
    engine = engine_words(answer)
    first = engine.removesuffix(".0") if engine.count(".") > 1 else engine
    return ", ".join(part for part in (layout_words(answer.get("layout")), first) if part)
