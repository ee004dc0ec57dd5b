"""Changes that are offered really help."""

from __future__ import annotations

from typing import Any

import pytest

from tonnage.plan.fit import answer_question
from tonnage.plan.question import Question
from tonnage.value import replace

# Questions answered no in different ways, and some answered yes.
LLAMA, QWEN, DEEPSEEK = "meta-llama/Meta-Llama-3.1-405B", "Qwen/Qwen3-8B", "deepseek-ai/DeepSeek-V3"
NOES = [
    Question(LLAMA, "8xH100"),
    Question(LLAMA, "8xH100", tp=8),
    Question(LLAMA, "H100", gpu_count=8, tp=8),
    Question(LLAMA, "8xH100", tp=16),
    Question(QWEN, "1xRTX4090", max_model_len=131_072),
    Question(QWEN, "8xH100", tp=3),
    Question("Qwen/Qwen3-235B-A22B-FP8", "8xH100", tp=8, engine_version="0.10.0"),
    Question("openai/gpt-oss-120b", "1xH100", engine_version="0.10.2"),
    Question("moonshotai/Kimi-K3", "1xH100"),
    Question("moonshotai/Kimi-K3", "8xH100", dp_attention=True),
    Question("Qwen/Qwen3-30B-A3B", "2xH100", tp=2, dcp=2),
    Question(QWEN, "1xV100", quantization="awq"),
]
YESES = [
    Question(QWEN, "8xH100"),
    Question(QWEN, "2xH100", tp=2),
    Question(QWEN, "1xRTX4090"),
    Question(DEEPSEEK, "8xH200"),
    Question(DEEPSEEK, "8xH200", tp=8, ep=True),
    Question(DEEPSEEK, "8xH200", dp_attention=True),
]


def name_of(question: Question) -> str:
    """The fields that are not at their defaults."""
    fields = ("gpu", "gpu_count", "tp", "dcp", "ep", "dp_attention", "max_model_len")
    stated = [f"{name}={getattr(question, name)}" for name in fields if getattr(question, name)]
    return " ".join([question.model.split("/")[1], *stated])


def worth(answer: dict[str, Any]) -> tuple[int, float]:
    """The longest request and how many of them."""
    return answer["serving"]["max_model_len"], answer["concurrency_all_replicas"]


@pytest.mark.parametrize("question", [*NOES, *YESES], ids=name_of)
def test_every_remedy_holds_when_asked_again(question: Question) -> None:
    for remedy in answer_question(question)["remedies"]:
        again = answer_question(replace(question, **remedy["change"]), with_remedies=False)
        assert remedy["fits"]
        assert again["fits"], remedy
        assert again["layout"]["words"] == remedy["effect"].partition(":")[0]
        assert f"{again['serving']['max_model_len']:,} tokens" in remedy["effect"]


@pytest.mark.parametrize("question", NOES, ids=name_of)
def test_a_no_has_a_way_out(question: Question) -> None:
    answer = answer_question(question)
    assert not answer["fits"]
    assert 1 <= len(answer["remedies"]) <= 4


@pytest.mark.parametrize("question", YESES, ids=name_of)
def test_a_yes_is_only_offered_more(question: Question) -> None:
    answer = answer_question(question)
    assert answer["fits"]
    for remedy in answer["remedies"]:
        assert worth(answer_question(replace(question, **remedy["change"]), with_remedies=False)) > worth(answer)


def changes(question: Question) -> list[dict[str, Any]]:
    """The changes that are offered."""
    return [remedy["change"] for remedy in answer_question(question)["remedies"]]


def test_a_shorter_context() -> None:
    found = changes(Question(QWEN, "1xRTX4090", max_model_len=131_072))
    assert 8192 <= found[0]["max_model_len"] < 40_960


def test_weights_that_are_too_heavy_need_other_cards_or_fewer_bits() -> None:
    found = changes(Question(LLAMA, "8xH100", tp=8))
    # Nothing about contexts and caches; the stated layout is stated anew for other cards.
    assert found[0] == {
        "gpu": "H100 SXM5 80GB", "gpu_count": 16, "nodes": 2, "tp": 8, "pp": 2, "dp": 1, "ep": False,
    }  # fmt: skip
    assert {"quantization": "fp8"} in found
    assert not any("max_model_len" in change or "kv_cache_dtype" in change for change in found)


def test_an_open_layout_stays_open() -> None:
    assert {"gpu": "H100 SXM5 80GB", "gpu_count": 16, "nodes": 2} in changes(Question(LLAMA, "8xH100"))


def test_cards_are_added_inside_the_node_first() -> None:
    found = changes(Question(QWEN, "1xRTX4090", max_model_len=131_072))
    assert {"gpu": "GeForce RTX 4090", "gpu_count": 2, "nodes": 1} in found


def test_as_many_as_the_weights_need() -> None:
    # 1,454 GiB over cards of 79.2: 16 hold 1,267 and 32 hold 2,534; four nodes of eight.
    assert {"gpu": "H100 SXM5 80GB", "gpu_count": 32, "nodes": 4} in changes(Question("moonshotai/Kimi-K3", "1xH100"))


def test_fewer_requests_where_their_logits_fill_the_card() -> None:
    # 1,024 x 201,088 logits of 38.5 B are 7.4 GiB, an eighth of them 0.9.
    found = changes(Question("openai/gpt-oss-120b", "1xH100", engine_version="0.10.2"))
    assert found[0] == {"max_num_seqs": 128}


def test_a_layout_the_engine_takes() -> None:
    found = changes(Question("Qwen/Qwen3-235B-A22B-FP8", "8xH100", tp=8, engine_version="0.10.0"))
    assert {"tp": 8, "pp": 1, "dp": 1, "ep": True} in found


def test_layouts_take_back_what_contradicts_them() -> None:
    found = changes(Question("Qwen/Qwen3-30B-A3B", "2xH100", tp=2, dcp=2))
    assert {"tp": 2, "pp": 1, "dp": 1, "ep": False, "dcp": 1} in found
    assert all(change["dcp"] == 1 for change in found if "tp" in change)


def test_copies_of_a_latent_cache_are_avoided() -> None:
    assert {"dp_attention": True} in changes(Question(DEEPSEEK, "8xH200"))
    assert {"dp_attention": True} not in changes(Question(DEEPSEEK, "8xH200", dp_attention=True))
    assert {"dp_attention": True} not in changes(Question(QWEN, "8xH100"))


def test_a_cache_in_eight_bits_is_offered_once() -> None:
    assert {"kv_cache_dtype": "fp8"} in changes(Question(QWEN, "1xH100"))
    assert {"kv_cache_dtype": "fp8"} not in changes(Question(QWEN, "1xH100", kv_cache_dtype="fp8"))


def test_nothing_helps_where_nothing_is_large_enough() -> None:
    answer = answer_question(Question(QWEN, "1xH100", concurrency=10**9))
    assert (answer["fits"], answer["remedies"]) == (False, [])
