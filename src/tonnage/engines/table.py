"""Engines by name; their rules are imported only when asked for."""

from __future__ import annotations

from tonnage.errors import UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.catalog.accelerator import Accelerator
    from tonnage.memory.engine import Engine

NAMES = ("vllm", "sglang", "llamacpp")


def make_engine(name: str, version: str | None, card: Accelerator) -> Engine:
    """The rules of an engine version on a card; UsageError for an unknown engine or a text that is no version."""
    key = name.strip().lower().replace(".", "").replace("-", "")
    if key == "vllm":
        from tonnage.engines.vllm.engine import make_vllm

        return make_vllm(version, card)
    if key == "sglang":
        from tonnage.engines.sglang.engine import make_sglang

        return make_sglang(version, card)
    if key == "llamacpp":
        from tonnage.engines.llamacpp.engine import make_llamacpp

        return make_llamacpp(version, card)
    raise UsageError("engine", name, f"one of {', '.join(NAMES)}")
