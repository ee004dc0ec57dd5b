"""Why a model takes what it takes: facts of its architecture and of the layout, as short sentences."""

from __future__ import annotations

from tonnage.model.ffn.moe import Moe
from tonnage.model.mixer.compressed import Compressed
from tonnage.model.mixer.deltanet import DeltaNet
from tonnage.model.mixer.gqa import Gqa
from tonnage.model.mixer.kda import Kda
from tonnage.model.mixer.mamba import Mamba1, Mamba2
from tonnage.model.mixer.mla import Mla
from tonnage.plan.storage import storage_words
from tonnage.plan.stored import params_of, stored_size
from tonnage.units import GB, GIB, MB, render_bytes, render_gib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tonnage.layout.layout import Layout
    from tonnage.layout.parts import Parts
    from tonnage.layout.widths import Widths
    from tonnage.model.arch import Arch, Mixer
    from tonnage.plan.evaluate import Evaluation

STATES = (DeltaNet, Kda, Mamba1, Mamba2)
_TIMES = {2: "twice"}


def list_reasons(found: Evaluation, why: str = "") -> list[str]:
    """Sentences without full stops, the weightiest first; `why` the layout was taken stands last."""
    job = found.job
    arch, widths = job.parts.arch, found.busiest.view.widths
    stages = {len(rank.view.layers) for rank in found.ranks}
    facts = [*_expert_reasons(arch), *layout_reasons(arch, job.layout, widths), *cache_reasons(arch)]
    facts += [*_storage_reasons(job.parts), *_stage_reasons(stages)]
    return [*facts, why] if why else facts


def cache_reasons(arch: Arch) -> Iterator[str]:
    """What the kinds of attention mean for the cache."""
    yield from _state_reasons(arch)
    yield from _window_reasons(arch)
    yield from _compressed_reasons(arch)
    yield from _shared_reasons(arch)
    yield from _sparse_reasons(arch)


def layout_reasons(arch: Arch, layout: Layout, widths: Widths) -> Iterator[str]:
    """What follows from cutting the model so."""
    yield from _latent_reasons(arch, layout, widths.attention)
    yield from _head_reasons(arch, layout, widths.attention)
    uneven = {part.experts for part in _experts(arch) if (part.experts + layout.redundant_experts) % widths.moe_ep}
    for experts in sorted(uneven):
        held = (experts + layout.redundant_experts) // widths.moe_ep
        yield f"{experts} experts do not divide by {widths.moe_ep}: some ranks hold {held + 1}, others {held}"


def _latent_reasons(arch: Arch, layout: Layout, width: int) -> Iterator[str]:
    """Vectors that serve all heads cannot be divided by heads."""
    kinds = {type(mixer) for mixer in arch.mixers} & {Mla, Compressed}
    if not kinds:
        return
    if layout.dcp > 1:
        yield f"latents are divided over {layout.dcp} ranks by their positions"
    elif width > 1:
        yield f"{'MLA latents' if Mla in kinds else 'cached entries'} are copied to each rank"
    elif layout.dp > 1:
        yield "each replica caches its own requests only, and holds all of the attention"


def _expert_reasons(arch: Arch) -> Iterator[str]:
    part = max(_experts(arch), key=lambda part: part.experts, default=None)
    if part is not None and part.experts > part.top_k:
        yield f"{part.experts:,} experts stay resident though {part.top_k} act per token"


def _state_reasons(arch: Arch) -> Iterator[str]:
    count = _count(arch, lambda mixer: isinstance(mixer, STATES))
    if count:
        yield f"{count} of {len(arch.layers)} layers keep a state of fixed size in place of a cache that grows"


def _window_reasons(arch: Arch) -> Iterator[str]:
    for key, words in (("window", "the last {:,} tokens"), ("chunk", "their chunk of {:,} tokens")):
        for size in sorted({getattr(m, key) or 0 for m in arch.mixers if isinstance(m, Gqa)} - {0}):
            count = _count(arch, _sees_only(key, size))
            yield f"{count} of {len(arch.layers)} layers see only {words.format(size)}"


def _sees_only(key: str, size: int) -> Callable[[Mixer], bool]:
    return lambda mixer: isinstance(mixer, Gqa) and getattr(mixer, key) == size


def _compressed_reasons(arch: Arch) -> Iterator[str]:
    ratios = sorted({m.ratio for m in arch.mixers if isinstance(m, Compressed) and m.ratio > 1})
    if ratios:
        yield f"{' or '.join(map(str, ratios))} tokens share one cached entry"


def _shared_reasons(arch: Arch) -> Iterator[str]:
    count = _count(arch, _reads_another)
    if count:
        yield f"{count} of {len(arch.layers)} layers read the cache of another layer"


def _reads_another(mixer: Mixer) -> bool:
    if isinstance(mixer, Gqa):
        return mixer.kv_from_layer is not None
    return isinstance(mixer, Compressed) and mixer.ratio > 0 and not mixer.owns_kv


def _sparse_reasons(arch: Arch) -> Iterator[str]:
    chosen = {m.indexer.topk for m in arch.mixers if isinstance(m, Mla) and m.indexer is not None}
    if chosen:
        yield f"sparse attention reads {max(chosen):,} tokens a step, yet all stay cached"


def _head_reasons(arch: Arch, layout: Layout, width: int) -> Iterator[str]:
    """Fewer KV heads than ranks: copies, unless decode-context parallelism puts them to use."""
    heads = min((m.kv_heads for m in arch.mixers if isinstance(m, Gqa)), default=width)
    copies = width // (heads * layout.dcp)
    if copies > 1:
        whose = "the KV head is" if heads == 1 else f"{heads} KV heads are"
        yield f"{whose} replicated {_TIMES.get(copies, f'{copies} times')} at TP{width}"


def _storage_reasons(parts: Parts) -> Iterator[str]:
    count, size = params_of(parts).text, stored_size(parts)
    words = f"{count / GB:,.1f} billion" if count >= GB else f"{count / MB:,.0f} million"
    # Beside cards, sizes are told in their unit.
    held = render_gib(size) if size >= GIB else render_bytes(size)
    yield f"{words} parameters {storage_words(parts)} are {held}"


def _stage_reasons(sizes: set[int]) -> Iterator[str]:
    if len(sizes) > 1:
        yield f"pipeline stages hold {min(sizes)} to {max(sizes)} layers"


def _experts(arch: Arch) -> list[Moe]:
    return [part for layer in arch.kinds for part in layer.ffns if isinstance(part, Moe)]


def _count(arch: Arch, is_meant: Callable[[Mixer], bool]) -> int:
    """Layers with such a mixer."""
    meant = {id(layer) for layer in arch.kinds if any(map(is_meant, layer.mixers))}
    return sum(id(layer) in meant for layer in arch.layers)
