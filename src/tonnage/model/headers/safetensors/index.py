"""`model.safetensors.index.json`: which file holds which tensor."""

from __future__ import annotations

from tonnage.errors import UnreadableError
from tonnage.model.document import parse_object
from tonnage.model.headers.quote import quote
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tonnage.model.headers.entry import TensorEntry

SUFFIX = ".safetensors"


@value
class Index:
    """`weight_map` from tensor to file; `total_bytes` as the index claims (None: not said), often out of date."""

    file: str
    weight_map: dict[str, str]
    total_bytes: int | None

    @property
    def shards(self) -> tuple[str, ...]:
        """The files named, each once, in order of name."""
        return tuple(sorted(set(self.weight_map.values())))


def parse_index(data: bytes, file: str) -> Index:
    """The index in the JSON text `data`; `UnreadableError` if it is broken or names files outside its folder."""
    document = parse_object(data, file)
    weight_map = document.get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        raise UnreadableError(f"{file}: weight_map", quote(weight_map), "an object from tensor to file name")
    names = {name: name for name in map(_checked, weight_map.values(), [file] * len(weight_map))}
    return Index(file, {tensor: names[shard] for tensor, shard in weight_map.items()}, _total_bytes(document, file))


def check_present(index: Index, files: tuple[str, ...]) -> None:
    """Refuse an index that names a shard which is not among `files`."""
    missing = sorted(set(index.shards) - set(files))
    if missing:
        seen = f"{len(missing)} of {len(index.shards)} files missing, first {quote(missing[0])}"
        raise UnreadableError(index.file, seen, "every file of its weight_map")


def select(index: Index, shards: dict[str, tuple[TensorEntry, ...]]) -> tuple[TensorEntry, ...]:
    """The tensors of all `shards` by file name: where two files hold one name, the copy that the index points to.

    `UnreadableError` if the index points to a tensor its file does not hold.
    """
    chosen: dict[str, TensorEntry] = {}
    for shard, entries in sorted(shards.items()):
        for entry in entries:
            if index.weight_map.get(entry.name, shard) == shard:
                chosen[entry.name] = entry
    missing = index.weight_map.keys() - chosen.keys()
    if missing:
        name = min(missing)
        seen = f"no tensor {quote(name)} in {quote(index.weight_map[name])}"
        raise UnreadableError(index.file, seen, "tensors that its files hold")
    return tuple(chosen.values())


def _checked(shard: object, file: str) -> str:
    # A separator or drive letter would leave the folder; dots alone cannot, because of the suffix.
    if not isinstance(shard, str) or not shard.endswith(SUFFIX) or set(shard) & set("/\\:\0"):
        raise UnreadableError(f"{file}: weight_map", quote(shard), f"names of {SUFFIX} files in the same folder")
    return shard


def _total_bytes(document: dict[str, object], file: str) -> int | None:
    metadata = document.get("metadata")
    total = metadata.get("total_size") if isinstance(metadata, dict) else None
    if isinstance(total, float) and total.is_integer():
        total = int(total)  # written by tools that add up floats
    if total is None or (type(total) is int and total >= 0):
        return total
    raise UnreadableError(f"{file}: total_size", quote(total), "a number of bytes")
