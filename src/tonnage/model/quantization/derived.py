"""Published builds recognised by their names (`RedHatAI/Qwen3-14B-FP8-dynamic`): what they are built from, and how."""

from __future__ import annotations

import re

from tonnage.model.quantization.formats import FP8_CHANNEL_STATIC
from tonnage.model.quantization.kept import default_rules
from tonnage.model.quantization.precision import scheme_for
from tonnage.model.quantization.scheme import Rule, Scheme
from tonnage.value import value


@value
class Derived:
    """Names the base model may have, likeliest first, and the scheme of the build (None: 16-bit floats)."""

    bases: tuple[str, ...]
    scheme: Scheme | None


@value
class Ending:
    """Endings of repository names of one kind of build, by whom (empty: anyone), and the precision they mean."""

    endings: tuple[str, ...]
    owners: tuple[str, ...]
    precision: str
    reason: str


LLM_COMPRESSOR_OWNERS = ("redhatai", "neuralmagic")
# Owners first, then anyone; within a row longer endings first.
ENDINGS = (
    Ending(("-awq-4bit", "-awq-int4", "-awq"), ("cyankiwi", "cpatonn"), "w4a16-g32", "llm-compressor AWQ, group 32"),
    Ending(("-fp8", "-quantized.w8a8-fp8"), LLM_COMPRESSOR_OWNERS, "fp8-tensor", "llm-compressor preset FP8"),
    Ending(("-fp8",), ("nvidia",), "fp8-tensor", "modelopt FP8 per tensor"),
    Ending(("-nvfp4",), LLM_COMPRESSOR_OWNERS, "nvfp4-linear", "llm-compressor preset NVFP4"),
    # 72 GB of Laguna S 2.1 are its routed experts in groups of 32 and everything else in 16 bit.
    Ending(("-int4",), ("poolside",), "int4-experts", "Laguna's int4 builds: routed experts only"),
    Ending(("-quark-mxfp4", "-mxfp4"), ("amd",), "mxfp4", "Quark with fp4 weights in blocks of 32"),
    Ending(("-mxfp8-nvfp4",), (), "nvfp4-mxfp8", "experts NVFP4, the rest MXFP8"),
    Ending(("-fp8-dynamic", "-fp8_dynamic", "-dynamic-fp8"), (), "fp8", "llm-compressor preset FP8_DYNAMIC"),
    Ending(("-fp8-block",), (), "fp8-block", "llm-compressor preset FP8_BLOCK"),
    Ending(("-fp8-static-pertensor", "-fp8-static"), (), "fp8-tensor", "fp8 with static activations"),
    Ending(("-fp8-kv",), (), "fp8-kv", "AMD's fp8 builds with KV scales"),
    Ending(("-fp8",), (), "fp8-block", "fine-grained fp8 is the usual form of first-party releases"),
    Ending(("-gptq-int8", "-gptq-8bit", "-gptq-w8a16"), (), "gptq-int8", "AutoGPTQ, 8 bits"),
    Ending(("-gptq-int4", "-gptq-4bit", "-int4-gptq", "-gptq"), (), "gptq", "AutoGPTQ, 4 bits, group 128"),
    Ending(("-awq-int4", "-awq-4bit", "-int4-awq", "-awq"), (), "awq", "AutoAWQ, group 128 with zero points"),
    Ending(("-int4-autoround", "-autoround-int4", "-autoround"), (), "auto-round", "AutoRound default"),
    # QAT for llama.cpp's q4_0, whose blocks are 32 wide (inferred from the training format)
    Ending(("-qat-w4a16-ct",), (), "w4a16-g32", "quantisation-aware training in blocks of 32"),
    Ending(("-w4a16-g32", "-int4-g32"), (), "w4a16-g32", "compressed-tensors with group 32"),
    Ending(("-quantized.w4a16", "-w4a16-g128", "-w4a16"), (), "w4a16", "llm-compressor preset W4A16"),
    Ending(("-quantized.w8a16", "-w8a16"), (), "w8a16", "llm-compressor preset W8A16"),
    Ending(("-quantized.w8a8", "-w8a8", "-int8"), (), "int8", "llm-compressor preset W8A8"),
    Ending(("-nvfp4a16",), (), "nvfp4-w4a16", "NVFP4 weights only"),
    Ending(("-nvfp4", "-fp4"), (), "nvfp4", "modelopt or llm-compressor NVFP4"),
    Ending(("-mxfp4",), (), "mxfp4", "OCP blocks of 32"),
    Ending(("-mxfp8",), (), "mxfp8", "OCP blocks of 32"),
    Ending(("-bnb-4bit", "-bnb-nf4"), (), "nf4", "bitsandbytes NF4"),
    Ending(("-bnb-8bit",), (), "bnb-8bit", "bitsandbytes LLM.int8"),
    Ending(("-int4", "-4bit"), (), "w4a16", "llm-compressor preset W4A16"),
    Ending(("-bf16", "-fp16"), (), "bf16", "the model's own dtype"),
)
# Tails that builders add behind the format.
TAILS = r"(?:-(?:turbo|mtp|fp8kv|v\d{1,2}|text))*$"
# Tunings and dates of one model share its shape: `Qwen2.5-7B-Instruct` has the tensors of `Qwen2.5-7B`.
TUNINGS = r"-(?:instruct|it|chat|base|thinking|qat|\d{4})$"
TUNINGS_MAX = 3
# Published in int4 although the name does not say so: Kimi K2.5's model card says K2 Thinking's scheme is its own.
NATIVE_INT4 = ("kimi-k2-thinking",)
# Meta's own fp8 leaves attention, and the first and last layer, in bf16 (126 layers). 8 ranks: 56.74 GiB each
# by this rule, 56.77 logged.
META_FP8 = re.compile(r"(?:meta-)?llama-3\.1-405b(?:-instruct)?-fp8\Z")
META_KEPT = ("**.self_attn", "layers.{0,125}.mlp")


def scheme_from_name(repo_name: str, is_moe: bool = False) -> Derived | None:
    """Base names and scheme of a repository whose name ends in a known format; None when it does not.

    The scheme is what such builds usually contain, not what this one is known to contain.
    """
    owner, _, name = repo_name.strip().rpartition("/")
    low = name.lower()
    if low in NATIVE_INT4:
        return Derived((repo_name,), scheme_for("int4-experts", is_moe=True))
    found = _ending(owner.lower(), re.sub(TAILS, "", low))
    if found is None:
        return None
    ending, row = found
    base = name[: low.rindex(ending)]
    scheme = _meta_fp8() if META_FP8.match(low) and owner.lower() != "amd" else scheme_for(row.precision, is_moe)
    return Derived(_bases(owner, base), scheme)


def _ending(owner: str, low: str) -> tuple[str, Ending] | None:
    for row in ENDINGS:
        if row.owners and owner not in row.owners:
            continue
        for ending in row.endings:
            if low.endswith(ending) and len(low) > len(ending):
                return ending, row
    return None


def _bases(owner: str, base: str) -> tuple[str, ...]:
    names = [base]
    for _ in range(TUNINGS_MAX):
        names.append(re.sub(TUNINGS, "", names[-1], flags=re.IGNORECASE))
    if "llama-3" in base.lower():
        # the repositories of Llama 3 and 3.1 were renamed, so both spellings are in use
        bare = [name.removeprefix("Meta-") for name in names]
        names += [*bare, *(f"Meta-{name}" for name in bare)]
    qualified = [f"{owner}/{base}"] if owner else []
    return tuple(dict.fromkeys((*qualified, *names)))


def _meta_fp8() -> Scheme:
    rules = (Rule("", None, META_KEPT), *default_rules(FP8_CHANNEL_STATIC))
    return Scheme("fbgemm_fp8", rules, source="Meta's modules_to_not_convert")
