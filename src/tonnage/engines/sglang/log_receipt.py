"""The receipt of one start of SGLang, from what was read of its log."""

from __future__ import annotations

from dataclasses import dataclass, field

from tonnage.engines.sglang.log_rank import RankLog
from tonnage.engines.sglang.log_settings import read_settings
from tonnage.memory.log_start import Start
from tonnage.memory.receipt import Receipt, combine_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.memory.receipt import Settings

_MOST_RANKS = 4096
_AUTO = ("kv_cache_dtype", "auto")
# Names of types in the log, and what the option of the same meaning is called.
_CACHE_TYPES = {
    "float8_e4m3fn": "fp8_e4m3",
    "float8_e4m3fnuz": "fp8_e4m3",
    "float8_e5m2": "fp8_e5m2",
    "bfloat16": "auto",
    "float16": "auto",
}


@dataclass(slots=True)
class SglangStart(Start):
    """A start with what each rank reported, by the rank's name."""

    ranks: dict[str, RankLog] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether nothing about memory has been read."""
        return not self.ranks and not self.numbers and self.refusal is None

    def rank(self, name: str) -> RankLog:
        """The account of the rank `name`, opened when it is first heard of."""
        if name not in self.ranks and len(self.ranks) >= _MOST_RANKS:
            return RankLog()
        return self.ranks.setdefault(name, RankLog())


def build_receipt(start: SglangStart, notes: tuple[str, ...]) -> Receipt:
    """What the log said about `start`, in the terms all engines share."""
    ranks = tuple(log.report(name) for name, log in sorted(start.ranks.items()))
    tokens = start.whole("tokens")
    settings = _settings(start)
    return Receipt(
        engine="sglang",
        engine_version=start.texts.get("version"),
        lines=combine_lines(ranks),
        ranks=ranks,
        kv_cache_tokens=tokens if tokens is not None else start.whole("pool_tokens"),
        max_model_len=start.whole("length") or settings.max_model_len,
        block_size=settings.block_size,
        settings=settings,
        outcome=start.outcome(start.refusal),
        refusal=start.refusal,
        notes=notes,
    )


def _settings(start: SglangStart) -> Settings:
    others = {
        "gpu": start.texts.get("card"),
        "dtype": start.texts.get("dtype"),
        "stored_quantization": start.texts.get("quantization"),
        "kv_cache_dtype": _CACHE_TYPES.get(start.texts.get("pool_dtype", "")),
        "max_model_len": start.whole("length"),
        "max_num_seqs": start.whole("requests"),
        "max_num_batched_tokens": start.whole("chunk"),
    }
    # `auto` is resolved by the time the pool's type is printed.
    asked = {name: text for name, text in start.texts_under("arguments.").items() if (name, text) != _AUTO}
    return read_settings(asked, others)
