"""Keys of LongCat."""

from __future__ import annotations

from tonnage.model.config.keys import Config
from tonnage.model.config.longcat import longcat_layers
from tonnage.model.ffn.dense import Dense
from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.mla import Mla
from tonnage.model.tensors import layer_tensors

TINY: dict[str, object] = {
    "model_type": "longcat_flash",
    "hidden_size": 32,
    "ffn_hidden_size": 64,
    "expert_ffn_hidden_size": 16,
    "num_layers": 2,
    "num_attention_heads": 2,
    "q_lora_rank": 12,
    "kv_lora_rank": 16,
    "qk_nope_head_dim": 8,
    "qk_rope_head_dim": 4,
    "v_head_dim": 8,
    "n_routed_experts": 4,
    "zero_expert_num": 2,
    "moe_topk": 3,
}


def test_two_attentions_two_dense_parts_and_experts() -> None:
    layers = longcat_layers(Config(TINY))
    assert len(layers) == 2
    assert [mixer.name for mixer in layers[0].mixers] == ["self_attn.0", "self_attn.1"]
    assert all(isinstance(mixer, Mla) for mixer in layers[0].mixers)
    first, second, experts = layers[0].ffns
    assert (first, second) == (Dense(64, name="mlps.0"), Dense(64, name="mlps.1"))
    assert isinstance(experts, Moe)
    assert (experts.experts, experts.identity_experts, experts.top_k, experts.router_dtype) == (4, 2, 3, "float32")


def test_parameters_of_a_layer() -> None:
    # attention: 32 x 12 + 12 + 12 x 2 x 12 + 32 x 20 + 16 + 16 x 2 x 16 + 16 x 32
    # = 384 + 12 + 288 + 640 + 16 + 512 + 512
    attention, dense, experts = 2364, 3 * 32 * 64, 4 * 3 * 32 * 16
    router = 6 * 32 + 6
    total = 2 * attention + 2 * dense + experts + router + 4 * 32
    assert sum(t.params for t in layer_tensors(longcat_layers(Config(TINY))[0], 32)) == total
