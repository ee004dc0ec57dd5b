"""What-if precisions: the scheme a checkpoint would have if it were published in another format."""

from __future__ import annotations

from tonnage.errors import UsageError
from tonnage.model.quantization.formats import (
    AWQ_INT4,
    BYTE_BITS,
    FP8_BLOCK_128,
    FP8_CHANNEL,
    FP8_TENSOR_STATIC,
    FP32,
    GPTQ_INT4,
    GPTQ_INT8,
    INT8_CHANNEL,
    INT8_CHANNEL_HALF,
    MXFP4,
    MXFP6,
    MXFP8,
    NF4_DOUBLE,
    NVFP4,
    NVFP4_W4A16,
    W4A8_FP8,
    W4A16,
    W4A16_G32,
    int_pack_quantized,
)
from tonnage.model.quantization.kept import default_rules
from tonnage.model.quantization.scheme import Rule, Scheme
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.quantization.scheme import Format

EXPERTS = ("**.experts",)
# The two narrow projections of a gated delta net: too narrow for the kernels' tiles, left out of every published
# build seen (Qwen3.8's fp8 list, nvidia's Qwen3.6 tables, AutoRound's note on Marlin's 64 columns).
NARROW = ("**.in_proj_a", "**.in_proj_b", "**.in_proj_ba")


@value
class Recipe:
    """How a kind of build is made: method, format, and where a mixture of experts differs from a dense model.

    `is_experts_only` builds quantise nothing but the routed experts of such a model; `rest` is then the format of
    its other linear modules. `kept` names modules that stay in 16 bit beside those of every build.
    """

    method: str
    format: Format
    source: str
    is_experts_only: bool = False
    rest: Format | None = None
    kv_dtype: str | None = None
    kept: tuple[str, ...] = ()


CT = "compressed-tensors"
LLM_COMPRESSOR = "llm-compressor examples: targets Linear, ignore lm_head, router gates and vision"
LLM_COMPRESSOR_NVFP4 = "llm-compressor preset NVFP4: targets Linear, ignore lm_head, gates, linear_attn and vision"
NVIDIA = "nvidia's NVFP4 tables from Kimi K2.6, GLM 5.1 and MiniMax M2.5 on: only routed experts; dense models wholly"

RECIPES: dict[str, Recipe] = {
    "fp8": Recipe(CT, FP8_CHANNEL, f"{LLM_COMPRESSOR}, preset FP8_DYNAMIC"),
    "fp8-block": Recipe("fp8", FP8_BLOCK_128, "Qwen, GLM and DeepSeek fp8 releases: weight_block_size [128, 128]"),
    "fp8-tensor": Recipe("modelopt", FP8_TENSOR_STATIC, "modelopt FP8_DEFAULT_CFG", kv_dtype="fp8"),
    "fp8-kv": Recipe("fp8", FP8_TENSOR_STATIC, "AMD's FP8-KV releases: ignored_layers lm_head", kv_dtype="fp8"),
    "int8": Recipe(CT, INT8_CHANNEL, f"{LLM_COMPRESSOR}, preset W8A8"),
    "w8a16": Recipe(CT, int_pack_quantized(BYTE_BITS, None), f"{LLM_COMPRESSOR}, preset W8A16"),
    "w4a16": Recipe(CT, W4A16, f"{LLM_COMPRESSOR}, preset W4A16 (group 128, symmetric)"),
    "w4a16-g32": Recipe(CT, W4A16_G32, "compressed-tensors with group 32"),
    "int4-experts": Recipe(CT, W4A16_G32, "Kimi K2.5's list: routed experts in int4, group 32", True),
    "w4a8": Recipe("quark", W4A8_FP8, "Quark int4 under fp8"),
    "awq": Recipe("awq", AWQ_INT4, "AutoAWQ: every linear module of the decoder, group 128, zero points"),
    "gptq": Recipe("gptq", GPTQ_INT4, "AutoGPTQ: every linear module of the decoder, group 128, symmetric"),
    "gptq-int8": Recipe("gptq", GPTQ_INT8, "AutoGPTQ with bits 8"),
    "auto-round": Recipe("auto-round", GPTQ_INT4, "AutoRound default: 4 bits, group 128, symmetric"),
    "mxfp4": Recipe("mxfp4", MXFP4, "gpt-oss: only routed experts; dense models wholly", True),
    "mxfp6": Recipe("quark", MXFP6, "Quark with fp6 weights"),
    "mxfp8": Recipe("mxfp8", MXFP8, "vLLM mxfp8: every linear module"),
    "nvfp4": Recipe("modelopt", NVFP4, NVIDIA, True),
    "nvfp4-linear": Recipe(CT, NVFP4, LLM_COMPRESSOR_NVFP4, kept=("**.linear_attn",)),
    "nvfp4-w4a16": Recipe("modelopt", NVFP4_W4A16, NVIDIA, True),
    "nvfp4-mxfp8": Recipe("modelopt", NVFP4, "nvidia's MiniMax M3 table: experts NVFP4, the rest MXFP8", True, MXFP8),
    "nf4": Recipe("bitsandbytes", NF4_DOUBLE, "vLLM's in-flight bitsandbytes: NF4 with double quantisation"),
    "bnb-8bit": Recipe("bitsandbytes", INT8_CHANNEL_HALF, "bitsandbytes LLM.int8"),
    "fp32": Recipe("fp32", FP32, "32-bit floats"),
}
UNQUANTISED = ("bf16", "fp16", "f16", "bfloat16", "float16", "half", "none", "auto")
ALIASES: dict[str, str] = {
    "fp8-dynamic": "fp8",
    "fp8-channel": "fp8",
    "fp8_per_channel": "fp8",
    "w8a8-fp8": "fp8",
    "fp8_per_block": "fp8-block",
    "fp8_per_tensor": "fp8-tensor",
    "fp8-static": "fp8-tensor",
    "modelopt": "fp8-tensor",
    "w8a8": "int8",
    "w8a8-int8": "int8",
    "int8-w8a8": "int8",
    "int4": "w4a16",
    "compressed-tensors-w4a16": "w4a16",
    "gptq-int4": "gptq",
    "gptq-4bit": "gptq",
    "awq-int4": "awq",
    "awq-4bit": "awq",
    "int4-awq": "awq",
    "autoround": "auto-round",
    "autoround-int4": "auto-round",
    "auto-round-int4": "auto-round",
    "fp4": "nvfp4",
    "modelopt_fp4": "nvfp4",
    "bitsandbytes": "nf4",
    "bitsandbytes-4bit": "nf4",
    "bnb-4bit": "nf4",
    "bitsandbytes-8bit": "bnb-8bit",
    "float32": "fp32",
}
# Weights in files of another kind, whose sizes no scheme of rules describes.
OTHER_FILES = {
    "gguf": "name the GGUF file instead",
    "exl2": "vLLM and SGLang do not load EXL2",
    "exl3": "vLLM and SGLang do not load EXL3",
}


def scheme_for(precision: str, is_moe: bool = False) -> Scheme | None:
    """The scheme of a model published in `precision`; None for 16-bit floats, which are the model's own dtype.

    Embeddings, output head, routers and towers stay in 16 bit. `is_moe` tells a mixture of experts, of which some
    formats are published with experts quantised only. Unknown names are a UsageError.
    """
    name = precision.strip().lower()
    if name in UNQUANTISED:
        return None
    recipe = RECIPES.get(ALIASES.get(name, name))
    if recipe is None:
        known = ", ".join(sorted({*RECIPES, *ALIASES, "bf16", "fp16"}))
        raise UsageError("precision", precision, OTHER_FILES.get(name, f"one of {known}"))
    return Scheme(recipe.method, _rules(recipe, is_moe), recipe.kv_dtype, source=recipe.source)


def _rules(recipe: Recipe, is_moe: bool) -> tuple[Rule, ...]:
    if recipe.format == FP32:
        return (Rule("", FP32),)
    narrow = Rule("", None, (*NARROW, *recipe.kept))
    if recipe.is_experts_only and is_moe:
        return (Rule("", recipe.format, EXPERTS), narrow, *default_rules(recipe.rest))
    return (narrow, *default_rules(recipe.format))
