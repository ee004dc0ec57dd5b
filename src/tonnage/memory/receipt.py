"""What an engine's start-up log says, in the lines of the ledger."""

from __future__ import annotations

from tonnage.value import fields, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, Literal

    from tonnage.figure import Line, LineName

    Outcome = Literal["started", "refused", "unknown"]

_NO_QUESTION = ("dtype", "stored_quantization")


@value
class Settings:
    """What the log says the engine was asked to do, with the field names of a question; None is not said.

    `quantization` was asked for at the start, `stored_quantization` is what the engine found in the checkpoint.
    """

    model: str | None = None
    gpu: str | None = None
    gpu_count: int | None = None
    tp: int | None = None
    pp: int | None = None
    dp: int | None = None
    ep: bool | None = None
    dcp: int | None = None
    dp_attention: bool | None = None
    dtype: str | None = None
    quantization: str | None = None
    stored_quantization: str | None = None
    kv_cache_dtype: str | None = None
    max_model_len: int | None = None
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    block_size: int | None = None
    gpu_memory_utilization: float | None = None
    mem_fraction_static: float | None = None
    enforce_eager: bool | None = None
    cpu_offload_gb: float | None = None
    kv_cache_memory_bytes: int | None = None

    def record(self) -> dict[str, Any]:
        """Every field the log names."""
        values = {name: getattr(self, name) for name in fields(Settings)}
        return {key: value for key, value in values.items() if value is not None}

    def question(self) -> dict[str, Any]:
        """The fields a question may hold."""
        return {key: value for key, value in self.record().items() if key not in _NO_QUESTION}


@value
class RankReceipt:
    """What one worker or device reported; `name` is the log's own, empty where the log names none."""

    name: str
    lines: tuple[Line, ...]
    card_total_bytes: int | None = None


@value
class Receipt:
    """One start of an engine as its log tells it; None is not said.

    `lines` are those of the rank that decides, `ranks` all of them. `budget_bytes` is what the engine allowed itself,
    `cuda_graph_estimate_bytes` what it set aside for graphs before it captured them. `kv_needed_bytes` and
    `est_max_model_len` come from a refusal, whose text is `refusal`. `max_model_len` is in tokens.
    """

    engine: str
    engine_version: str | None = None
    card_total_bytes: int | None = None
    budget_bytes: int | None = None
    lines: tuple[Line, ...] = ()
    ranks: tuple[RankReceipt, ...] = ()
    kv_cache_tokens: int | None = None
    max_concurrency_x: float | None = None
    kv_needed_bytes: int | None = None
    est_max_model_len: int | None = None
    max_model_len: int | None = None
    num_blocks: int | None = None
    block_size: int | None = None
    cuda_graph_estimate_bytes: int | None = None
    settings: Settings = Settings()
    outcome: Outcome = "unknown"
    refusal: str | None = None
    notes: tuple[str, ...] = ()

    def bytes_of(self, name: LineName) -> int | None:
        """Bytes of the line `name`; None when the log does not report it."""
        sizes = [line.bytes for line in self.lines if line.name == name]
        return sum(sizes) if sizes else None


def combine_lines(ranks: Iterable[RankReceipt]) -> tuple[Line, ...]:
    """One line of each name over all ranks: the smallest KV cache, which decides, and the largest of the others.

    Ranks print different parts of their accounts, so no single rank need have all of them.
    """
    lines = [line for rank in ranks for line in rank.lines]
    names = dict.fromkeys(line.name for line in lines)
    return tuple(_deciding(name, [line for line in lines if line.name == name]) for name in names)


def _deciding(name: LineName, lines: list[Line]) -> Line:
    return min(lines, key=lambda line: line.bytes) if name == "kv_cache" else max(lines, key=lambda line: line.bytes)
