"""How a GGUF file stores each matrix, as rules over the architecture's own names."""

from __future__ import annotations

from tonnage.model.headers.gguf.block import PREFIX, WEIGHT
from tonnage.model.headers.gguf.dtype import list_types
from tonnage.model.quantization.ggml import ggml_format
from tonnage.model.quantization.names import compact
from tonnage.model.quantization.scheme import Rule, Scheme

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tonnage.model.headers.entry import TensorEntry
    from tonnage.model.quantization.scheme import Format

# Stored as the architecture counts them anyway.
HALF = ("F16", "BF16")
# A name inside a block -> the places it may have in an architecture; those that a model lacks match nothing.
PLACES: dict[str, tuple[str, ...]] = {
    "attn_q": ("self_attn.q_proj",),
    "attn_k": ("self_attn.k_proj",),
    "attn_v": ("self_attn.v_proj",),
    "attn_qkv": ("self_attn.qkv_proj", "linear_attn.in_proj_qkv", "linear_attn.in_proj_qkvz"),
    "attn_output": ("self_attn.o_proj",),
    "attn_gate": ("self_attn.g_proj", "linear_attn.in_proj_z"),
    "attn_q_a": ("self_attn.q_a_proj", "self_attn.wq_a"),
    "attn_q_b": ("self_attn.q_b_proj", "self_attn.wq_b"),
    "attn_kv_a_mqa": ("self_attn.kv_a_proj_with_mqa",),
    "attn_kv_b": ("self_attn.kv_b_proj",),
    "attn_k_b": ("self_attn.kv_b_proj",),
    "attn_kv": ("self_attn.wkv",),
    "attn_output_a": ("self_attn.wo_a",),
    "attn_output_b": ("self_attn.wo_b",),
    "indexer.attn_q_b": ("self_attn.indexer.wq_b",),
    "ssm_in": ("mamba.in_proj", "mixer.in_proj"),
    "ssm_out": ("mamba.out_proj", "mixer.out_proj", "linear_attn.out_proj"),
    "ssm_x": ("mamba.x_proj",),
    "ssm_dt": ("mamba.dt_proj",),
    "ssm_ba": ("linear_attn.in_proj_ba",),
    "ssm_beta": ("linear_attn.in_proj_b", "self_attn.b_proj"),
    "ssm_alpha": ("linear_attn.in_proj_a",),
    "ssm_f_a": ("self_attn.f_a_proj",),
    "ssm_f_b": ("self_attn.f_b_proj",),
    "ssm_g_a": ("self_attn.g_a_proj",),
    "ssm_g_b": ("self_attn.g_b_proj",),
    "ffn_gate": ("mlp.gate_proj",),
    # Phi's gate stands in the matrix called up; where there are two, they have one type.
    "ffn_up": ("mlp.up_proj", "mlp.gate_proj"),
    "ffn_down": ("mlp.down_proj",),
    "ffn_gate_exps": ("mlp.experts.gate_proj",),
    "ffn_up_exps": ("mlp.experts.up_proj",),
    "ffn_down_exps": ("mlp.experts.down_proj",),
    "ffn_gate_up_exps": ("mlp.experts.gate_up_proj",),
    "ffn_gate_shexp": ("mlp.shared_experts.gate_proj",),
    "ffn_up_shexp": ("mlp.shared_experts.up_proj",),
    "ffn_down_shexp": ("mlp.shared_experts.down_proj",),
    "ffn_latent_down": ("mlp.fc1_latent_proj",),
    "ffn_latent_up": ("mlp.fc2_latent_proj",),
}
OUTSIDE = {"token_embd": "embed_tokens", "output": "lm_head"}
# Experts of old files, one matrix each: `ffn_up.0`.
OLD_EXPERTS = ("ffn_gate.", "ffn_up.", "ffn_down.")


def gguf_scheme(entries: Iterable[TensorEntry]) -> Scheme:
    """Rules that give every matrix of the file the type it is stored in; half floats are the architecture's own."""
    found: dict[Format, list[str]] = {}
    known = {kind.name: kind for kind in list_types()}
    for entry in entries:
        if len(entry.shape) < 2 or entry.dtype in HALF:
            continue
        kind = known.get(entry.dtype)
        form = ggml_format(entry.dtype, kind.block, kind.size) if kind else _measured(entry)
        found.setdefault(form, []).extend(_places(entry.name))
    rules = tuple(Rule("", form, compact(names)) for form, names in found.items())
    return Scheme("gguf", (*rules, Rule("", None)), source="the file's tensor types")


def _measured(entry: TensorEntry) -> Format:
    """By the size the file gives for a row, for types whose rows carry more than their blocks."""
    cols = entry.shape[-1]
    return ggml_format(entry.dtype, cols, entry.stored_bytes * cols // entry.elements)


def _places(name: str) -> Iterator[str]:
    number, _, inner = name.removeprefix(PREFIX).partition(".")
    if not name.startswith(PREFIX):
        stem = name.removesuffix(WEIGHT)
        yield OUTSIDE.get(stem, stem)
        return
    stem = inner.removesuffix(WEIGHT)
    if stem.startswith(OLD_EXPERTS):
        stem = f"{stem.partition('.')[0]}_exps"
    # What has no place of its own keeps its name in the architecture.
    for place in PLACES.get(stem, (stem,)):
        yield f"model.layers.{number}.{place}"
