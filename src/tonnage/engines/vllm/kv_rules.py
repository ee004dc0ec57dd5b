"""What changed from release to release in how vLLM plans its cache.

Read in the released packages (vLLM `v1/core/kv_cache_utils.py`, `v1/kv_cache_interface.py`, `config/vllm.py`),
each switch bisected over them: 0.8.5, 0.9.2, 0.10.0, 0.10.2, 0.11 to 0.18, 0.20 to 0.31 and 0.32.
"""

from __future__ import annotations

from tonnage.engines.vllm.version import FIRST_V1, Version
from tonnage.kept import kept
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    StateMode = Literal["none", "align", "all"]
    Needed = Literal["layers", "first_group", "groups", "pool"]
    Packing = Literal["tuples", "pages", "widest"]
    Concurrency = Literal["tokens", "bytes", "blocks"]


VERSIONS_KEPT = 256
HYBRID_MANAGER = Version(0, 9)
CHUNKED_IN_HYBRID = Version(0, 14)
GROUP_STRETCH, GROUP_STRETCH_WIDER = Version(0, 12), Version(0, 18)
GROUPED_CHECK, FULL_CHECK, POOL_CHECK = Version(0, 14), Version(0, 20), Version(0, 29)
STAGE_CHECK = Version(0, 17)
PACKED_BY_PAGE, PACKED_BY_GROUP, PACKED_BUCKETS = Version(0, 23), Version(0, 27), Version(0, 29)
SUMMED_CONCURRENCY = Version(0, 27)
DERIVED_TOKENS = Version(0, 21)
NULL_BLOCK = Version(0, 29)
IN_FLIGHT_BATCHES = Version(0, 26)
DRAFT_STATES = Version(0, 15)
# Prefix caching of models with recurrent states: until 0.25 unsupported, in 0.26 and 0.27 only when asked for
# (`engine/arg_utils.py` _set_default_chunked_prefill_and_prefix_caching_args).
STATES_CACHED = Version(0, 28)
CHECKPOINTS = {"kda": Version(0, 29), "mamba2": Version(0, 32)}
LATENT_STATE_ALIGNMENT = Version(0, 27)


@value
class KvRules:
    """The rules of one release.

    `stretch` (n, d): groups take the larger layer count when it is below n/d of the smaller one; None never.
    `needed`: what the start-up check counts: each layer by itself, the first group only, all groups (compressed
    attention in layer tuples), or blocks of the pool. `checks_whole_model`: one stage against the layers of all stages.
    `packing`: bytes of a block of compressed attention: layer tuples, slots per page size, or the widest group.
    `pads_windows`: window pages grow to a page size of the compressed cache. `packs_buckets`: the newest grouping.
    `concurrency`: from tokens, from bytes over the first group's page, or blocks summed over groups.
    `derives_tokens`: logged tokens are concurrency x length. `checkpointed`: scans of which prefix caching keeps one
    more state, saved inside a prefill.
    """

    is_v0: bool
    has_hybrid_manager: bool
    manages_chunks: bool
    stretch: tuple[int, int] | None
    needed: Needed
    checks_whole_model: bool
    packing: Packing
    pads_windows: bool
    packs_buckets: bool
    concurrency: Concurrency
    derives_tokens: bool
    reserves_null_block: bool
    counts_batches: bool
    counts_drafted_states: bool
    checkpointed: tuple[str, ...]
    state_mode: StateMode
    aligns_latent_states: bool


STRETCH, STRETCH_WIDER = (5, 4), (3, 2)  # 1.25 and 1.5


@kept(VERSIONS_KEPT)
def kv_rules(version: Version) -> KvRules:
    """The rules of `version`."""
    return KvRules(
        is_v0=version < FIRST_V1,
        has_hybrid_manager=version >= HYBRID_MANAGER,
        manages_chunks=version >= CHUNKED_IN_HYBRID,
        stretch=_stretch(version),
        needed=_needed(version),
        checks_whole_model=GROUPED_CHECK <= version < STAGE_CHECK,
        packing=_packing(version),
        pads_windows=version < PACKED_BY_GROUP,
        packs_buckets=version >= PACKED_BUCKETS,
        concurrency=_concurrency(version),
        derives_tokens=version >= DERIVED_TOKENS,
        reserves_null_block=version >= NULL_BLOCK,
        counts_batches=version >= IN_FLIGHT_BATCHES,
        counts_drafted_states=version >= DRAFT_STATES,
        checkpointed=tuple(scan for scan, first in CHECKPOINTS.items() if version >= first),
        state_mode="align" if version >= STATES_CACHED else "none",
        aligns_latent_states=version >= LATENT_STATE_ALIGNMENT,
    )


def _stretch(version: Version) -> tuple[int, int] | None:
    if version < GROUP_STRETCH:
        return None
    return STRETCH if version < GROUP_STRETCH_WIDER else STRETCH_WIDER


def _needed(version: Version) -> Needed:
    if version < GROUPED_CHECK:
        return "layers"
    if version < FULL_CHECK:
        return "first_group"
    return "groups" if version < POOL_CHECK else "pool"


def _packing(version: Version) -> Packing:
    if version < PACKED_BY_PAGE:
        return "tuples"
    return "pages" if version < PACKED_BY_GROUP else "widest"


def _concurrency(version: Version) -> Concurrency:
    if version < HYBRID_MANAGER:
        return "tokens"
    return "bytes" if version < SUMMED_CONCURRENCY else "blocks"
