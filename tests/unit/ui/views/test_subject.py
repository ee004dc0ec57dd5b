"""Model, fleet, layout and engine in words."""

from __future__ import annotations

from tonnage.ui.views.subject import card_words, engine_words, fleet_words, layout_words, model_words, setup_words


def test_model_words() -> None:
    assert model_words({"id": "moonshotai/Kimi-K3"}) == "Kimi-K3"
    assert model_words("./folder/") == "folder"
    assert model_words(None) == "the model"


def test_fleet_words() -> None:
    assert fleet_words({"nodes": 1, "count": 8, "name": "MI355X"}) == "8 x MI355X"
    assert fleet_words({"nodes": 2, "count": 8, "accelerator": "h100"}) == "2 x 8 x h100"
    assert fleet_words(None) == "these cards"


def test_layout_words() -> None:
    assert layout_words({"words": "TP8", "tp": 4}) == "TP8"
    assert layout_words({"tp": 8, "pp": 2, "ep": True}) == "TP8 x PP2 x EP"
    assert layout_words({"tp": 1}) == "TP1"
    assert layout_words(None) == ""


def test_engine_and_setup_words() -> None:
    answer = {"engine": "llamacpp", "engine_version": "b9000", "layout": {"tp": 2}}
    assert engine_words(answer) == "llama.cpp b9000"
    assert setup_words(answer) == "TP2, llama.cpp b9000"
    assert setup_words({"engine": "vllm"}) == "vLLM"


def test_brands_that_everyone_leaves_out() -> None:
    assert card_words("Instinct MI355X") == "MI355X"
    assert card_words("GeForce RTX 4090") == "RTX 4090"
    assert card_words("Radeon PRO W7900") == "Radeon PRO W7900"
    assert fleet_words({"count": 8, "name": "Instinct MI355X"}) == "8 x MI355X"


def test_first_releases_are_short() -> None:
    layout = {"words": "TP8"}
    assert setup_words({"layout": layout, "engine": "vllm", "engine_version": "0.33.0"}) == "TP8, vLLM 0.33"
    assert setup_words({"layout": layout, "engine": "vllm", "engine_version": "0.10.2"}) == "TP8, vLLM 0.10.2"
    assert setup_words({"layout": layout, "engine": "vllm", "engine_version": "0.33"}) == "TP8, vLLM 0.33"
