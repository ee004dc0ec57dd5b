"""Layouts and formats that llama.cpp does not run."""

from __future__ import annotations

from tonnage.errors import LayoutError, UnsupportedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.layout.layout import Layout
    from tonnage.layout.parts import Parts

# Formats that GGUF files hold; conversion keeps the MXFP4 of gpt-oss.
KEPT_METHODS = ("gguf", "mxfp4")


def find_refusal(parts: Parts, layout: Layout) -> LayoutError | None:
    """The first rule the layout or the format breaks; None when it is accepted."""
    scheme = parts.arch.scheme
    if scheme is not None and scheme.method not in KEPT_METHODS:
        return UnsupportedError(scheme.method, "safetensors", "a GGUF file, or a precision such as Q8_0 or Q4_K_M")
    if layout.tp > 1 or layout.dcp > 1:
        return LayoutError("tp", layout.tp, f"pp {layout.world}: llama.cpp splits layers over cards (-sm layer)")
    if layout.dp > 1 or layout.ep:
        return LayoutError("dp" if layout.dp > 1 else "ep", layout.words, "one replica, split by layers")
    return None
