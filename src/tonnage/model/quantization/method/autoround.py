"""Intel AutoRound and Neural Compressor (`auto-round`, `inc`)."""

from __future__ import annotations

from tonnage.model.quantization.formats import (
    BF16_BITS,
    BYTE_BITS,
    FP4_BITS,
    FP8_CHANNEL,
    INT4_GROUP,
    MXFP4,
    MXFP8,
    fp8_block,
    int_packed,
    nvfp4,
)
from tonnage.model.quantization.kept import default_rules
from tonnage.model.quantization.method.settings import group_size, objects
from tonnage.model.quantization.rules import is_plain, list_rules, search_rules
from tonnage.model.quantization.scheme import Rule, Scheme

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tonnage.model.config.keys import Config
    from tonnage.model.quantization.method.settings import Settings
    from tonnage.model.quantization.scheme import Format

KINDS = "int, fp or mx_fp"


def read_autoround(settings: Settings) -> Scheme:
    """One format for the named blocks, with exceptions by name or regular expression in `extra_config`.

    vLLM inc/config_parser.py: a key with special characters is searched for, any other is a name or its tail;
    16 bits or more mean unquantised.
    """
    quant = settings.quant
    form = _layer_format(quant, quant)
    blocks = quant.raw("block_name_to_quantize", "to_quant_block_names")
    names = blocks.split(",") if isinstance(blocks, str) else quant.strs("block_name_to_quantize") or ()
    skipped = list_rules(settings.skipped("modules_to_not_convert"), None)
    own = default_rules(form)
    rest = (own[0], *list_rules((name.strip() for name in names), form), Rule("", None)) if names else own
    return Scheme("auto-round", (*_extra(quant), *skipped, *rest))


def _extra(quant: Config) -> Iterator[Rule]:
    groups: dict[Format | None, list[str]] = {}
    for key, change in objects(quant.sub("extra_config")):
        groups.setdefault(_layer_format(change, quant), []).append(key)
    for form, keys in groups.items():
        yield from list_rules((key for key in keys if is_plain(key)), form)
        yield from search_rules((key for key in keys if not is_plain(key)), form)


def _layer_format(config: Config, base: Config) -> Format | None:
    bits = config.opt_int("bits", most=32) or base.int("bits", most=32)
    if bits >= BF16_BITS:
        return None
    kind = config.opt_str("data_type") or base.str("data_type", default="int")
    source = config if config.has("group_size") else base
    if kind.startswith("int") and bits <= BYTE_BITS:
        group = group_size(source, "group_size", default=INT4_GROUP)
        is_symmetric = config.bool("sym", default=base.bool("sym", default=True))
        return int_packed(bits, group, not is_symmetric)
    if "mx_fp" in kind and bits in (FP4_BITS, BYTE_BITS):
        return MXFP4 if bits == FP4_BITS else MXFP8
    if "fp" in kind and bits == FP4_BITS:
        return nvfp4(group_size(source, "group_size") or nvfp4().tile_cols)
    if "fp" in kind and bits == BYTE_BITS:
        return _fp8(source)
    raise config.unknown("data_type", f"{bits} bits of {kind}", KINDS)


def _fp8(source: Config) -> Format:
    if isinstance(source.raw("group_size"), (list, tuple)):
        sides = source.ints("group_size", least=1) or ()
        if len(sides) != 2:
            raise source.unknown("group_size", sides, "two numbers, rows and columns of a block")
        return fp8_block(sides[0], sides[1])
    return FP8_CHANNEL
