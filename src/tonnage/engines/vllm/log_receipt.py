"""The receipt of one start of vLLM, from what was read of its log."""

from __future__ import annotations

from tonnage.engines.vllm.log_lines import rank_receipt
from tonnage.engines.vllm.log_settings import read_settings
from tonnage.memory.log_number import whole_number
from tonnage.memory.receipt import Receipt, combine_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.figure import Line
    from tonnage.memory.log_start import Start
    from tonnage.memory.receipt import RankReceipt, Settings

_BLOCK_SIZES = (8, 16, 32, 64, 128, 256)
_HALF_DIGIT = 0.0051  # the log prints the concurrency with two decimals


def build_receipt(start: Start, notes: tuple[str, ...]) -> Receipt:
    """What the log said about `start`, in the terms all engines share."""
    ranks = _ranks(start)
    totals = [rank.card_total_bytes for rank in ranks if rank.card_total_bytes is not None]
    refusal = start.refusal or (start.texts.get("failed") if not start.is_started else None)
    length = start.whole("length") or start.whole("refused_length")
    blocks, block_size = start.whole("blocks"), _block_size(start)
    return Receipt(
        engine="vllm",
        engine_version=_version(start),
        card_total_bytes=min(totals, default=None),
        budget_bytes=start.largest_bytes("budget"),
        lines=_lines(start, ranks),
        ranks=ranks,
        kv_cache_tokens=_tokens(start, blocks, block_size),
        max_concurrency_x=start.smallest("concurrency"),
        kv_needed_bytes=start.largest_bytes("needed"),
        est_max_model_len=start.whole("estimate"),
        max_model_len=length,
        num_blocks=blocks,
        block_size=block_size,
        cuda_graph_estimate_bytes=start.largest_bytes("graphs_estimate"),
        settings=_settings(start, length),
        outcome=start.outcome(refusal),
        refusal=refusal,
        notes=notes,
    )


def _ranks(start: Start) -> tuple[RankReceipt, ...]:
    estimate = start.largest("graphs_estimate")
    reports = (rank_receipt(who, amounts, estimate) for who, amounts in sorted(start.amounts.items()))
    return tuple(rank for rank in reports if rank.lines or rank.card_total_bytes is not None)


def _lines(start: Start, ranks: tuple[RankReceipt, ...]) -> tuple[Line, ...]:
    lines, refused = combine_lines(ranks), start.largest("kv_refused")
    if refused is None or any(line.name == "kv_cache" for line in lines):
        return lines
    return (*lines, refused.line("kv_cache", "left for the cache, from the refusal"))


def _tokens(start: Start, blocks: int | None, block_size: int | None) -> int | None:
    stated = start.whole("tokens")
    if stated is not None:
        return stated
    return blocks * block_size if blocks and block_size else None


def _version(start: Start) -> str | None:
    version = start.texts.get("version")
    return start.texts.get("server") if version in (None, "dev") else version


def _block_size(start: Start) -> int | None:
    """Tokens of a block: stated, or the size that makes the printed number of blocks the printed concurrency."""
    asked = whole_number(start.texts.get("arguments.block_size", ""))
    stated = start.whole("block_size") or asked
    blocks, length, concurrency = start.whole("blocks"), start.whole("length"), start.smallest("concurrency")
    if stated is not None or not blocks or not length or not concurrency:
        return stated
    fitting = [size for size in _BLOCK_SIZES if abs(blocks * size / length - concurrency) < _HALF_DIGIT]
    return fitting[0] if fitting else None


def _settings(start: Start, length: int | None) -> Settings:
    others = {
        "gpu": start.texts.get("card"),
        "max_model_len": length,
        "max_num_batched_tokens": start.whole("batched_tokens"),
        "gpu_memory_utilization": start.smallest("utilization"),
    }
    return read_settings(start.texts_under("arguments."), start.texts_under("engine."), others)
