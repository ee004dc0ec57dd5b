"""Methods named after the OCP formats: gpt-oss's `mxfp4`, MiniMax's `mxfp8`, and `fp_quant`."""

from __future__ import annotations

from tonnage.model.quantization.formats import MXFP4, MXFP8, NVFP4
from tonnage.model.quantization.kept import default_rules
from tonnage.model.quantization.rules import list_rules
from tonnage.model.quantization.scheme import Rule, Scheme

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.quantization.method.settings import Settings


def read_mxfp4(settings: Settings) -> Scheme:
    """Only routed experts are quantised; other linear modules stay as they are (vLLM mxfp4.py)."""
    skipped = list_rules(settings.skipped("modules_to_not_convert", "ignored_layers"), None)
    return Scheme("mxfp4", (*skipped, Rule("", MXFP4, ("**.experts",)), Rule("", None)))


def read_mxfp8(settings: Settings) -> Scheme:
    """Every linear module except the listed ones (vLLM modelopt.py ModelOptMxFp8Config)."""
    skipped = settings.skipped("ignored_layers", "modules_to_not_convert", "exclude_modules", "ignore")
    return Scheme("mxfp8", (*list_rules(skipped, None), *default_rules(MXFP8)))


def read_fp_quant(settings: Settings) -> Scheme:
    """MXFP4 or NVFP4 of rotated weights (vLLM fp_quant.py, `forward_dtype`)."""
    quant = settings.quant
    kind = quant.str("forward_dtype", default="mxfp4")
    if kind not in ("mxfp4", "nvfp4"):
        raise quant.unknown("forward_dtype", kind, "mxfp4 or nvfp4")
    skipped = list_rules(settings.skipped("modules_to_not_convert"), None)
    return Scheme("fp_quant", (*skipped, *default_rules(MXFP4 if kind == "mxfp4" else NVFP4)))
