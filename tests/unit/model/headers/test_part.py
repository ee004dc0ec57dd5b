"""Parts by name, with the names that publishers use."""

import pytest

from tonnage.model.headers.part import classify


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("model.embed_tokens.weight", "embedding"),
        ("model.language_model.embed_tokens.weight", "embedding"),
        ("embed.weight", "embedding"),
        ("backbone.embeddings.weight", "embedding"),
        ("transformer.wte.weight", "embedding"),
        ("token_embd.weight", "embedding"),
        ("lm_head.weight", "head"),
        ("output.weight", "head"),
        ("head.weight", "head"),
        ("model.norm.weight", "norms"),
        ("output_norm.weight", "norms"),
        ("model.layers.0.input_layernorm.weight", "norms"),
        ("model.layers.0.self_attn.q_norm.weight", "norms"),
        ("model.layers.0.self_attn.kv_a_layernorm.weight", "norms"),
        ("blk.0.attn_norm.weight", "norms"),
        ("transformer.h.0.ln_1.weight", "norms"),
        ("block.0.attn.norm.scale", "norms"),
        ("model.layers.0.self_attn.q_proj.weight", "attention"),
        ("model.layers.0.self_attn.q_proj.bias", "attention"),
        ("model.layers.3.self_attn.indexer.wk.weight", "attention"),
        ("model.layers.0.linear_attn.A_log", "attention"),
        ("model.layers.0.self_attn.sinks", "attention"),
        ("backbone.layers.0.mixer.in_proj.weight", "attention"),
        ("blk.0.ssm_in.weight", "attention"),
        ("blk.0.attn_output.weight", "attention"),
        ("layers.0.attn.wq_a.weight", "attention"),
        ("model.layers.0.mlp.up_proj.weight", "mlp"),
        ("model.layers.0.mlp.gate.weight", "mlp"),
        ("model.layers.0.mlp.shared_experts.up_proj.weight", "mlp"),
        ("model.layers.0.mlp.shared_expert_gate.weight", "mlp"),
        ("backbone.layers.1.mixer.shared_experts.up_proj.weight", "mlp"),
        ("backbone.layers.2.mixer.down_proj.weight", "mlp"),
        ("blk.0.ffn_gate_inp.weight", "mlp"),
        ("blk.0.ffn_up_shexp.weight", "mlp"),
        ("blk.0.ffn_up.weight", "mlp"),
        ("model.layers.0.mlp.experts.7.up_proj.weight", "experts"),
        ("model.layers.0.block_sparse_moe.experts.7.w1.weight", "experts"),
        ("model.layers.0.mlp.experts.gate_up_proj_blocks", "experts"),
        ("layers.0.ffn.experts.3.w1.weight", "experts"),
        ("backbone.layers.1.mixer.experts.5.up_proj.weight", "experts"),
        ("blk.0.ffn_gate_exps.weight", "experts"),
        ("model.visual.blocks.0.attn.qkv.weight", "vision"),
        ("vision_tower.encoder.layers.0.layer_norm1.weight", "vision"),
        ("multi_modal_projector.linear_1.weight", "vision"),
        ("v.blk.0.attn_q.weight", "vision"),
        ("mm.0.weight", "vision"),
        ("mtp.layers.0.self_attn.q_proj.weight", "draft"),
        ("mtp.0.attn.wq_a.weight", "draft"),
        ("model.mtp_layers.0.mlp.up_proj.weight", "draft"),
        ("blk.61.nextn.eh_proj.weight", "draft"),
        ("model.layers.0.self_attn.q_proj.weight_scale", "scales"),
        ("model.layers.0.self_attn.q_proj.weight_scale_inv", "scales"),
        ("model.layers.0.self_attn.q_proj.weight_scale_2", "scales"),
        ("model.layers.0.self_attn.q_proj.input_scale", "scales"),
        ("model.layers.0.self_attn.k_proj.k_scale", "scales"),
        ("model.layers.0.mlp.experts.gate_up_proj_scales", "scales"),
        ("model.layers.0.mlp.up_proj.scales", "scales"),
        ("model.layers.0.mlp.up_proj.qzeros", "scales"),
        ("model.layers.0.mlp.up_proj.g_idx", "scales"),
        ("model.layers.0.mlp.up_proj.weight_shape", "scales"),
        ("model.layers.0.mlp.up_proj.weight_global_scale", "scales"),
        ("model.layers.0.mlp.up_proj.weight.absmax", "scales"),
        ("model.layers.0.mlp.up_proj.weight.quant_state.bitsandbytes__nf4", "scales"),
        ("model.layers.0.layer_scalar", "other"),
        ("model.logit_scale", "other"),
        ("model.hc_fn", "other"),
    ],
)
def test_published_names(name: str, part: str) -> None:
    assert classify([name])[name] == part


def test_a_scale_of_a_matrix_is_a_scale_and_that_of_a_norm_is_a_norm() -> None:
    names = ["layers.0.ffn.w1.weight", "layers.0.ffn.w1.scale", "block.0.norm.scale"]
    assert classify(names) == {
        "layers.0.ffn.w1.weight": "mlp",
        "layers.0.ffn.w1.scale": "scales",
        "block.0.norm.scale": "norms",
    }


def test_a_layer_with_a_joint_projection_is_draft_as_a_whole() -> None:
    # DeepSeek-V3 stores its multi-token-prediction block as layer 61 of 61.
    names = [
        "model.layers.60.self_attn.o_proj.weight",
        "model.layers.61.eh_proj.weight",
        "model.layers.61.self_attn.o_proj.weight",
        "model.layers.61.mlp.experts.0.up_proj.weight",
        "model.layers.61.mlp.experts.0.up_proj.weight_scale_inv",
        "model.layers.61.embed_tokens.weight",
    ]
    assert [classify(names)[name] for name in names] == ["attention", "draft", "draft", "draft", "scales", "draft"]
