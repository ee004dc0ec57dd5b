"""Formats of llama.cpp: tensor types as storage formats, and what its quantiser does with a file type."""

from __future__ import annotations

from tonnage.model.headers.gguf.dtype import list_types
from tonnage.model.quantization.formats import BYTE_BITS
from tonnage.model.quantization.kept import BUILT_PLAIN, TOWERS
from tonnage.model.quantization.scheme import Format, Rule, Scheme
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from tonnage.model.headers.gguf.dtype import GgmlType

PREFIX = "ggml-"
UNPACKED = ("F32", "F16", "BF16", "F64", "I8", "I16", "I32", "I64")
LABEL_LEADS = ("gguf-", "gguf_", PREFIX)


@value
class Mix:
    """A file type: the type of most matrices, and the better one for some of them.

    `values`, `down` and `out` are the types of all value, down and output projections where they differ from the base;
    `head` is the type of the output matrix where it is not the usual one.
    """

    base: str
    better: str
    values: str | None = None
    down: str | None = None
    out: str | None = None
    head: str | None = None


# llama.cpp src/llama-quant.cpp, llama_tensor_get_type: the M mixes give half of the layers' ffn_down and attn_v the
# better type, and the output matrix (of tied models: the embedding) always. Values are those of grouped attention.
MIXES = {
    "Q2_K": Mix("Q2_K", "Q2_K", "Q4_K", "Q3_K", "Q3_K"),
    "Q3_K_S": Mix("Q3_K", "Q3_K"),
    "Q3_K_M": Mix("Q3_K", "Q3_K", "Q4_K", "Q4_K", "Q4_K"),
    "Q3_K_L": Mix("Q3_K", "Q3_K", "Q5_K", "Q5_K", "Q5_K"),
    "Q4_K_M": Mix("Q4_K", "Q6_K"),
    "Q5_K_M": Mix("Q5_K", "Q6_K"),
    "Q4_K_S": Mix("Q4_K", "Q4_K"),
    "Q5_K_S": Mix("Q5_K", "Q5_K"),
    "IQ1_S": Mix("IQ1_S", "IQ1_S", "Q4_K", None, "IQ2_XXS", "Q5_K"),
    "IQ1_M": Mix("IQ1_M", "IQ1_M", "Q4_K", None, "IQ2_XXS", "Q5_K"),
    "IQ2_XXS": Mix("IQ2_XXS", "IQ2_XXS", "Q4_K", None, None, "Q5_K"),
    "IQ2_XS": Mix("IQ2_XS", "IQ2_XS", "Q4_K", None, None, "Q5_K"),
    "IQ2_M": Mix("IQ2_S", "IQ2_S", "Q4_K", None, "IQ3_S", "Q5_K"),
    "IQ3_XXS": Mix("IQ3_XXS", "IQ3_XXS", "Q4_K", None, "IQ3_S", "Q5_K"),
    "IQ3_S": Mix("IQ3_S", "IQ3_S", "Q4_K"),
    "IQ3_M": Mix("IQ3_S", "IQ3_S", "Q4_K", None, "Q4_K"),
    "IQ4_XS": Mix("IQ4_XS", "IQ4_XS", "Q5_K"),
    "IQ4_NL": Mix("IQ4_NL", "IQ4_NL", "Q5_K"),
}
# Unsloth's dynamic builds choose types by measurement; without the file the plain mix of their name comes nearest.
DYNAMIC = "UD-"
DYNAMIC_MIXES = {
    "Q2_K_L": "Q2_K",
    "Q2_K_XL": "Q2_K",
    "Q3_K_XL": "Q3_K_M",
    "Q4_K_XL": "Q4_K_M",
    "Q5_K_XL": "Q5_K_M",
    "Q6_K_XL": "Q6_K",
    "Q8_K_XL": "Q8_0",
}
# The output matrix of every type below it (the same function).
OUTPUT_TYPE = "Q6_K"
# use_more_bits: the first and last eighth of the layers, and every third between.
EDGE, EVERY = 8, 3


def ggml_format(name: str, block: int, size: int) -> Format:
    """A ggml type whose `block` elements take `size` bytes: whole bits per element, the rest as scale of the block."""
    bits = size * BYTE_BITS // block
    if bits * block == size * BYTE_BITS:
        return Format(f"{PREFIX}{name.lower()}", bits)
    return Format(f"{PREFIX}{name.lower()}", bits, 1, block, size - block * bits // BYTE_BITS)


def find_ggml(label: str) -> Mix | None:
    """The mix of types that a label means (`q4_0`, `gguf-q4_k_m`); None for one that is no quantised type."""
    name = label.strip().lower()
    for lead in LABEL_LEADS:
        name = name.removeprefix(lead)
    name = name.upper().removeprefix(DYNAMIC)
    name = DYNAMIC_MIXES.get(name, name)
    if name in MIXES:
        return MIXES[name]
    return Mix(name, name) if name in _types() and name not in UNPACKED else None


def ggml_scheme(label: str, layers: int) -> Scheme | None:
    """The scheme of a GGUF file of this type with `layers` decoder layers; None for labels of no such type.

    What follows from the quantiser's rules for Llama-like models; others differ by a few percent.
    """
    mix = find_ggml(label)
    if mix is None:
        return None
    base, better = _format(mix.base), _format(mix.better)
    output = max(base, _format(mix.head or OUTPUT_TYPE), key=lambda form: form.bits)
    more = "{" + ",".join(str(layer) for layer in range(layers) if has_more_bits(layer, layers)) + "}"
    names = tuple(f"layers.{more}.{part}" for part in ("self_attn.v_proj", "mlp.down_proj", "mlp.experts.down_proj"))
    rules = (
        Rule("", None, (*BUILT_PLAIN, *TOWERS)),
        Rule("", output, ("**.lm_head",)),
        *_better_parts(mix),
        *((Rule("", better, names),) if layers else ()),
        Rule("", base),
    )
    return Scheme("gguf", rules, source="llama.cpp llama-quant.cpp")


def _better_parts(mix: Mix) -> tuple[Rule, ...]:
    """Rules for parts that a mix raises in every layer."""
    down = ("mlp.down_proj", "mlp.experts.down_proj", "mlp.shared_experts.down_proj")
    parts = ((mix.values, ("self_attn.v_proj",)), (mix.out, ("self_attn.o_proj",)), (mix.down, down))
    return tuple(Rule("", _format(kind), tuple(f"**.{name}" for name in names)) for kind, names in parts if kind)


def has_more_bits(layer: int, layers: int) -> bool:
    """Whether the quantiser's `use_more_bits` holds for a layer."""
    edge = layers // EDGE
    return layer < edge or layer >= (EDGE - 1) * layers // EDGE or (layer - edge) % EVERY == 2


def _format(name: str) -> Format:
    found = _types()[name]
    return ggml_format(name, found.block, found.size)


def _types() -> dict[str, GgmlType]:
    found: Iterable[GgmlType] = list_types()
    return {kind.name: kind for kind in found}
