"""E9: the text part of a model that sees pictures lies one level deeper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Ask = Callable[..., dict[str, Any]]
Config = Callable[..., str]

TEXT = {
    "model_type": "gemma3_text",
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 12,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 128,
    "vocab_size": 32000,
    "sliding_window": 512,
    "sliding_window_pattern": 6,
    "max_position_embeddings": 32768,
    "query_pre_attn_scalar": 128,
    "rope_theta": 1000000.0,
    "rope_local_base_freq": 10000.0,
}


def test_heads_of_the_inner_part(ask: Ask, config: Config) -> None:
    names = ("hidden_size", "intermediate_size", "moe_intermediate_size", "num_hidden_layers", "num_attention_heads")
    names += ("num_key_value_heads", "head_dim", "vocab_size", "max_position_embeddings", "num_experts", "rope_theta")
    names += (
        "num_experts_per_tok",
        "decoder_sparse_step",
        "mlp_only_layers",
        "norm_topk_prob",
        "hidden_act",
        "tie_word_embeddings",
    )
    outer: dict[str, Any] = dict.fromkeys(names)
    outer |= {"model_type": "gemma3", "architectures": ["Gemma3ForConditionalGeneration"], "text_config": TEXT}
    answer = ask(config(**outer), "1xH100", tp=1)
    # 2 of 12 layers are full: 2 x 2 x 4 heads x 128 x 2 bytes
    assert answer["kv_bytes_per_token_per_rank"] == 2 * 2 * 4 * 128 * 2 == 4096
    # Per layer: q and o 1024 x 1024 each, k and v 512 x 1024 each, three matrices of 4096 x 1024, six norms; tied head.
    layer = 2 * 1024 * 1024 + 2 * 512 * 1024 + 3 * 4096 * 1024 + 4 * 1024 + 2 * 128
    assert answer["model"]["parameters"]["text"] == 12 * layer + 32000 * 1024 + 1024


def test_gemma_3_27b(ask: Ask) -> None:
    answer = ask("google/gemma-3-27b-it", "1xH200")
    # Published total: 27,432,406,640, of which the picture encoder and its projector are 423,060,336.
    assert answer["model"]["parameters"]["total"] == 27_432_406_640
    assert answer["model"]["parameters"]["text"] == 27_432_406_640 - 423_060_336
