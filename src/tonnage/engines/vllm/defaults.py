"""vLLM's defaults for tokens and requests per step, and for steps in flight.

Sources: vLLM `engine/arg_utils.py` (get_batch_defaults, _set_default_max_num_seqs_and_batched_tokens_args),
`config/vllm.py` (max_concurrent_batches), releases 0.6.6 to 0.32.
"""

from __future__ import annotations

from tonnage.engines.vllm.version import FIRST_V1, Version
from tonnage.units import GIB
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    from tonnage.engines.vllm.kv_request import Platform

    Usage = Literal["server", "offline"]


LARGE_CARD, LARGEST_CARD = 70 * GIB, 160 * GIB
# Cards that get small defaults although they are large: the A100, slower with large batches (vLLM PR 17885), and the
# integrated ones, whose driver does not tell their unified memory, so that vLLM assumes none (vLLM PR 57378).
SMALL_CARD_NAMES = {"a100": Version(0, 9), "gb10": FIRST_V1, "thor": FIRST_V1}
FEWER_ON_SMALL_CARDS = Version(0, 8, 4)
THIRD_TIER = Version(0, 28)
CLAMPED = Version(0, 11)
RAISED_FOR_MEDIA = Version(0, 22)
CHUNKING_LENGTH = 32768  # V0 chunked prefills only above this length
V0_TOKENS, V0_SEQS = 2048, 256
CPU_SERVER, CPU_OFFLINE = (2048, 128), (4096, 256)
ASYNC_DEFAULT = Version(0, 14)
RUNNER_V2 = Version(0, 30)  # for all models; before, for a few


@value
class Device:
    """The card as the engine sees it: total memory in bytes and its driver name."""

    platform: Platform
    memory_bytes: int
    name: str


@value
class Asked:
    """What the user fixed; None leaves the default. `world` is TP x PP, which scales the defaults on CPUs.

    `media_tokens` are those of the largest picture or film that the model must see in one step, None for most models.
    """

    max_model_len: int
    max_num_batched_tokens: int | None = None
    max_num_seqs: int | None = None
    usage: Usage = "server"
    world: int = 1
    media_tokens: int | None = None


@value
class BatchLimits:
    """Tokens and requests of one step."""

    max_num_batched_tokens: int
    max_num_seqs: int


# Tokens for the API server, tokens for the offline class, requests.
SMALL, LARGE, LARGEST = (2048, 8192, 256), (8192, 16384, 1024), (16384, 16384, 1024)
SMALL_AT_FIRST = (2048, 8192, 1024)  # the first V1 releases admitted as many on every card (vLLM PR 16158)


def batch_limits(version: Version, device: Device, asked: Asked) -> BatchLimits:
    """The limits of one engine, with this version's defaults where nothing was asked."""
    if version < FIRST_V1:
        return _v0_limits(asked)
    tokens, seqs = _defaults(version, device, asked)
    seqs = asked.max_num_seqs or seqs
    if asked.max_num_batched_tokens is not None:
        tokens = asked.max_num_batched_tokens
    elif version >= CLAMPED:
        media = asked.media_tokens if version >= RAISED_FOR_MEDIA else None
        tokens = min(max(tokens, media or 0), seqs * asked.max_model_len)
    if asked.max_num_seqs is None and version >= CLAMPED:
        seqs = min(seqs, tokens)
    return BatchLimits(tokens, seqs)


def _v0_limits(asked: Asked) -> BatchLimits:
    whole = V0_TOKENS if asked.max_model_len > CHUNKING_LENGTH else max(asked.max_model_len, V0_TOKENS)
    return BatchLimits(asked.max_num_batched_tokens or whole, asked.max_num_seqs or V0_SEQS)


def _defaults(version: Version, device: Device, asked: Asked) -> tuple[int, int]:
    if device.platform == "cpu":
        tokens, seqs = CPU_OFFLINE if asked.usage == "offline" else CPU_SERVER
        return tokens * asked.world, seqs * asked.world
    server, offline, seqs = _tier(version, device)
    return (offline if asked.usage == "offline" else server), seqs


def _tier(version: Version, device: Device) -> tuple[int, int, int]:
    if version >= THIRD_TIER and device.memory_bytes >= LARGEST_CARD:
        return LARGEST
    name = device.name.lower()
    is_excluded = any(part in name and version >= first for part, first in SMALL_CARD_NAMES.items())
    if device.memory_bytes >= LARGE_CARD and not is_excluded:
        return LARGE
    return SMALL if version >= FEWER_ON_SMALL_CARDS else SMALL_AT_FIRST


def concurrent_batches(version: Version, pp: int, is_async: bool | None = None) -> int:
    """Steps in flight at once: one per pipeline stage, one more where scheduling runs ahead of the model.

    `is_async` None is the version's default; on CPUs and with drafts other than EAGLE's callers pass False.
    """
    runs_ahead = version >= ASYNC_DEFAULT if is_async is None else is_async
    if not runs_ahead:
        return pp
    if pp > 1:
        return pp + 1 if version >= RUNNER_V2 else pp
    return 2
