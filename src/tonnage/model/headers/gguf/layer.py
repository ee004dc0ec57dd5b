"""One block of a GGUF model as a layer: which mixers its tensors make up, and what is left over."""

from __future__ import annotations

from tonnage.errors import UnknownKeyError
from tonnage.model.arch import Layer
from tonnage.model.headers.gguf.attention import read_compressed, read_gqa, read_mla
from tonnage.model.headers.gguf.feedforward import read_ffns
from tonnage.model.headers.gguf.recurrent import read_deltanet, read_kda, read_mamba1, read_mamba2
from tonnage.model.headers.quote import quote
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.tensor import Tensor
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from tonnage.model.arch import Mixer
    from tonnage.model.headers.entry import TensorEntry
    from tonnage.model.headers.gguf.block import Block
    from tonnage.model.headers.gguf.facts import Facts

    Reader = Callable[[Facts, Block], Mixer]


_SHARED_NORMS = ("attn_q_norm", "attn_k_norm", "attn_sinks", "attn_gate")
_QKV = ("attn_q", "attn_k", "attn_v", "attn_qkv", "attn_output")
_FFN = (
    "ffn_up", "ffn_gate", "ffn_down", "ffn_gate_inp", "ffn_gate_inp_shexp", "ffn_gate_tid2eid", "exp_probs_b",
    "ffn_up_exps", "ffn_gate_exps", "ffn_down_exps", "ffn_gate_up_exps", "ffn_up_shexp", "ffn_gate_shexp",
    "ffn_down_shexp", "ffn_latent_down", "ffn_latent_up",
)  # fmt: skip


@value
class _Kind:
    """A mixer recognised by a tensor `mark`; `names` and whatever starts with one of `prefixes` belong to it."""

    mark: str
    read: Reader
    names: tuple[str, ...]
    prefixes: tuple[str, ...] = ()


# The first that fits decides, for attention and state space each: names of later kinds occur in earlier ones.
_ATTENTION = (
    _Kind("attn_output_a", read_compressed,
          ("attn_q_a", "attn_q_a_norm", "attn_q_b", "attn_kv", "attn_kv_a_norm", "attn_output_a", "attn_output_b",
           "attn_sinks"), ("attn_compressor_", "indexer")),
    _Kind("attn_kv_a_mqa", read_mla,
          ("attn_q", "attn_q_a", "attn_q_a_norm", "attn_q_b", "attn_kv_a_mqa", "attn_kv_a_norm", "attn_output",
           "attn_gate"), ("indexer.",)),
    _Kind("ssm_conv1d_q", read_kda, (*_QKV, "attn_gate"), ("ssm_",)),
    _Kind("ssm_ba", read_deltanet, ("attn_qkv", "attn_gate"), ("ssm_",)),
    _Kind("ssm_beta", read_deltanet, ("attn_qkv", "attn_gate"), ("ssm_",)),
    _Kind("attn_qkv", read_gqa, (*_QKV, *_SHARED_NORMS), ("indexer.",)),
    _Kind("attn_q", read_gqa, (*_QKV, *_SHARED_NORMS), ("indexer.",)),
)  # fmt: skip
_STATE_SPACE = (_Kind("ssm_x", read_mamba1, (), ("ssm_",)), _Kind("ssm_in", read_mamba2, (), ("ssm_",)))


def read_layer(facts: Facts, block: Block) -> Layer:
    """The layer that `block` describes; its norms and all tensors without a place of their own are extras.

    `UnknownKeyError` for a block whose matrices make up no known mixer.
    """
    kinds = _recognise(block)
    mixers = tuple(kind.read(facts, block) for kind in kinds)
    ffns = read_ffns(facts, block)
    claimed = _claim_ffn(block) if ffns else set()
    for kind, mixer in zip(kinds, mixers, strict=True):
        claimed |= _claim(kind, mixer, block)
    left = {name: entry for name, entry in block.tensors.items() if not _is_claimed(name, claimed)}
    if not mixers and any(len(entry.shape) > 1 for entry in left.values()):
        raise UnknownKeyError(f"GGUF block {block.number}", quote(sorted(left)), "attention, state space or delta nets")
    return Layer(mixers, ffns, tuple(plain_tensor(name, entry) for name, entry in sorted(left.items())))


def plain_tensor(name: str, entry: TensorEntry) -> Tensor:
    """`entry` as a tensor that every rank holds whole."""
    cols = entry.shape[-1] if len(entry.shape) > 1 else 1
    rows = entry.elements // cols if cols else 0
    return Tensor(name, rows, cols, kind="linear" if len(entry.shape) > 1 else "plain")


def _recognise(block: Block) -> list[_Kind]:
    found = [next((kind for kind in kinds if block.has(kind.mark)), None) for kinds in (_ATTENTION, _STATE_SPACE)]
    attention, state = found
    # A delta net owns all `ssm_` tensors of its block.
    if attention is not None and "ssm_" in attention.prefixes:
        state = None
    return [kind for kind in (attention, state) if kind is not None]


def _claim(kind: _Kind, mixer: Mixer, block: Block) -> set[str]:
    names = {name for name in block.tensors if name.startswith(kind.prefixes or "\0")} | set(kind.names)
    if kind.read is read_mla:
        # Some files hold the up projection twice, whole and in two parts; one of them belongs to the mixer.
        names |= {"attn_kv_b"} if block.has("attn_kv_b") else {"attn_k_b", "attn_v_b"}
    if isinstance(mixer, Gqa) and mixer.kv_from_layer is not None:
        names -= {"attn_k", "attn_v", "attn_k_norm"}  # stored, though another layer's are used
    return names


def _claim_ffn(block: Block) -> set[str]:
    # Arctic has a norm of this name that is not the latent's.
    return {*_FFN, "ffn_norm_exps"} if block.has("ffn_latent_down") else set(_FFN)


def _is_claimed(name: str, claimed: set[str]) -> bool:
    stem = name.removesuffix(".bias")
    base, _, number = stem.rpartition(".")
    return name in claimed or stem in claimed or (number.isdecimal() and base in claimed)
