"""The receipt of one start of llama.cpp, from what was read of its log."""

from __future__ import annotations

from dataclasses import dataclass, field

from tonnage.engines.llamacpp.log_device import DeviceLog, is_host
from tonnage.memory.log_start import Start
from tonnage.memory.receipt import Receipt, Settings

_MOST_DEVICES = 256


@dataclass(slots=True)
class LlamaStart(Start):
    """A start with what lies on each device, by the device's name; `is_draft` while a draft model is set up."""

    devices: dict[str, DeviceLog] = field(default_factory=dict)
    cards: dict[str, str] = field(default_factory=dict)
    is_draft: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing about memory has been read."""
        return not self.devices and self.refusal is None

    def device(self, name: str) -> DeviceLog:
        """The account of the device `name`, opened when it is first heard of."""
        if name not in self.devices and len(self.devices) >= _MOST_DEVICES:
            return DeviceLog()
        return self.devices.setdefault(name, DeviceLog())


def build_receipt(start: LlamaStart, notes: tuple[str, ...]) -> Receipt:
    """What the log said about `start`; the lines are those of the fullest card, or of the host where none is used."""
    ranks = tuple(log.report(name) for name, log in sorted(start.devices.items()))
    busiest = _busiest(start)
    lines = next((rank.lines for rank in ranks if rank.name == busiest), ())
    length = start.last("sequence") or start.last("context")
    return Receipt(
        engine="llamacpp",
        engine_version=start.texts.get("version"),
        card_total_bytes=start.devices[busiest].card_total_bytes if busiest else None,
        lines=lines,
        ranks=ranks,
        kv_cache_tokens=start.last("cells") or start.last("context"),
        max_model_len=length,
        settings=_settings(start, length),
        outcome=start.outcome(start.refusal),
        refusal=start.refusal,
        notes=notes if busiest is None else (*notes, f"the lines are those of {busiest}"),
    )


def _busiest(start: LlamaStart) -> str | None:
    names = [name for name in start.devices if not is_host(name)] or list(start.devices)
    return max(names, key=lambda name: start.devices[name].total_bytes(), default=None)


def _settings(start: LlamaStart, length: int | None) -> Settings:
    card = next((start.cards[name] for name in sorted(start.cards)), None)
    used = [name for name in start.devices if not is_host(name)]
    return Settings(
        model=start.texts.get("path") or start.texts.get("name"),
        gpu=card,
        gpu_count=len(used) or None,
        stored_quantization=start.texts.get("file_type"),
        kv_cache_dtype=start.texts.get("types"),
        max_model_len=length,
        max_num_seqs=start.last("sequences"),
        max_num_batched_tokens=start.last("batch"),
    )
