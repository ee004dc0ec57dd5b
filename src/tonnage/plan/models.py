"""The model a question names: from the catalogue, from files, or from the hub, in the precision asked for."""

from __future__ import annotations

import os.path

from tonnage.errors import UsageError
from tonnage.kept import kept
from tonnage.layout.parts import gather_parts
from tonnage.value import replace, value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tonnage.layout.parts import Parts
    from tonnage.model.headers.summary import Summary

MAX_KEPT = 256  # models of one batch; a file of thousands of questions names a few dozen
HUB = "hf:"
FILES = (".json", ".gguf", ".safetensors")
TRUSTS = ("headers", "config")


@value
class Model:
    """A model ready to be weighed. `notes` say what was assumed, `source` where its facts come from.

    `headers` sums up the tensors that its files list, None where there are only facts.
    """

    id: str
    parts: Parts
    notes: tuple[str, ...]
    source: str
    headers: Summary | None = None

    def record(self) -> dict[str, Any]:
        """The model in the shape of the JSON contract: counts in parameters, sizes in bytes, lengths in tokens."""
        from tonnage.plan.stored import params_of, stored_size

        arch = self.parts.arch
        count = params_of(self.parts)
        return {
            "id": self.id,
            "family": arch.family,
            "parameters": {
                "total": count.text + count.towers + count.draft,
                "active": count.active_without_embedding,
                "text": count.text,
                "towers": count.towers,
                "draft": count.draft,
            },
            "stored_bytes": self.headers.total.stored_bytes if self.headers else stored_size(self.parts),
            "dtype": arch.dtype,
            "quantization": arch.scheme.method if arch.scheme else None,
            "max_context": arch.max_context,
            "source": self.source,
        } | ({"headers": headers_record(self.headers)} if self.headers else {})


def headers_record(headers: Summary) -> dict[str, Any]:
    """What the tensor headers of a checkpoint add up to; `parameters` null where packed weights do not tell theirs."""
    return {
        "tensors": headers.total.tensors,
        "parameters": headers.total.parameters,
        "bytes_by_part": {part: total.stored_bytes for part, total in headers.by_part.items()},
        "bytes_by_dtype": {dtype: total.stored_bytes for dtype, total in headers.by_dtype.items()},
    }


def find_model(name: str, precision: str | None = None, trust: str | None = None) -> Model:
    """The model called `name`: an id or alias of the catalogue, the name of a build derived from one, the path of a
    folder or file, or `hf:ORG/NAME[@REVISION]`.

    `precision` None takes it as it is stored. `trust` (`headers` or `config`) decides where a folder's files contradict
    its configuration. UsageError for unknown names, listing the nearest; UnreadableError for files that cannot be used.
    """
    if trust is not None and trust not in TRUSTS:
        raise UsageError("trust", trust, " or ".join(TRUSTS))
    return _find(name.strip(), precision, trust)


@kept(MAX_KEPT)
def _find(name: str, precision: str | None, trust: str | None) -> Model:
    if precision is None:
        return _look_up(name, trust)
    # Imported here: most questions take a model as it is stored.
    from tonnage.plan.precision import apply_precision

    model = _find(name, None, trust)
    asked = apply_precision(model.parts.arch, precision)
    if asked.arch is model.parts.arch:
        return model
    return replace(model, parts=gather_parts(asked.arch), notes=(*model.notes, *asked.notes))


def _look_up(name: str, trust: str | None) -> Model:
    from tonnage.plan.presets import refuse, resolve

    found = None if is_place(name) else resolve(name)
    if found is not None:
        return Model(found.id, gather_parts(found.arch), (*found.arch.notes, *found.notes), found.origin)
    if not is_place(name) and not os.path.exists(name):
        raise refuse(name)
    from tonnage.plan.sources import open_source

    opened = open_source(name, trust)
    parts = gather_parts(opened.arch)
    return Model(name, parts, (*opened.arch.notes, *opened.notes), opened.origin, opened.headers)


def is_place(name: str) -> bool:
    """Whether a name is meant as a path or a repository of the hub rather than as a catalogue id."""
    return name.startswith((HUB, "/", "./", "../")) or name.lower().endswith(FILES)
