"""E4: latent attention is told by its keys, not by a list of architecture names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Ask = Callable[..., dict[str, Any]]
Config = Callable[..., str]

LATENT = {
    "model_type": "deepseek_v3",
    "architectures": ["DeepseekV3ForCausalLM"],
    "num_experts": None,
    "decoder_sparse_step": None,
    "mlp_only_layers": None,
    "num_key_value_heads": 16,
    "head_dim": None,
    "kv_lora_rank": 256,
    "q_lora_rank": 384,
    "qk_nope_head_dim": 64,
    "qk_rope_head_dim": 32,
    "v_head_dim": 64,
    "n_routed_experts": 8,
    "n_shared_experts": 1,
    "first_k_dense_replace": 1,
    "moe_layer_freq": 1,
    "n_group": 1,
    "topk_group": 1,
    "topk_method": "noaux_tc",
    "scoring_func": "sigmoid",
    "routed_scaling_factor": 2.5,
}


def test_another_name_with_the_same_keys(ask: Ask, config: Config) -> None:
    known = config(**LATENT)
    renamed = config(**{**LATENT, "model_type": "kimi_k2", "architectures": ["SomebodyElsesForCausalLM"]})
    for path in (known, renamed):
        answer = ask(path, "1xH100", tp=1)
        # 4 layers x (256 + 32) x 2 bytes
        assert answer["kv_bytes_per_token_per_rank"] == 4 * 288 * 2 == 2304


def test_published_models_with_other_names(ask: Ask) -> None:
    # Kimi K2 (kimi_k2) and GLM-4.7-Flash (glm4_moe_lite): 47 layers x (512 + 64) x 2 bytes.
    assert ask("moonshotai/Kimi-K2-Instruct", "8xH200", tp=8)["kv_bytes_per_token_per_rank"] == 61 * 576 * 2
    assert ask("zai-org/GLM-4.7-Flash", "1xH200", tp=1)["kv_bytes_per_token_per_rank"] == 47 * 576 * 2
