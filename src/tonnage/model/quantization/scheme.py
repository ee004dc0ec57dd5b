"""How a checkpoint stores its matrices: formats and the rules that say which tensor has which."""

from __future__ import annotations

from tonnage.value import value


@value
class Format:
    """Storage of one matrix of `rows` x `cols` (output x input) elements.

    `bits` per element. A scale of `scale_bytes` stands per tile of `tile_rows` x `tile_cols` elements; 0 means the
    whole axis (`tile_rows=1, tile_cols=0` per output channel, `0, 0` per tensor). `zero_bits` is the width of a
    packed zero point per tile (0: symmetric). `tensor_bytes` are further scalars per matrix (global and input scales).
    `column_bytes` stand per input feature (a group index). `nested` tiles share one further fp32 value (0: none).
    """

    name: str
    bits: int
    tile_rows: int = 0
    tile_cols: int = 0
    scale_bytes: int = 0
    zero_bits: int = 0
    tensor_bytes: int = 0
    column_bytes: int = 0
    nested: int = 0


@value
class Rule:
    """Tensors that have `format`; None keeps the model's own dtype. The first rule that matches decides.

    A rule with `names` holds for these modules and all below them: `layers.{0-2,5}.mlp.gate` stands for four modules,
    `**.lm_head` for a module at any depth; what comes before `layers` is left out (`names.py`).
    Without `names` the regular expression `pattern` decides, matched from the start; an empty one holds for all.
    """

    pattern: str
    format: Format | None
    names: tuple[str, ...] = ()


@value
class Scheme:
    """A checkpoint's quantisation: `method` as its configuration calls it, and ordered rules ending in a default.

    `kv_dtype` is the KV-cache type the checkpoint asks for (`fp8`), if any. `is_online` is True where the engine
    quantises a full-precision checkpoint while loading it. `source` says where the rules come from when no
    configuration file states them. `is_declared` is False where the configuration names no `quant_method`, which some
    engines take for no quantisation at all.
    """

    method: str
    rules: tuple[Rule, ...]
    kv_dtype: str | None = None
    is_online: bool = False
    source: str | None = None
    is_declared: bool = True
