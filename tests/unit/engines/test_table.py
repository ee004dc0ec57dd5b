"""Engines by name."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.catalog.accelerator import Accelerator
from tonnage.engines.table import NAMES, make_engine
from tonnage.errors import UsageError

MakeCard = Callable[..., Accelerator]


@pytest.mark.parametrize("name", ["vllm", "vLLM", " VLLM "])
def test_case_and_spaces_do_not_matter(name: str, make_card: MakeCard) -> None:
    engine = make_engine(name, "0.11.0", make_card())
    assert (engine.name, engine.version) == ("vllm", "0.11.0")


def test_no_version_is_the_newest_known(make_card: MakeCard) -> None:
    assert make_engine("vllm", None, make_card()).version == "0.33.0"


@pytest.mark.parametrize(
    ("spelling", "name"),
    [("sglang", "sglang"), ("SGLang", "sglang"), ("llamacpp", "llamacpp"), ("llama.cpp", "llamacpp")],
)
def test_the_other_engines(spelling: str, name: str, make_card: MakeCard) -> None:
    pytest.importorskip(f"tonnage.engines.{name}.engine")
    assert make_engine(spelling, None, make_card()).name == name


@pytest.mark.parametrize("name", ["", "vlm", "tensorrt-llm", "ollama"])
def test_unknown_engines_list_the_known_ones(name: str, make_card: MakeCard) -> None:
    with pytest.raises(UsageError, match="one of vllm, sglang, llamacpp"):
        make_engine(name, None, make_card())


def test_a_text_that_is_no_version_is_refused(make_card: MakeCard) -> None:
    with pytest.raises(UsageError, match="vLLM version"):
        make_engine("vllm", "newest", make_card())


def test_the_known_names() -> None:
    assert NAMES == ("vllm", "sglang", "llamacpp")
