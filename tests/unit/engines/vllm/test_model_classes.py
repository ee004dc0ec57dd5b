"""What single model classes do differently on pipeline stages."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tonnage.engines.vllm.model_classes import (
    EMBEDDING_ON_EVERY_STAGE,
    HEAD_ON_LAST_STAGE,
    embeds_everywhere,
    heads_everywhere,
    media_tokens,
)
from tonnage.model.arch import Arch, Tower

MakeArch = Callable[..., Arch]


@pytest.mark.parametrize(
    ("name", "embeds", "heads"),
    [
        ("LlamaForCausalLM", False, False),
        ("DeepseekV3ForCausalLM", False, False),
        ("KimiK3ForCausalLM", False, False),
        ("Qwen3MoeForCausalLM", True, True),
        ("GptOssForCausalLM", True, True),
        ("MixtralForCausalLM", True, True),
        ("Gemma2ForCausalLM", True, False),
        ("Qwen3_5MoeForCausalLM", True, False),
    ],
)
def test_where_the_tables_stand(name: str, embeds: bool, heads: bool) -> None:
    assert embeds_everywhere((name,)) is embeds
    assert heads_everywhere((name,)) is heads


def test_any_of_several_names_decides() -> None:
    assert embeds_everywhere(("Unknown", "OPTForCausalLM"))
    assert not embeds_everywhere(())


def test_heads_are_a_part_of_the_exceptions() -> None:
    assert HEAD_ON_LAST_STAGE < EMBEDDING_ON_EVERY_STAGE


def test_gemma_4_must_see_a_film_in_one_step(make_arch: MakeArch) -> None:
    name, eyes, ears = ("Gemma4ForConditionalGeneration",), Tower("vision", 1, 8, ()), Tower("audio", 1, 8, ())
    # 32 frames x (70 + 2 + 6) tokens
    assert media_tokens(make_arch(architectures=name, towers=(eyes,))) == 2496
    assert media_tokens(make_arch(architectures=name, towers=(eyes, ears))) is None
    assert media_tokens(make_arch(architectures=name)) is None
    assert media_tokens(make_arch(towers=(eyes,))) is None
