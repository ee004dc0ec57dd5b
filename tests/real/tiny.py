"""Configurations small enough to build for real in a second, one for every attention kind.

Sizes are chosen so that no two quantities coincide by accident (heads, experts, layers and windows all
differ) and so that the CPU's kernels accept them (head sizes 64 and 128, hidden a multiple of 32).
"""

from typing import Any

Config = dict[str, Any]

VOCAB = 1000  # not a multiple of 64, so that the padding of the vocabulary shows
CONTEXT = 4096

BASE: Config = {
    "vocab_size": VOCAB,
    "hidden_size": 512,
    "intermediate_size": 768,
    "num_hidden_layers": 5,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "head_dim": 64,
    "max_position_embeddings": CONTEXT,
    "rms_norm_eps": 1e-6,
    "rope_theta": 10000.0,
    "hidden_act": "silu",
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
    "bos_token_id": 1,
    "eos_token_id": 2,
}


def config(architecture: str, model_type: str, **fields: Any) -> Config:
    """Return the base configuration under a class name, with some fields replaced or added."""
    return {"architectures": [architecture], "model_type": model_type, **BASE, **fields}


def alternate(layers: int, period: int, often: str, seldom: str) -> list[str]:
    """Return layer kinds in which every `period`-th is the seldom one."""
    return [seldom if (i + 1) % period == 0 else often for i in range(layers)]


MOE: Config = {"num_experts": 12, "num_experts_per_tok": 3, "moe_intermediate_size": 192, "norm_topk_prob": True}
MLA: Config = {
    "num_key_value_heads": 8, "q_lora_rank": 192, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64, "v_head_dim": 128, "head_dim": None,
}
DEEPSEEK_MOE: Config = {
    "n_routed_experts": 12, "n_shared_experts": 1, "num_experts_per_tok": 3, "moe_intermediate_size": 192,
    "first_k_dense_replace": 1, "moe_layer_freq": 1, "n_group": 1, "topk_group": 1, "norm_topk_prob": True,
    "routed_scaling_factor": 1.0, "scoring_func": "sigmoid", "topk_method": "noaux_tc",
}
LINEAR: Config = {
    "linear_num_key_heads": 4, "linear_num_value_heads": 8, "linear_key_head_dim": 128, "linear_value_head_dim": 128,
    "linear_conv_kernel_dim": 4, "full_attention_interval": 4, "partial_rotary_factor": 0.25,
}

TINY: dict[str, Config] = {
    "gqa": config("LlamaForCausalLM", "llama"),
    "mqa": config("LlamaForCausalLM", "llama", num_key_value_heads=1, tie_word_embeddings=True),
    "bias": config("Qwen2ForCausalLM", "qwen2", num_key_value_heads=4),
    "sliding": config("MistralForCausalLM", "mistral", sliding_window=512),
    "gemma2": config("Gemma2ForCausalLM", "gemma2", num_hidden_layers=6, sliding_window=512, head_dim=128,
                     num_key_value_heads=4, hidden_activation="gelu_pytorch_tanh", query_pre_attn_scalar=128,
                     attn_logit_softcapping=50.0, final_logit_softcapping=30.0, tie_word_embeddings=True,
                     layer_types=alternate(6, 2, "sliding_attention", "full_attention")),
    "gemma3": config("Gemma3ForCausalLM", "gemma3_text", num_hidden_layers=8, sliding_window=512, head_dim=128,
                     num_key_value_heads=1, hidden_activation="gelu_pytorch_tanh", query_pre_attn_scalar=128,
                     rope_local_base_freq=10000.0, tie_word_embeddings=True,
                     layer_types=alternate(8, 6, "sliding_attention", "full_attention")),
    "gpt_oss": config("GptOssForCausalLM", "gpt_oss", num_hidden_layers=6, sliding_window=128, num_local_experts=12,
                      num_experts_per_tok=3, attention_bias=True, swiglu_limit=7.0,
                      rope_scaling={"rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0,
                                    "truncate": False, "original_max_position_embeddings": CONTEXT},
                      layer_types=alternate(6, 2, "sliding_attention", "full_attention")),
    "chunked": config("Llama4ForCausalLM", "llama4_text", num_hidden_layers=8, attention_chunk_size=1024,
                      intermediate_size=192, intermediate_size_mlp=768, num_local_experts=12, num_experts_per_tok=1,
                      interleave_moe_layer_step=2, use_qk_norm=True, attn_temperature_tuning=False,
                      no_rope_layers=[1, 1, 1, 0, 1, 1, 1, 0],
                      layer_types=alternate(8, 4, "chunked_attention", "full_attention")),
    "qwen3_moe": config("Qwen3MoeForCausalLM", "qwen3_moe", **MOE, decoder_sparse_step=1, mlp_only_layers=[]),
    "mixtral": config("MixtralForCausalLM", "mixtral", num_local_experts=6, num_experts_per_tok=2),
    "minimax_m2": config("MiniMaxM2ForCausalLM", "minimax_m2", num_local_experts=12, num_experts_per_tok=3,
                         intermediate_size=192, rotary_dim=32, use_qk_norm=True, qk_norm_type="per_layer",
                         scoring_func="sigmoid", use_routing_bias=True, mlp_intermediate_size=768,
                         shared_intermediate_size=0, num_mtp_modules=0),
    "glm4_moe": config("Glm4MoeForCausalLM", "glm4_moe", **DEEPSEEK_MOE, partial_rotary_factor=0.5, use_qk_norm=True,
                       attention_bias=True),
    "mla": config("DeepseekV2ForCausalLM", "deepseek_v2", **MLA, **{**DEEPSEEK_MOE, "topk_method": "greedy",
                                                                    "scoring_func": "softmax"}),
    "mla_v3": config("DeepseekV3ForCausalLM", "deepseek_v3", **MLA, **DEEPSEEK_MOE),
    "dsa": config("DeepseekV32ForCausalLM", "deepseek_v32", **MLA, **DEEPSEEK_MOE, index_n_heads=8,
                  index_head_dim=128, index_topk=64),
    "compressed": config("DeepseekV4ForCausalLM", "deepseek_v4", num_hidden_layers=6, num_key_value_heads=1,
                         head_dim=512, q_lora_rank=192, o_lora_rank=128, o_groups=4, qk_rope_head_dim=64,
                         n_routed_experts=12, n_shared_experts=1, num_experts_per_tok=3, moe_intermediate_size=256,
                         index_head_dim=128, index_n_heads=8, index_topk=64, sliding_window=128, num_hash_layers=1,
                         hc_mult=4, hc_sinkhorn_iters=20, hc_eps=1e-6, compress_rope_theta=160000,
                         compress_ratios=[0, 0, 4, 128, 4, 128], scoring_func="sqrtsoftplus", topk_method="noaux_tc",
                         norm_topk_prob=True, routed_scaling_factor=1.5, swiglu_limit=10.0, expert_dtype="fp8",
                         rope_scaling={"type": "yarn", "factor": 16, "beta_fast": 32, "beta_slow": 1,
                                       "original_max_position_embeddings": 65536},
                         quantization_config={"quant_method": "fp8", "activation_scheme": "dynamic", "fmt": "e4m3",
                                              "scale_fmt": "ue8m0", "weight_block_size": [128, 128]}),
    "mamba1": config("JambaForCausalLM", "jamba", num_hidden_layers=8, attn_layer_offset=3, attn_layer_period=4,
                     expert_layer_offset=1, expert_layer_period=2, num_experts=4, num_experts_per_tok=2,
                     mamba_d_conv=4, mamba_d_state=16, mamba_dt_rank=32, mamba_expand=2, mamba_conv_bias=True,
                     mamba_proj_bias=False, use_mamba_kernels=False),
    "mamba2": config("NemotronHForCausalLM", "nemotron_h", num_hidden_layers=8, hybrid_override_pattern="M-M*M-M-",
                     mamba_num_heads=16, mamba_head_dim=64, ssm_state_size=128, n_groups=8, conv_kernel=4,
                     chunk_size=128, expand=2, use_conv_bias=True, mamba_proj_bias=False, mlp_hidden_act="relu2",
                     mamba_hidden_act="silu", attention_head_dim=64, mlp_bias=False, use_bias=False,
                     layer_norm_epsilon=1e-5, residual_in_fp32=False, mamba_ssm_cache_dtype="float32"),
    "mamba2_pure": config("Mamba2ForCausalLM", "mamba2", num_heads=16, head_dim=64, state_size=128, n_groups=1,
                          conv_kernel=4, chunk_size=128, expand=2, use_bias=False, use_conv_bias=True,
                          layer_norm_epsilon=1e-5, residual_in_fp32=False, rms_norm=True),
    "gated_delta": config("Qwen3NextForCausalLM", "qwen3_next", num_hidden_layers=8, **LINEAR, **MOE,
                          shared_expert_intermediate_size=192, decoder_sparse_step=1, mlp_only_layers=[],
                          layer_types=alternate(8, 4, "linear_attention", "full_attention")),
    "gated_delta_dense": config("Qwen3_5ForCausalLM", "qwen3_5_text", num_hidden_layers=8, **LINEAR,
                                layer_types=alternate(8, 4, "linear_attention", "full_attention"),
                                mamba_ssm_dtype="float32"),
    "kda": config("KimiLinearForCausalLM", "kimi_linear", num_hidden_layers=8, **MLA, num_experts=12,
                  num_experts_per_token=3, num_shared_experts=1, moe_intermediate_size=192, first_k_dense_replace=1,
                  moe_layer_freq=1, moe_renormalize=True, moe_router_activation_func="sigmoid", num_expert_group=1,
                  topk_group=1, use_grouped_topk=True, routed_scaling_factor=1.0, mla_use_nope=True,
                  linear_attn_config={"kda_layers": [1, 2, 3, 5, 6, 7], "full_attn_layers": [4, 8], "head_dim": 128,
                                      "num_heads": 8, "short_conv_kernel_size": 4}),
}
