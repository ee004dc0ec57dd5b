"""Cases from published reports on moving very large models between vendors, with their arithmetic done exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tonnage.units import GIB

Ask = Callable[..., dict[str, Any]]
LARGE = "meta-llama/Meta-Llama-3.1-405B"
LARGE_FP8 = "meta-llama/Llama-3.1-405B-FP8"
K3 = "moonshotai/Kimi-K3"
CONTEXT = 131_072

# 405,853,388,800 parameters in two bytes; per token 126 layers x 2 x 8 heads x 128 x 2 bytes.
LARGE_BYTES = 811_706_777_600
TOKEN = 516_096


# Case 1: Llama 3.1 405B in 16 bit.


def test_405b_weighs_811_7_gb(ask: Ask) -> None:
    answer = ask(LARGE, "8xMI300X", tp=8)
    assert answer["model"]["parameters"]["total"] * 2 == answer["model"]["stored_bytes"] == LARGE_BYTES
    # 94.50 GiB a rank at TP8, and rotary tables and norms that every rank keeps whole
    assert pytest.approx(94.50, abs=0.005) == LARGE_BYTES / 8 / GIB
    assert answer["weights_bytes_per_rank"] == pytest.approx(LARGE_BYTES / 8, rel=0.001)


def test_405b_is_refused_on_eight_h100_with_the_reason(ask: Ask) -> None:
    answer = ask(LARGE, "8xH100", tp=8)
    assert (answer["fits"], answer["verdict"]) == (False, "weights-exceed-card")
    assert "94.5 GiB" in answer["reason"]
    assert "79.2 GiB" in answer["reason"]
    assert [remedy["fits"] for remedy in answer["remedies"]] == [True] * len(answer["remedies"])
    changes = [remedy["change"] for remedy in answer["remedies"]]
    assert any(change.get("gpu_count") == 16 for change in changes)
    assert any(change.get("gpu") == "MI300X" for change in changes)


def test_two_nodes_of_h100_hold_twice_the_context_in_stages(ask: Ask) -> None:
    wide = ask(LARGE, "2x8xH100", tp=16, max_model_len=CONTEXT)
    stages = ask(LARGE, "2x8xH100", tp=8, pp=2, max_model_len=CONTEXT)
    # TP16 copies the 8 heads twice: 126 x 2 x 1 x 128 x 2; a stage has 63 layers.
    assert wide["kv_bytes_per_token_per_rank"] == 64_512
    assert stages["kv_bytes_per_token_per_rank"] == 32_256
    # 7.875 and 3.9375 GiB a rank for one request of 131,072 tokens
    assert wide["kv_needed_bytes"] == 64_512 * CONTEXT
    assert stages["kv_needed_bytes"] == 32_256 * CONTEXT
    assert (wide["fits"], stages["fits"]) == (True, True)
    assert wide["max_concurrency_x"] == pytest.approx(2, abs=0.5)
    assert 1.8 < stages["max_concurrency_x"] / wide["max_concurrency_x"] < 2.4


def test_two_nodes_without_a_layout_get_stages_between_them(ask: Ask) -> None:
    answer = ask(LARGE, "2x8xH100")
    assert (answer["layout"]["tp"], answer["layout"]["pp"]) == (8, 2)


def test_eight_mi300x_hold_405b_with_room_stated_for_every_rank(ask: Ask) -> None:
    answer = ask(LARGE, "8xMI300X", max_model_len=CONTEXT)
    assert answer["fits"] is True
    assert len(answer["ranks"]) == 8
    assert all(rank["free_bytes"] > 0 for rank in answer["ranks"])
    # 191.98 GiB - 94.5 of weights - overheads leave about 9 requests of 7.875 GiB
    assert answer["max_concurrency_x"] == pytest.approx(9, abs=1)


# Case 2: the same in FP8.


@pytest.mark.parametrize(("card", "least"), [("H100", 8), ("H200", 4), ("MI300X", 4), ("MI355X", 2), ("B200", 4)])
def test_fewest_cards_that_share_every_layer(ask: Ask, card: str, least: int) -> None:
    # 410.1 GB in one byte a weight with embedding and head in two: 95.5 GiB a card on 4, 191 on 2.
    counts = [
        n for n in (1, 2, 4, 8) if ask(LARGE, f"{n}x{card}", tp=n, quantization="fp8", max_model_len=8192)["fits"]
    ]
    assert counts[0] == least


def test_three_cards_are_refused_for_tensor_parallelism_and_four_accepted(ask: Ask) -> None:
    three = ask(LARGE, "3xMI300X", tp=3, quantization="fp8")
    assert (three["fits"], three["verdict"]) == (False, "layout-invalid")
    assert "128" in three["reason"]  # heads, which 3 does not divide
    assert ask(LARGE, "4xMI300X", tp=4, quantization="fp8")["fits"] is True


def test_three_cards_work_in_stages(ask: Ask) -> None:
    answer = ask(LARGE, "3xMI300X", quantization="fp8")
    assert answer["fits"] is True
    assert (answer["layout"]["tp"], answer["layout"]["pp"]) == (1, 3)


def test_a_uniform_fp8_build_is_not_the_publishers(ask: Ask) -> None:
    uniform = ask(LARGE, "8xH100", tp=8, quantization="fp8")
    mixed = ask(LARGE_FP8, "8xH100", tp=8)
    # Embedding and head: 2 x 128,256 x 16,384 x 2 bytes, all else one byte and its scales.
    outer = 2 * 128_256 * 16_384
    assert uniform["model"]["stored_bytes"] == pytest.approx(405_853_388_800 + outer, rel=0.001)
    # 16-bit attention of 126 layers: (2 x 16,384 x 16,384 + 2 x 1024 x 16,384) more bytes each, and the two layers
    # at the ends whole: 3 x 53,248 x 16,384 more each.
    attention = 126 * (2 * 16_384**2 + 2 * 1024 * 16_384)
    ends = 2 * 3 * 53_248 * 16_384
    difference = mixed["model"]["stored_bytes"] - uniform["model"]["stored_bytes"]
    assert difference == pytest.approx(attention + ends, rel=0.01)
    # 47.7 against 56.77 GiB a rank, the latter in the log of a start on 8 x H100
    assert uniform["weights_bytes_per_rank"] / GIB == pytest.approx(47.8, abs=0.1)
    assert mixed["weights_bytes_per_rank"] / GIB == pytest.approx(56.7677, rel=0.005)


def test_room_for_about_one_long_request_with_the_publishers_fp8(ask: Ask) -> None:
    answer = ask(LARGE_FP8, "8xH100", tp=8, max_model_len=CONTEXT)
    assert answer["max_concurrency_x"] == pytest.approx(1, abs=0.3)


# Case 3: Kimi K3.


def test_k3_has_2_78_trillion_parameters_in_1_56_tb(ask: Ask) -> None:
    model = ask(K3, "8xMI355X", tp=8)["model"]
    assert model["parameters"]["total"] == pytest.approx(2.78e12, rel=0.001)
    assert model["parameters"]["active"] == pytest.approx(104e9, rel=0.01)
    assert model["stored_bytes"] == pytest.approx(1.56e12, rel=0.002)


def test_k3_needs_about_195_gb_a_card_over_eight(ask: Ask) -> None:
    answer = ask(K3, "8xMI355X", tp=8)
    # 1,560.9 GB / 8 = 195.1 GB, and what every rank keeps whole
    assert answer["weights_bytes_per_rank"] / 1e9 == pytest.approx(200, abs=8)


def test_k3_fits_eight_mi355x_not_eight_b200_but_sixteen(ask: Ask) -> None:
    assert ask(K3, "8xMI355X")["fits"] is True
    eight = ask(K3, "8xB200")
    assert (eight["fits"], eight["verdict"]) == (False, "weights-exceed-card")
    assert ask(K3, "2x8xB200")["fits"] is True


@pytest.mark.parametrize(
    ("precision", "terabytes"),
    # 2.78 trillion weights in one byte and in two; embedding and head stay in two
    [("fp8", 2.79), ("bf16", 5.56)],
)
def test_k3_in_other_precisions(ask: Ask, precision: str, terabytes: float) -> None:
    answer = ask(K3, "8xMI355X", quantization=precision)
    assert answer["model"]["stored_bytes"] / 1e12 == pytest.approx(terabytes, rel=0.005)
    # Over eight cards: 349 and 695 GB, above the 309 GB of one
    assert (answer["fits"], answer["verdict"]) == (False, "weights-exceed-card")


def test_k3_in_fp8_needs_two_nodes(ask: Ask) -> None:
    assert ask(K3, "2x8xMI355X", quantization="fp8")["fits"] is True


# Case 4: weights in host memory.


def test_offloaded_weights_leave_the_card(ask: Ask) -> None:
    whole = ask(LARGE, "8xH100", tp=8, max_model_len=8192)
    offloaded = ask(LARGE, "8xH100", tp=8, max_model_len=8192, cpu_offload_gb=40)
    assert whole["fits"] is False
    assert whole["weights_bytes_per_rank"] - offloaded["weights_bytes_per_rank"] == 40 * GIB
    # 94.5 - 40 = 54.5 GiB a card, and 40 GiB for each card in the host: 320 GiB
    assert offloaded["fits"] is True
    assert [rank["host_bytes"] for rank in offloaded["ranks"]] == [40 * GIB] * 8


# Case 6: the cache.


@pytest.mark.parametrize(
    ("model", "tp", "token"),
    [
        (LARGE, 8, 126 * 2 * 1 * 128 * 2),  # grouped heads
        ("deepseek-ai/DeepSeek-V3", 8, 61 * (512 + 64) * 2),  # latent
        (K3, 8, 24 * (512 + 64) * 2),  # 24 latent layers of 93, the others keep a state
        ("openai/gpt-oss-120b", 1, 18 * 2 * 8 * 64 * 2),  # 18 full layers of 36
        ("Qwen/Qwen3-235B-A22B-FP8", 4, 94 * 2 * 1 * 128 * 2),
        ("Qwen/Qwen3-Next-80B-A3B-Thinking", 2, 12 * 2 * 1 * 256 * 2),  # 12 full layers of 48
    ],
)
def test_bytes_a_token(ask: Ask, model: str, tp: int, token: int) -> None:
    assert ask(model, f"{tp}xMI355X", tp=tp)["kv_bytes_per_token_per_rank"] == token


def test_32k_times_concurrency_is_hundreds_of_gb(ask: Ask) -> None:
    # 16 GiB a request over all ranks: 32,768 x 516,096 bytes; 30 requests are 507 GB.
    answer = ask(LARGE, "8xMI300X", tp=8, max_model_len=32_768)
    assert answer["kv_needed_bytes"] * 8 == 32_768 * TOKEN
    assert pytest.approx(507, abs=1) == 30 * 32_768 * TOKEN / 1e9


def test_the_concurrency_at_which_it_stops(ask: Ask) -> None:
    most = int(ask(LARGE, "8xMI300X", tp=8, max_model_len=32_768)["max_concurrency_x"])
    enough = ask(LARGE, "8xMI300X", tp=8, max_model_len=32_768, concurrency=most)
    beyond = ask(LARGE, "8xMI300X", tp=8, max_model_len=32_768, concurrency=most + 1)
    assert enough["fits"] is True
    assert (beyond["fits"], beyond["verdict"]) == (False, "kv-too-small")
    assert f"{most + 1} were asked for" in beyond["reason"]


def test_latent_models_by_count_of_long_requests(ask: Ask) -> None:
    # 8.578 GiB a request on each rank: about 5 on 8 x H200, 10 on 8 x MI300X, 15 of Kimi K2 on 8 x MI355X
    for model, fleet, requests in (
        ("deepseek-ai/DeepSeek-V3", "8xH200", 5),
        ("deepseek-ai/DeepSeek-V3", "8xMI300X", 10),
        ("moonshotai/Kimi-K2-Instruct", "8xMI355X", 15),
    ):
        answer = ask(model, fleet, tp=8, max_model_len=CONTEXT)
        assert answer["kv_needed_bytes"] == 9_210_691_584, model
        assert answer["max_concurrency_x"] == pytest.approx(requests, rel=0.1), (model, fleet)


def test_prefill_in_chunks_keeps_activations_small(ask: Ask) -> None:
    lines = ask("deepseek-ai/DeepSeek-V3", "8xH200", tp=8, max_model_len=CONTEXT)["ranks"][0]["lines"]
    assert sum(line["bytes"] for line in lines if line["name"] == "activations") < 10 * GIB
