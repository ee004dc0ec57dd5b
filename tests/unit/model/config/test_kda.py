"""Keys of models that alternate Kimi delta attention and latent attention."""

from __future__ import annotations

from typing import Any

import pytest

from tonnage.errors import UnknownKeyError
from tonnage.model.config.kda import kda_layers, kda_outer
from tonnage.model.config.keys import Config
from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.kda import Kda
from tonnage.model.mixer.mla import Mla

LINEAR: dict[str, Any] = {
    "kda_layers": [1, 2, 4],
    "full_attn_layers": [3],
    "num_heads": 2,
    "head_dim": 8,
    "short_conv_kernel_size": 4,
    "use_full_rank_gate": True,
}
TINY: dict[str, Any] = {
    "model_type": "kimi_linear",
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 4,
    "num_attention_heads": 2,
    "q_lora_rank": None,
    "kv_lora_rank": 16,
    "qk_nope_head_dim": 8,
    "qk_rope_head_dim": 4,
    "v_head_dim": 8,
    "mla_use_output_gate": True,
    "first_k_dense_replace": 1,
    "num_experts": 4,
    "num_experts_per_token": 2,
    "num_shared_experts": 1,
    "moe_intermediate_size": 16,
    "routed_expert_hidden_size": 24,
    "latent_moe_use_norm": True,
    "attn_res_block_size": 2,
    "linear_attn_config": LINEAR,
}


def test_layers_are_counted_from_one() -> None:
    layers = kda_layers(Config(TINY))
    assert [type(layer.mixers[0]) for layer in layers] == [Kda, Kda, Mla, Kda]
    assert layers[0].mixers[0] == Kda(2, 8, 4, full_rank_gate=True)
    full = layers[2].mixers[0]
    assert isinstance(full, Mla)
    assert full.out_gate


def test_experts_work_in_a_latent_that_stays_in_16_bits() -> None:
    part = kda_layers(Config(TINY))[1].ffns[0]
    assert isinstance(part, Moe)
    assert (part.latent, part.latent_norm, part.latent_plain, part.router_bias) == (24, True, True, True)


def test_readers_of_residuals() -> None:
    extras = kda_layers(Config(TINY))[0].extras
    # two norms, and a norm and a vector of 32 before each part
    assert sum(tensor.params for tensor in extras) == 2 * 32 + 2 * (32 + 32)
    assert [tensor.name for tensor in kda_outer(Config(TINY), "model.")] == [
        "model.output_attn_res_norm",
        "model.output_attn_res_proj",
    ]
    without = Config({**TINY, "attn_res_block_size": None})
    assert kda_outer(without, "model.") == ()
    assert sum(tensor.params for tensor in kda_layers(without)[0].extras) == 2 * 32


@pytest.mark.parametrize("changed", [{"kda_layers": [1, 2]}, {"full_attn_layers": [3, 4]}])
def test_each_layer_must_be_in_one_list(changed: dict[str, object]) -> None:
    with pytest.raises(UnknownKeyError, match=r"linear_attn_config.kda_layers: 'layer 4'"):
        kda_layers(Config({**TINY, "linear_attn_config": {**LINEAR, **changed}}))
