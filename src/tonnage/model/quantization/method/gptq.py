"""GPTQ and AWQ: packed integers with 16-bit scales per group of input features."""

from __future__ import annotations

from tonnage.model.quantization.formats import INT4_BITS, INT4_GROUP, int_packed
from tonnage.model.quantization.kept import OUTER, default_rules
from tonnage.model.quantization.method.settings import group_size, objects
from tonnage.model.quantization.rules import list_rules, substring_rules
from tonnage.model.quantization.scheme import Rule, Scheme

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.model.config.keys import Config
    from tonnage.model.quantization.method.settings import Settings
    from tonnage.model.quantization.scheme import Format

GPTQ_BITS = (2, 3, 4, 8)
MODULES_MAX = 4096


def read_gptq(settings: Settings) -> Scheme:
    """`dynamic` overrides by regular expression, then the listed modules or all linear ones.

    vLLM utils/gptq_utils.py: a `-:` key leaves modules as they are, `+:` or no mark changes bits or group size;
    `modules_in_block_to_quantize` names what is quantised.
    """
    quant = settings.quant
    form = _gptq_format(quant, quant)
    inside = tuple(_flat(quant, "modules_in_block_to_quantize"))
    head = (Rule("", form, OUTER[:1]),) if quant.bool("lm_head") else ()
    rest = (*list_rules(inside, form), Rule("", None)) if inside else default_rules(form)
    return Scheme("gptq", (*_dynamic(quant), *head, *rest))


def _dynamic(quant: Config) -> Iterator[Rule]:
    for key, change in objects(quant.sub("dynamic")):
        if key.startswith("-:"):
            yield from list_rules((f"re:{key.removeprefix('-:')}",), None)
        else:
            yield from list_rules((f"re:{key.removeprefix('+:')}",), _gptq_format(change, quant))


def _gptq_format(config: Config, base: Config) -> Format:
    bits = config.opt_int("bits", most=8) or base.int("bits", "w_bit", most=8)
    if bits not in GPTQ_BITS:
        raise config.unknown("bits", bits, f"one of {', '.join(map(str, GPTQ_BITS))}")
    has_own = config.has("group_size")
    group = group_size(config if has_own else base, "group_size", "q_group_size", default=INT4_GROUP)
    is_symmetric = config.bool("sym", default=base.bool("sym", default=True))
    # per-channel scales make the order of the columns irrelevant, so there is no index to store
    is_indexed = config.bool("desc_act", default=base.bool("desc_act")) and group is not None
    return int_packed(bits, group, not is_symmetric, is_indexed)


def _flat(quant: Config, key: str) -> Iterator[str]:
    """Names of a list or of a list of lists."""
    for item in quant.list(key):
        names = item if isinstance(item, (list, tuple)) else (item,)
        for name in names[:MODULES_MAX]:
            if not isinstance(name, str):
                raise quant.unknown(key, name, "names of modules")
            yield name


def read_awq(settings: Settings) -> Scheme:
    """Every linear module of the decoder except names that contain a listed word (vLLM auto_awq.py)."""
    quant = settings.quant
    bits = quant.opt_int("bits", "w_bit", most=8) or INT4_BITS
    if bits not in GPTQ_BITS:
        raise quant.unknown("bits", bits, f"one of {', '.join(map(str, GPTQ_BITS))}")
    group = group_size(quant, "group_size", "q_group_size", default=INT4_GROUP)
    form = int_packed(bits, group, quant.bool("zero_point", default=True))
    head = (Rule("", form, OUTER[:1]),) if quant.bool("lm_head") else ()
    skipped = substring_rules(quant.strs("modules_to_not_convert") or (), None)
    return Scheme("awq", (*skipped, *head, *default_rules(form)))
