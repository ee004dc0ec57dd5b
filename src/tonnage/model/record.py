"""Architectures as plain JSON values and back: the schema in which the catalogue keeps models."""

from __future__ import annotations

from tonnage.errors import UnreadableError
from tonnage.kept import kept
from tonnage.model.arch import Arch, Layer, Rope, Tower
from tonnage.model.ffn.dense import Dense
from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.deltanet import DeltaNet
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.indexer import Indexer
from tonnage.model.mixer.kda import Kda
from tonnage.model.mixer.mamba import Mamba1, Mamba2
from tonnage.model.mixer.mla import Mla
from tonnage.model.quantization.scheme import Format, Rule, Scheme
from tonnage.model.tensor import Tensor
from tonnage.value import defaults, fields, is_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    Record = dict[str, Any]
    Reader = Callable[[Any], Any]


# Parts that share a place carry their kind.
KINDS: dict[str, type] = {
    "gqa": Gqa, "mla": Mla, "compressed": Compressed, "deltanet": DeltaNet, "kda": Kda, "mamba1": Mamba1,
    "mamba2": Mamba2, "dense": Dense, "moe": Moe,
}  # fmt: skip
KIND_OF = {cls: kind for kind, cls in KINDS.items()}
CLASSES_KEPT = 64  # more than there are
MAX_LAYERS = 4096  # the deepest published model has 126; a run length above this is no model


def to_record(arch: Arch) -> Record:
    """`arch` as JSON values: only what differs from the defaults, tensors as lists.

    Distinct layers stand once under `layers`; `pattern` is their order as flat pairs of index and run length.
    """
    kinds = list(dict.fromkeys(arch.layers))
    record: Record = _pack(arch)
    record["layers"] = [_pack(layer) for layer in kinds]
    record["pattern"] = _runs([kinds.index(layer) for layer in arch.layers])
    return record


def from_record(record: Mapping[str, Any]) -> Arch:
    """Inverse of `to_record`; equal layers are one object. `UnreadableError` for anything else than its output."""
    try:
        return _read_arch(dict(record))
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise UnreadableError("model record", str(error), "a record as `tonnage catalog show` prints it") from error


def _runs(order: list[int]) -> list[int]:
    pairs: list[int] = []
    for index in order:
        if pairs and pairs[-2] == index:
            pairs[-1] += 1
        else:
            pairs += [index, 1]
    return pairs


def _pack(value: Any) -> Any:
    if isinstance(value, Tensor):
        return _pack_tensor(value)
    if isinstance(value, tuple):
        return [_pack(item) for item in value]
    if not is_value(value):
        return value
    cls = type(value)
    packed = {"kind": KIND_OF[cls]} if cls in KIND_OF else {}
    pairs = ((name, getattr(value, name)) for name in fields(cls))
    return packed | {name: _pack(item) for name, item in pairs if not _is_default(cls, name, item)}


def _is_default(cls: type, name: str, item: object) -> bool:
    known = defaults(cls)
    return name in known and item == known[name]


def _pack_tensor(tensor: Tensor) -> list[Any]:
    """All fields in order, without the defaults at the end."""
    items = [(name, getattr(tensor, name)) for name in fields(Tensor)]
    while _is_default(Tensor, *items[-1]):
        items.pop()
    return [item for _, item in items]


def _read_arch(record: Record) -> Arch:
    kinds, pattern = [_read_layer(layer) for layer in record.pop("layers")], record.pop("pattern")
    counts = pattern[1::2]
    if len(pattern) != 2 * len(counts) or sum(counts) > MAX_LAYERS or min(pattern, default=0) < 0:
        raise ValueError(f"pattern {pattern[:8]}")
    order = [kinds[index] for index, count in zip(pattern[::2], counts, strict=True) for _ in range(count)]
    found: Arch = _read(Arch, record | {"layers": tuple(order)})
    return found


def _read_layer(record: Record) -> Layer:
    layer: Layer = _read(Layer, record)
    return layer


def _read(cls: type, record: Mapping[str, Any]) -> Any:
    readers = _readers(cls)
    return cls(**{key: readers[key](value) for key, value in record.items()})


def _read_kind(record: Record) -> Any:
    return _read(KINDS[record["kind"]], {key: value for key, value in record.items() if key != "kind"})


def _read_tensor(items: list[Any]) -> Tensor:
    readers = tuple(_readers(Tensor).values())
    return Tensor(*(reader(item) for reader, item in zip(readers[: len(items)], items, strict=True)))


def _many(reader: Reader) -> Reader:
    def read(items: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(reader(item) for item in items)

    return read


def _one(cls: type) -> Reader:
    def read(value: Any) -> Any:
        return None if value is None else _read(cls, value)

    return read


def _scalar(annotation: str) -> Reader:
    """Passes values of the annotated type: whole numbers (flags are none), flags, texts, None where allowed."""
    words = annotation.split(" | ")
    kinds: tuple[type, ...] = tuple(t for t in (int, bool) if t.__name__ in words) or (str,)
    if "None" in words:
        kinds += (type(None),)

    def read(value: Any) -> Any:
        if type(value) not in kinds or (type(value) is int and value < 0):
            raise TypeError(f"{value!r} where {annotation} belongs")
        return value

    return read


def _same(value: Any) -> Any:
    return value


@kept(CLASSES_KEPT)
def _readers(cls: type) -> dict[str, Reader]:
    """How each field of a class is read."""
    tensors, texts, layers = _many(_read_tensor), _many(_scalar("str")), _many(_read_layer)
    nested: dict[type, dict[str, Reader]] = {
        Arch: {
            "architectures": texts, "layers": _same, "norms": tensors, "outer": tensors, "draft": layers,
            "towers": _many(_one(Tower)), "ropes": _many(_one(Rope)), "scheme": _one(Scheme), "notes": texts,
        },
        Layer: {"mixers": _many(_read_kind), "ffns": _many(_read_kind), "extras": tensors},
        Tower: {"tensors": tensors},
        Scheme: {"rules": _many(_one(Rule))},
        Rule: {"format": _one(Format), "names": texts},
        **{mixer: {"indexer": _one(Indexer)} for mixer in (Gqa, Mla, Compressed)},
    }  # fmt: skip
    own = nested.get(cls, {})
    return {name: own.get(name) or _scalar(cls.__annotations__[name]) for name in fields(cls)}
