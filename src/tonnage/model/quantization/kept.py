"""Modules that stay in 16 bit whatever a default rule says, each group with its reason."""

from __future__ import annotations

from tonnage.model.quantization.scheme import Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.quantization.scheme import Format

# vLLM gives VocabParallelEmbedding and ParallelLMHead a quantisation only where a method names them
# (modelopt quantized_layers, GPTQ and AWQ `lm_head: true`, compressed-tensors targets).
OUTER = (
    "**.lm_head",
    "**.embed_tokens",
    "**.embed",
    "**.embeddings",
    "**.word_embeddings",
    "**.wte",
    "**.wpe",
    "**.head",
    "**.shared_head",
    "**.embed_out",
    "**.output_layer",
)
# Built with quant_config=None in vLLM's model classes: routers (every mixture of experts), eh_proj (the MTP
# modules), the indexer's key and weight projections and the compressors (DeepSeek V3.2 and V4).
BUILT_PLAIN = (
    "**.mlp.gate",
    "**.mixer.gate",
    "**.router",
    "**.shared_expert_gate",
    "**.eh_proj",
    "**.indexer.wk",
    "**.weights_proj",
    "**.indexers_proj",
    "**.compressor",
    "**.conv1d",
)
# modelopt.py leaves these out by name; the published fp8, AWQ, GPTQ and compressed-tensors builds list them
# in their own words (`visual`, `vision_tower`, `mm_projector`).
TOWERS = (
    "**.visual",
    "**.vision_tower",
    "**.vision_model",
    "**.vision_encoder",
    "**.vit_large_projector",
    "**.vit",
    "**.audio_tower",
    "**.mm_projector",
    "**.multi_modal_projector",
    "**.patch_merge_mlp",
    "**.embed_vision",
    "**.embed_audio",
    "**.vision_embedder",
    "**.vision_adapter",
    "**.vision_projection",
    "**.visual_projection",
    "**.vision",
    "**.aligner",
)


def default_rules(form: Format | None) -> tuple[Rule, ...]:
    """Everything has `form` except embeddings, heads, routers and towers."""
    return (Rule("", None, (*OUTER, *BUILT_PLAIN, *TOWERS)), Rule("", form))
