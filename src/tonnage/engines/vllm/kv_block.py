"""The block size vLLM chooses when none is given, and how hybrid models move it."""

from __future__ import annotations

from tonnage.engines.vllm.version import Version
from tonnage.units import ceil_div

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.engines.vllm.kv_request import KvRequest
    from tonnage.engines.vllm.kv_rules import KvRules
    from tonnage.memory.kv_spec import KvSpec

DEFAULT_BLOCK = 16
CPU_BLOCK = 128  # vLLM `platforms/cpu.py`
COMPRESSED_BLOCK = 256  # DeepSeek V4's kernels take nothing else
SPARSE_LATENT_BLOCK = 64  # FlashMLA sparse and its indexer on CUDA
SPARSE_HEADS_BLOCK = 128  # MiniMax M3: one page per sparse block
FLASHMLA_BLOCK, CUTLASS_BLOCK, FLASHINFER_MLA_BLOCK = 64, 128, 32
LATENT_STATE_ALIGNMENT = 128
HOPPER, BLACKWELL = "sm_9", "sm_10"
# Until 0.17 the platform forced FlashMLA's or CUTLASS's block; since then the first backend of the order decides.
BACKEND_DECIDES = Version(0, 18)


def choose_block(specs: tuple[KvSpec, ...], request: KvRequest, version: Version) -> int:
    """Tokens per block before hybrid alignment (vLLM `platforms/*.py`)."""
    if any(spec.kind == "mla" and spec.ratio > 1 for spec in specs) or any(s.kind == "sliding_mla" for s in specs):
        return COMPRESSED_BLOCK
    if request.block_size is not None:
        return request.block_size
    if request.platform == "cpu":
        return CPU_BLOCK
    if any(spec.is_index for spec in specs):
        return _sparse_block(specs, request)
    if any(spec.kind == "mla" for spec in specs):
        return _latent_block(request, version)
    return DEFAULT_BLOCK


def _sparse_block(specs: tuple[KvSpec, ...], request: KvRequest) -> int:
    if any(spec.kind == "full" for spec in specs):
        return SPARSE_HEADS_BLOCK
    return SPARSE_LATENT_BLOCK if request.platform == "cuda" else DEFAULT_BLOCK


def _latent_block(request: KvRequest, version: Version) -> int:
    target = request.target or ""
    if request.platform != "cuda":
        return DEFAULT_BLOCK
    if target.startswith(BLACKWELL):
        return FLASHINFER_MLA_BLOCK if version >= BACKEND_DECIDES else CUTLASS_BLOCK
    return FLASHMLA_BLOCK if target.startswith(HOPPER) and version < BACKEND_DECIDES else DEFAULT_BLOCK


def align_block(block: int, specs: tuple[KvSpec, ...], rules: KvRules) -> int:
    """The block with which an attention page holds a recurrent state (vLLM `_align_hybrid_block_size`).

    `block` itself where it is large enough or the model has no states.
    """
    states = [spec.entry_bytes for spec in specs if spec.kind == "state"]
    attention = [spec for spec in specs if spec.grows and not spec.is_index]
    if not states or not attention:
        return block
    token = max(spec.entry_bytes for spec in attention)
    is_latent = any(spec.kind == "mla" for spec in attention)
    step = max(block, LATENT_STATE_ALIGNMENT) if is_latent and rules.aligns_latent_states else block
    return max(block, step * ceil_div(max(states), step * token))
