"""Draft layers and adapter buffers."""

from typing import Any

import pytest

from tonnage.plan.desk import open_desk
from tonnage.plan.evaluate import Evaluation
from tonnage.plan.question import Question


def evaluate(**fields: Any) -> Evaluation:
    """The evaluation of one question whose layout is stated."""
    desk = open_desk(Question.from_record({"gpu": "H200", "tp": 1, **fields}), is_calibrated=False)
    assert desk.layout is not None
    return desk.evaluate(desk.layout)


def line(found: Evaluation, name: str) -> int:
    """Bytes of one line of the last rank."""
    return sum(each.bytes for each in found.ranks[-1].ledger.lines if each.name == name)


def test_adapters_of_an_8b_model() -> None:
    # A layer of Llama 3.1 8B: q and o 4096+4096, k and v 4096+1024, gate, up and down 4096+14336 features:
    # 2 x 8192 + 2 x 5120 + 3 x 18432 = 81,920; 32 layers x 81,920 x rank 16 x 2 B = 83,886,080 B (80 MiB).
    found = evaluate(model="meta-llama/Meta-Llama-3.1-8B", max_loras=1, max_lora_rank=16)
    assert line(found, "other") == 83_886_080
    four = evaluate(model="meta-llama/Meta-Llama-3.1-8B", max_loras=4, max_lora_rank=64)
    assert line(four, "other") == 16 * 83_886_080


def test_the_engine_has_a_default_rank() -> None:
    # vLLM's default is 16.
    assert line(evaluate(model="meta-llama/Meta-Llama-3.1-8B", max_loras=1), "other") == 83_886_080


def test_half_of_each_pair_is_cut() -> None:
    # TP2: q 4096+2048, k and v 4096+512, o 2048+4096, gate and up 4096+7168, down 7168+4096:
    # 2 x 6144 + 2 x 4608 + 3 x 11264 = 55,296; x 32 x 16 x 2 B = 56,623,104 B.
    found = evaluate(model="meta-llama/Meta-Llama-3.1-8B", max_loras=1, tp=2, gpu_count=2)
    assert line(found, "other") == 56_623_104


def test_nothing_is_reserved_unless_asked() -> None:
    found = evaluate(model="meta-llama/Meta-Llama-3.1-8B")
    assert {each.name for each in found.ranks[0].ledger.lines}.isdisjoint({"draft", "other"})


def test_drafting_adds_a_layer_and_its_cache() -> None:
    # DeepSeek V3 caches 61 layers x 576 x 2 B = 70,272 B a token; its draft layer makes them 62: 71,424 B.
    asked = {"model": "deepseek-ai/DeepSeek-V3", "tp": 8, "gpu_count": 8, "max_model_len": 65536}
    plain, drafting = evaluate(**asked), evaluate(**asked, num_speculative_tokens=1)
    assert plain.busiest.pool.token_bytes == 61 * 576 * 2
    assert drafting.busiest.pool.token_bytes == 62 * 576 * 2
    assert line(plain, "draft") == 0
    # One expert layer of 61 holds about 1/58 of the routed experts' 654 GB, an eighth of it on each rank.
    assert line(drafting, "draft") == pytest.approx(654e9 / 58 / 8, rel=0.2)


def test_a_model_without_draft_layers_ignores_drafting() -> None:
    found = evaluate(model="meta-llama/Meta-Llama-3.1-8B", num_speculative_tokens=2)
    assert found.serving.num_spec == 0
    assert line(found, "draft") == 0
