"""The one entry that fetches model files."""

from __future__ import annotations

from functools import partial

from tonnage.errors import UnreadableError
from tonnage.model.document import parse_object
from tonnage.model.headers.blob import Blob
from tonnage.model.headers.gguf.header import read_header as read_gguf_header
from tonnage.model.headers.gguf.split import join_splits, split_names
from tonnage.model.headers.quote import quote
from tonnage.model.headers.safetensors.header import read_header as read_safetensors_header
from tonnage.model.headers.safetensors.index import check_present, parse_index, select
from tonnage.seams.model_files import CONFIG, GGUF, QUANT_CONFIG, SAFETENSORS, pick_files
from tonnage.seams.place import open_place
from tonnage.value import value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tonnage.model.headers.entry import TensorEntry
    from tonnage.model.headers.gguf.header import GgufHeader, Metadata
    from tonnage.model.headers.safetensors.index import Index
    from tonnage.seams.model_files import ModelFiles
    from tonnage.seams.store import Opener, Store

MAX_CONFIG_BYTES = 8 * 2**20  # the longest published quantisation lists take 60 kB
MAX_INDEX_BYTES = 128 * 2**20  # 500,000 tensors of an unmerged mixture of experts take about 60 MB
MAX_SHOWN = 8


@value
class Source:
    """What the files of a model say; None where there is no such file.

    `entries` are all tensors of the checkpoint, `origin` names where they were read, `notes` are one-line remarks.
    """

    config: dict[str, object] | None
    quant_config: dict[str, object] | None
    entries: tuple[TensorEntry, ...] | None
    gguf_metadata: Metadata | None
    origin: str
    notes: tuple[str, ...] = ()


def read_source(place: str, opener: Opener = open_place) -> Source:
    """Read configuration and tensor headers of a model; tensor data is never read.

    `place` is a `config.json`, a folder, a `.gguf` file (any part of a split one), a `.safetensors` file, or
    `hf:ORG/NAME[@REVISION]`. `UsageError` for names that do not exist, `UnreadableError` for files that are broken or
    contradict each other, `WorldError` for the network.
    """
    opened = opener(place)
    if opened.name is None:
        return _read_all(opened.store)
    return _read_one(opened.store, opened.name)


def _read_one(store: Store, name: str) -> Source:
    origin = f"{store.origin.rstrip('/')}/{name}"
    if name.endswith(GGUF):
        metadata, entries = _read_gguf(store, name)
        return Source(None, None, entries, metadata, origin)
    if name.endswith(SAFETENSORS):
        return Source(None, None, _read_shard(store, name), None, origin)
    if not name.endswith(".json"):
        raise UnreadableError(quote(name), "not a model file", "a folder, config.json, .safetensors or .gguf")
    # The quantisation file belongs to a folder's config.json, not to a configuration stored under another name.
    has_quant = name == CONFIG and QUANT_CONFIG in store.names()
    return Source(_read_json(store, name), _read_json(store, QUANT_CONFIG) if has_quant else None, None, None, origin)


def _read_all(store: Store) -> Source:
    files = pick_files(store.names())
    config = _read_json(store, files.config) if files.config else None
    quant_config = _read_json(store, files.quant_config) if files.quant_config else None
    if files.index or files.shards:
        entries, notes = _read_shards(store, files)
        return Source(config, quant_config, entries, None, store.origin, notes)
    if files.ggufs:
        metadata, gguf_entries = _read_gguf(store, _only_gguf(files.ggufs, store.origin))
        return Source(config, quant_config, gguf_entries, metadata, store.origin)
    if config is None:
        raise UnreadableError(store.origin, "no model files", "config.json, .safetensors or .gguf files")
    return Source(config, quant_config, None, None, store.origin)


def _read_json(store: Store, name: str) -> dict[str, object]:
    return parse_object(_read_whole(store, name, MAX_CONFIG_BYTES), name)


def _read_whole(store: Store, name: str, max_bytes: int) -> bytes:
    size = store.size(name)
    if size > max_bytes:
        raise UnreadableError(name, f"{size} bytes", f"at most {max_bytes}")
    return _blob(store, name).take(0, size)


def _blob(store: Store, name: str) -> Blob:
    return Blob(name, store.size(name), partial(store.read, name))


def _read_shards(store: Store, files: ModelFiles) -> tuple[tuple[TensorEntry, ...], tuple[str, ...]]:
    if files.index is None:
        return _join(store, files.shards), ()
    index = parse_index(_read_whole(store, files.index, MAX_INDEX_BYTES), files.index)
    check_present(index, store.names())
    entries = select(index, dict(zip(index.shards, store.each(partial(_read_shard, store), index.shards), strict=True)))
    return entries, _notes(index, entries)


def _join(store: Store, shards: Sequence[str]) -> tuple[TensorEntry, ...]:
    entries = tuple(entry for shard in store.each(partial(_read_shard, store), shards) for entry in shard)
    if len({entry.name for entry in entries}) < len(entries):
        seen = f"{len(shards)} safetensors files without index share tensors"
        raise UnreadableError(store.origin, seen, "the files of one model, or an index")
    return entries


def _notes(index: Index, entries: tuple[TensorEntry, ...]) -> tuple[str, ...]:
    stored = sum(entry.stored_bytes for entry in entries)
    if index.total_bytes in (None, stored):
        return ()
    return (f"{index.file} says {index.total_bytes} bytes, the headers of its files say {stored}",)


def _read_shard(store: Store, name: str) -> tuple[TensorEntry, ...]:
    return read_safetensors_header(_blob(store, name))


def _only_gguf(names: tuple[str, ...], origin: str) -> str:
    models = {split_names(name)[0] for name in names}
    if len(models) > 1:
        shown = ", ".join(sorted(models)[:MAX_SHOWN])
        raise UnreadableError(origin, f"{len(models)} GGUF models", f"one of them by its name: {shown}")
    return models.pop()


def _read_gguf(store: Store, name: str) -> tuple[Metadata, tuple[TensorEntry, ...]]:
    names = split_names(name)
    missing = sorted(set(names) - set(store.names())) if len(names) > 1 else []
    if missing:
        seen = f"{len(missing)} of {len(names)} parts missing, first {missing[0]}"
        raise UnreadableError(quote(name), seen, "all parts in one folder")
    headers: list[GgufHeader] = store.each(lambda part: read_gguf_header(_blob(store, part)), names)
    return headers[0].metadata, join_splits(names, headers)
