"""What single model classes of vLLM do differently (read in the model files of 0.32)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.arch import Arch

# Classes that create the embedding table on every pipeline stage, although only the first reads it.
EMBEDDING_ON_EVERY_STAGE = frozenset((
    "BloomForCausalLM", "Cohere2MoeForCausalLM", "CohereForCausalLM", "Cohere2ForCausalLM", "DbrxForCausalLM",
    "FalconForCausalLM", "GemmaForCausalLM", "Gemma2ForCausalLM", "Gemma3ForCausalLM",
    "Gemma3ForConditionalGeneration", "Gemma3nForCausalLM", "Gemma4ForCausalLM", "Gemma4ForConditionalGeneration",
    "GptOssForCausalLM", "GraniteMoeForCausalLM", "GraniteMoeHybridForCausalLM", "GraniteMoeSharedForCausalLM",
    "HYV3ForCausalLM", "InternLM2ForCausalLM", "JambaForCausalLM", "Lfm2ForCausalLM", "Lfm2MoeForCausalLM",
    "MambaForCausalLM", "Mamba2ForCausalLM", "MiniCPMForCausalLM", "MixtralForCausalLM", "MolmoForCausalLM",
    "MuseGlimmerForCausalLM", "MuseGlimmerForConditionalGeneration", "NemotronHForCausalLM",
    "OlmoHybridForCausalLM", "OlmoeForCausalLM", "OPTForCausalLM", "OrionForCausalLM", "PhiMoEForCausalLM",
    "Qwen2MoeForCausalLM", "Qwen3_5ForCausalLM", "Qwen3_5MoeForCausalLM", "Qwen3_5ForConditionalGeneration",
    "Qwen3_5MoeForConditionalGeneration", "Qwen3MoeForCausalLM", "Qwen3NextForCausalLM", "StableLmForCausalLM",
))  # fmt: skip
# Of these, the ones that create the output head only on the last stage.
HEAD_ON_LAST_STAGE = frozenset((
    "Cohere2MoeForCausalLM", "CohereForCausalLM", "Cohere2ForCausalLM", "Gemma2ForCausalLM", "Gemma3nForCausalLM",
    "Lfm2ForCausalLM", "Lfm2MoeForCausalLM", "Qwen3_5ForCausalLM", "Qwen3_5MoeForCausalLM",
    "Qwen3_5ForConditionalGeneration", "Qwen3_5MoeForConditionalGeneration",
))  # fmt: skip
# Gemma 4's larger models attend within a picture in both directions, so one item must come whole: a film of 32 frames
# with 70 tokens, 2 marks and about 6 of a time stamp each (vLLM `models/gemma4_mm.py`).
GEMMA4 = "Gemma4ForConditionalGeneration"
FILM_FRAMES, FRAME_TOKENS = 32, 70 + 2 + 6


def media_tokens(arch: Arch) -> int | None:
    """Tokens that one step must hold for the largest picture or film; None where media may be cut."""
    # The small models, which also hear, attend forwards only.
    is_whole = GEMMA4 in arch.architectures and [tower.kind for tower in arch.towers] == ["vision"]
    return FILM_FRAMES * FRAME_TOKENS if is_whole else None


def embeds_everywhere(architectures: tuple[str, ...]) -> bool:
    """Whether every pipeline stage holds the embedding table."""
    return any(name in EMBEDDING_ON_EVERY_STAGE for name in architectures)


def heads_everywhere(architectures: tuple[str, ...]) -> bool:
    """Whether every pipeline stage holds the output head and the final norm."""
    return embeds_everywhere(architectures) and not any(name in HEAD_ON_LAST_STAGE for name in architectures)
