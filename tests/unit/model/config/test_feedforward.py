"""Feed-forward parts read from configuration keys."""

from __future__ import annotations

import pytest

from tonnage.errors import UnknownKeyError, UnreadableError
from tonnage.model.config.feedforward import (
    check_expert_keys,
    is_sparse,
    read_dense,
    read_ffn,
    read_ffns,
    read_moe,
)
from tonnage.model.config.keys import Config
from tonnage.model.ffn.dense import Dense
from tonnage.model.ffn.moe import Moe

BASE: dict[str, object] = {"hidden_size": 4096, "num_hidden_layers": 32, "intermediate_size": 14336}
EXPERTS: dict[str, object] = {**BASE, "num_experts": 64, "num_experts_per_tok": 6, "moe_intermediate_size": 1408}


def config(**keys: object) -> Config:
    return Config({**EXPERTS, **keys})


def sparse_layers(count: int, **keys: object) -> list[int]:
    return [index for index in range(count) if is_sparse(config(**keys), index)]


def test_dense_parts() -> None:
    assert read_ffn(Config(BASE), 0) == Dense(14336)
    assert read_dense(Config({**BASE, "mlp_bias": True})) == Dense(14336, bias=True)
    assert read_dense(Config({**BASE, "mlp_hidden_act": "relu2"})) == Dense(14336, gated=False)


def test_inner_width_of_old_models_is_four_times_hidden() -> None:
    part = read_dense(Config({"model_type": "gpt2", "hidden_size": 768, "n_inner": None}))
    # 4 x 768
    assert part == Dense(3072, gated=False, bias=True)


def test_a_missing_inner_width_is_refused() -> None:
    with pytest.raises(UnknownKeyError, match="intermediate_size"):
        read_dense(Config({"hidden_size": 768}))


def test_dense_layers_beside_experts_have_a_width_of_their_own() -> None:
    assert read_dense(config(dense_intermediate_size=12288)).width == 12288
    assert read_dense(config(intermediate_size_mlp=16384)).width == 16384


def test_layers_that_share_a_cache_are_twice_as_wide() -> None:
    cfg = config(use_double_wide_mlp=True, num_kv_shared_layers=2)
    assert [read_dense(cfg, index).width for index in (29, 30, 31)] == [14336, 28672, 28672]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({}, [0, 1, 2, 3, 4, 5]),
        ({"first_k_dense_replace": 3}, [3, 4, 5]),
        ({"mlp_only_layers": [0, 4]}, [1, 2, 3, 5]),
        ({"decoder_sparse_step": 2}, [1, 3, 5]),
        ({"interleave_moe_layer_step": 3}, [2, 5]),
        ({"moe_layer_freq": 2}, [0, 2, 4]),
        ({"moe_layer_freq": [0, 0, 1, 1]}, [2, 3]),
        ({"mlp_layer_types": ["dense", "sparse", "sparse", "dense"], "moe_layer_freq": 1}, [1, 2, 4, 5]),
        ({"expert_layer_period": 2, "expert_layer_offset": 1}, [1, 3, 5]),
        ({"moe_layers_enum": "1, 4"}, [1, 4]),
        ({"num_experts": 0}, []),
        ({"num_experts": None}, []),
        ({"enable_moe_block": False}, []),
    ],
)
def test_which_layers_hold_experts(keys: dict[str, object], expected: list[int]) -> None:
    assert sparse_layers(6, **keys) == expected


def test_an_unknown_layer_kind_is_refused() -> None:
    with pytest.raises(UnknownKeyError, match="mlp_layer_types"):
        is_sparse(config(mlp_layer_types=["soft"]), 0)


def test_routed_experts() -> None:
    part = read_moe(config())
    assert part == Moe(experts=64, width=1408, top_k=6)


def test_experts_as_wide_as_the_dense_part() -> None:
    # Mixtral has one width key for both.
    part = read_moe(config(moe_intermediate_size=None, model_type="mixtral"))
    assert (part.width, part.name) == (14336, "block_sparse_moe")


@pytest.mark.parametrize(
    ("keys", "width"),
    [
        ({}, 0),
        ({"n_shared_experts": 2}, 2 * 1408),
        ({"num_shared_experts": 1}, 1408),
        ({"n_shared_experts": 0}, 0),
        # Qwen states the width of its one shared expert; Nemotron its width and their number.
        ({"shared_expert_intermediate_size": 5632}, 5632),
        ({"n_shared_experts": 2, "moe_shared_expert_intermediate_size": 5376}, 10752),
        ({"shared_intermediate_size": 0}, 0),
        ({"model_type": "llama4_text"}, 1408),
    ],
)
def test_shared_experts(keys: dict[str, object], width: int) -> None:
    assert read_moe(config(**keys)).shared_width == width


def test_values_listed_by_layer() -> None:
    cfg = config(
        moe_intermediate_size=[1024, 2048], num_shared_expert=[1, 2], moe_topk=[2, 4], num_experts_per_tok=None
    )
    first, second = read_moe(cfg, 0), read_moe(cfg, 1)
    assert (first.width, first.shared_width, first.top_k) == (1024, 1024, 2)
    assert (second.width, second.shared_width, second.top_k) == (2048, 4096, 4)
    with pytest.raises(UnknownKeyError, match="moe_intermediate_size"):
        read_moe(cfg, 2)


@pytest.mark.parametrize(
    ("keys", "has_bias"),
    [
        ({}, False),
        ({"topk_method": "noaux_tc"}, True),
        ({"topk_method": "greedy", "model_type": "deepseek_v3"}, False),
        ({"model_type": "deepseek_v3"}, True),
        ({"use_routing_bias": True}, True),
        ({"use_moe_router_bias": False, "model_type": "glm4_moe"}, False),
    ],
)
def test_correction_bias_of_the_router(keys: dict[str, object], has_bias: bool) -> None:
    assert read_moe(config(**keys)).router_bias is has_bias


def test_router_type() -> None:
    assert read_moe(config()).router_dtype is None
    # vLLM 0.32 leaves this key aside: GLM-5.2's router is kept in bfloat16.
    assert read_moe(config(moe_router_dtype="float32")).router_dtype is None
    assert read_moe(config(model_type="minimax_m2")).router_dtype == "float32"


def test_first_layers_may_route_by_a_table() -> None:
    cfg = config(num_hash_layers=3, vocab_size=129280, topk_method="noaux_tc")
    hashed, routed = read_moe(cfg, 2), read_moe(cfg, 3)
    assert (hashed.hash_rows, hashed.router_bias) == (129280, False)
    assert (routed.hash_rows, routed.router_bias) == (None, True)


def test_latent_experts_and_identity_experts() -> None:
    part = read_moe(config(routed_expert_hidden_size=3584, latent_moe_use_norm=True, zero_expert_num=256))
    assert (part.latent, part.latent_norm, part.identity_experts) == (3584, True, 256)
    assert read_moe(config(moe_latent_size=1024)).latent == 1024


def test_qwen_gates_its_shared_expert() -> None:
    part = read_moe(config(model_type="qwen2_moe", shared_expert_intermediate_size=5632))
    assert (part.shared_gate, part.shared) == (True, "shared_expert")
    # Laguna has the same key and no gate.
    assert not read_moe(config(model_type="laguna", shared_expert_intermediate_size=5632)).shared_gate


def test_dense_part_beside_experts() -> None:
    parts = read_ffns(config(enable_moe_block=True), 0)
    assert parts[0] == Dense(14336)
    assert isinstance(parts[1], Moe)
    assert parts[1].has_extra_scales
    assert read_ffns(Config(BASE), 0) == (Dense(14336),)


@pytest.mark.parametrize(
    "key", ["moe_spiral_experts", "moe_extra_size", "num_experts_of_another_kind", "n_flat_experts", "more_num_experts"]
)
def test_unknown_keys_about_experts_are_refused(key: str) -> None:
    with pytest.raises(UnknownKeyError, match=key):
        check_expert_keys(config(**{key: 8}))
    check_expert_keys(config(**{key: 0}))
    check_expert_keys(config(**{key: None}))


@pytest.mark.parametrize("value", [10**9, -1, "64", 1.5, True])
def test_absurd_numbers_of_experts_are_refused(value: object) -> None:
    with pytest.raises(UnreadableError):
        read_ffn(config(num_experts=value), 0)
