"""Models of the catalogue as rows: what they hold, what a token costs, where the facts come from."""

from __future__ import annotations

import json

from tonnage.catalog.models import FILE, fold
from tonnage.errors import TonnageError, UsageError
from tonnage.model.params import count_params
from tonnage.model.record import from_record, to_record
from tonnage.plan.fit import answer_question
from tonnage.plan.kinds import attention_words, feed_forward_words
from tonnage.plan.models import find_model
from tonnage.plan.presets import open_presets
from tonnage.plan.question import Question
from tonnage.plan.storage import storage_words, stored_bits
from tonnage.seams.overlay import append_text, overlay_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from tonnage.catalog.models import Preset, Presets

    Row = dict[str, Any]

# Costs of a token are those of the newest vLLM on one card that is large enough for every model.
_CARD, _CARD_BYTES = "a large card", 1 << 44
_NEEDED, _FREE = ("id", "source", "seen", "basis"), ("aliases", "params", "notes", "arch", "config")
_BASES = ("datasheet", "derived", "assumed")
# A total further off is another model, or has a part the readers do not know (as `validation/import_models.py`).
_TOLERANCE_PERCENT = 1
_PERCENT = 100


def list_models(text: str = "") -> list[Row]:
    """A row for each model whose id or alias contains `text`, any case: sizes in bytes, lengths in tokens."""
    presets, wanted = open_presets(), fold(text)
    return [_short(model) for model in presets.ids if not wanted or wanted in _haystack(presets, model)]


def show_model(name: str) -> Row:
    """Everything about one model, `arch` as the catalogue keeps it. UsageError for unknown names, with the nearest."""
    model, preset = find_model(name), open_presets().find(name)
    arch = model.parts.arch
    origin = {"source": preset.origin, "seen": preset.seen, "basis": preset.basis} if preset else {
        "source": model.source, "seen": None, "basis": "derived",
    }  # fmt: skip
    return (
        {"id": model.id, "aliases": list(preset.aliases) if preset else []}
        | model.record()
        | {"layers": len(arch.layers), "attention": attention_words(arch), "feed_forward": feed_forward_words(arch)}
        | {"encoders": [tower.kind for tower in arch.towers], "stored": storage_words(model.parts)}
        | _costs(model.id)
        | origin
        | {"notes": list(model.notes), "arch": to_record(arch)}
    )


def check_models() -> list[str]:
    """Problems of the models' rows, the user's included: records that cannot be read, totals that disagree."""
    presets = open_presets()
    return [f"models: {name}: {problem}" for name in presets.ids for problem in _problems(presets.find(name))]


def add_model(row: Row) -> str:
    """Append a model to the user's folder; the folder comes back. UsageError for a row that says too little.

    `arch` is a record as `show_model` gives it, or `config` the path of a config.json.
    """
    arch = _arch_of(_checked(row))
    kept = {"id": row["id"], "aliases": row.get("aliases", []), "source": row["source"], "seen": row["seen"]}
    kept |= {"basis": row["basis"]} | {key: row[key] for key in ("params", "notes") if key in row} | {"arch": arch}
    folder = overlay_folder()
    # Compact, id and aliases first: the catalogue reads names without the rest of the line.
    append_text(folder / FILE, json.dumps(kept, ensure_ascii=False, separators=(",", ":")) + "\n")
    return str(folder)


def _haystack(presets: Presets, model: str) -> str:
    preset = presets.find(model)
    return " ".join([fold(model), *map(fold, preset.aliases if preset else ())])


def _short(name: str) -> Row:
    model = find_model(name)
    record, arch = model.record(), model.parts.arch
    counts = record["parameters"]
    return {
        "id": name, "parameters": counts["total"], "active": counts["active"], "layers": len(arch.layers),
        "stored_bytes": record["stored_bytes"], "stored_bits": stored_bits(model.parts),
        "max_context": arch.max_context,
    } | _costs(name)  # fmt: skip


def _costs(name: str) -> Row:
    """What a token and a request take of the cache of one card, in bytes."""
    answer = answer_question(Question(name, _CARD, tp=1, kv_cache_memory_bytes=_CARD_BYTES), with_remedies=False)
    names = ("kv_bytes_per_token", "state_bytes_per_request")
    return {name: answer.get(f"{name}_per_rank") for name in names}


def _problems(preset: Preset | None) -> Iterator[str]:
    if preset is None:
        return
    try:
        count = count_params(from_record(preset.record)).checkpoint
    except TonnageError as error:
        yield error.line
        return
    if preset.basis not in _BASES:
        yield f"basis {preset.basis!r} is none of {', '.join(_BASES)}"
    stated = preset.params
    # Notes explain what is known to be off.
    if stated and not preset.notes and abs(count - stated) * _PERCENT > _TOLERANCE_PERCENT * stated:
        yield f"{count:,} parameters, {stated:,} published"


def _checked(row: Row) -> Row:
    for key in _NEEDED:
        if not isinstance(row.get(key), str) or not row[key]:
            raise UsageError("catalog add models", f"{key} {row.get(key)!r}", "a text")
    unknown = sorted(row.keys() - {*_NEEDED, *_FREE})
    if unknown:
        raise UsageError("catalog add models", f"key {unknown[0]!r}", f"one of {', '.join((*_NEEDED, *_FREE))}")
    if row["basis"] not in _BASES:
        raise UsageError("catalog add models", f"basis {row['basis']!r}", f"one of {', '.join(_BASES)}")
    if ("arch" in row) == ("config" in row):
        raise UsageError("catalog add models", "arch and config" if "arch" in row else "no arch", "arch or config")
    return row


def _arch_of(row: Row) -> Row:
    if "config" not in row:
        return to_record(from_record(row["arch"]))
    from tonnage.plan.sources import open_source

    return to_record(open_source(str(row["config"]), None).arch)
